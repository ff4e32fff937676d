/** Delivery to lookup services: nobody waits for a stranger, and nothing that happened to an output is lost. */
import type { LookupQuestion } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { OutputStore, TxUpdate } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Engine, type EngineOptions } from '../engine.ts'
import { about, mint, ones, pay } from '../gasp/node.testing.ts'
import { overlay } from '../keys.ts'
import type { HostedLookup, LookupService, OutputAdmittedByTopic, OutputSpent } from '../types.ts'

/** Long beside a submission on a busy machine. */
const WAIT_MS = 1000
const TOPICS = { tm_ones: ones(true), tm_live: ones(false), tm_other: ones(true) }

/** Records its calls; `answer` decides how each one ends. */
class Service implements LookupService {
  readonly admissionMode = 'locking-script'
  readonly spendNotificationMode = 'txid'
  readonly getDocumentation = about('service').getDocumentation
  readonly getMetaData = about('service').getMetaData
  readonly calls: string[] = []
  atWork = 0
  most = 0
  answer: (call: string) => Promise<void> = async () => undefined

  outputAdmittedByTopic(payload: OutputAdmittedByTopic): Promise<void> {
    return this.#call('admitted', payload.mode === 'locking-script' ? payload.txid : '', payload.outputIndex)
  }
  outputSpent({ txid, outputIndex }: OutputSpent): Promise<void> {
    return this.#call('spent', txid, outputIndex)
  }
  outputNoLongerRetainedInHistory(txid: string, vout: number): Promise<void> {
    return this.#call('removed', txid, vout)
  }
  outputEvicted(txid: string, vout: number): Promise<void> {
    return this.#call('evicted', txid, vout)
  }
  async lookup(_: LookupQuestion) {
    return []
  }

  async #call(kind: string, txid: string, vout: number): Promise<void> {
    const call = `${kind} ${txid.slice(0, 8)}.${vout}`
    this.calls.push(call)
    this.most = Math.max(this.most, ++this.atWork)
    try {
      await this.answer(call)
    } finally {
      this.atWork--
    }
  }
}

const called = (kind: string, { txid }: Transaction, vout = 0): string =>
  `${kind} ${formatTxid(txid).slice(0, 8)}.${vout}`
const failing = async (): Promise<void> => {
  throw new Error('out of order')
}
const hanging = (): Promise<void> => new Promise(() => undefined)

let chain: DevChain
let store: Store
let service: Service
let engines: Engine[]

const opened = (options: Partial<EngineOptions> = {}): Engine => {
  const engine = new Engine({
    outputs: new OutputStore(store),
    tracker: chain,
    topics: TOPICS,
    lookups: { ls: service },
    proofs: chain,
    lookupTimeout: 500,
    lookupWait: WAIT_MS,
    ...options,
    delivery: { ls: { retry: { backoff: 0.05, limit: 0.1 }, ...options.delivery?.['ls'] } }
  })
  engines.push(engine)
  engine.start()
  return engine
}
const submit = (engine: Engine, { txid }: Transaction, ...topics: string[]) =>
  engine.submit({ beef: chain.beef(txid), topics })
const paid = async (from: Transaction, satoshis: number[] = [1]): Promise<Transaction> => {
  const transaction = pay([[from, 0]], satoshis)
  await chain.submit(transaction, { replace: true })
  return transaction
}
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
const state = async (engine: Engine) => (await engine.outbox.states())[0]!

beforeEach(async () => {
  chain = new DevChain({ seed: 'outbox' })
  store = await openStore('memory:')
  service = new Service()
  engines = []
})
afterEach(async () => {
  for (const engine of engines) await engine.close()
  await store.close()
})

describe('a submission', () => {
  it('is answered after its services took it', async () => {
    const engine = opened({ lookupWait: 10_000 })
    service.answer = () => new Promise(resolve => setTimeout(resolve, 20))
    const a = await mint(chain)
    await submit(engine, a, 'tm_ones')
    expect(service.calls).toEqual([called('admitted', a)])
    expect(service.atWork).toBe(0)
    expect(await state(engine)).toMatchObject({ status: 'current', lag: 0, retrying: 0, dead: 0 })
  })

  it('waits for a service that hangs for the bound, once, and others do not wait', async () => {
    const engine = opened({ lookupTimeout: 60_000 })
    service.answer = hanging
    const [a, b] = [await mint(chain), await mint(chain)]
    const waited = await timed(() => submit(engine, a, 'tm_ones'))
    expect(waited).toBeGreaterThan(WAIT_MS - 10)
    expect(waited).toBeLessThan(3 * WAIT_MS)
    expect(await timed(() => submit(engine, b, 'tm_ones'))).toBeLessThan(WAIT_MS - 10)
    expect(await state(engine)).toMatchObject({ status: 'behind', lag: 2 })
  })

  it('does not wait for services of other topics, nor where no membership changes', async () => {
    const engine = opened({ lookupTimeout: 60_000, delivery: { ls: { topics: ['tm_ones'] } } })
    service.answer = hanging
    const [a, b] = [await mint(chain), await mint(chain, [900])]
    expect(await timed(() => submit(engine, a, 'tm_other'))).toBeLessThan(WAIT_MS - 10)
    expect(await timed(() => submit(engine, b, 'tm_ones'))).toBeLessThan(WAIT_MS - 10)
    expect(service.calls).toEqual([])
  })

  it('of a service with home topics waits only there, and is delivered all the same', async () => {
    const engine = opened({ lookupTimeout: 60_000, delivery: { ls: { home: ['tm_ones'] } } })
    let release: () => void = () => undefined
    service.answer = () =>
      new Promise(resolve => {
        release = resolve
      })
    const a = await mint(chain)
    expect(await timed(() => submit(engine, a, 'tm_other'))).toBeLessThan(WAIT_MS - 10)
    await expect.poll(() => service.calls).toEqual([called('admitted', a)])
    release()
  })
})

describe('a service', () => {
  it('takes several outputs at a time, as many as its concurrency', async () => {
    const engine = opened({ lookupWait: 0, delivery: { ls: { concurrency: 3 } } })
    service.answer = () => new Promise(resolve => setTimeout(resolve, 10))
    const minted = await Promise.all(Array.from({ length: 12 }, () => mint(chain)))
    await Promise.all(minted.map(each => submit(engine, each, 'tm_ones')))
    await expect.poll(() => service.calls.length, { timeout: 5000 }).toBe(12)
    expect(service.most).toBe(3)
  })

  it('hears of each output in order while entries of others are tried again', async () => {
    const engine = opened()
    const [a, b] = [await mint(chain), await mint(chain)]
    let failures = 3
    service.answer = async call => {
      if (call === called('admitted', a) && failures-- > 0) throw new Error('not now')
    }
    await submit(engine, a, 'tm_ones')
    await submit(engine, await paid(a), 'tm_ones')
    await submit(engine, b, 'tm_ones')
    expect(service.calls).toContain(called('admitted', b))
    const ofA = () => service.calls.filter(call => call.endsWith(called('', a).slice(1)))
    await expect.poll(() => ofA().at(-1), { timeout: 5000 }).toBe(called('spent', a))
    expect(ofA()).toEqual([...Array(4).fill(called('admitted', a)), called('spent', a)])
  })

  it('of another process is not called again for an output while its host has a call in hand', async () => {
    const ends: string[] = []
    let count = 0
    const call = async (name: string): Promise<void> => {
      const number = ++count
      if (number === 1) await new Promise(resolve => setTimeout(resolve, 900))
      ends.push(`${name} ${number}`)
    }
    const hosted: HostedLookup = {
      ...about('hosted'),
      takesBytes: true,
      admissionMode: 'locking-script',
      spendNotificationMode: 'txid',
      outputAdmittedByTopic: () => call('admitted'),
      outputSpent: () => call('spent'),
      outputEvicted: () => call('evicted'),
      lookup: async () => []
    }
    const engine = opened({ lookups: { ls: hosted }, lookupTimeout: 200 })
    const a = await mint(chain)
    await submit(engine, a, 'tm_ones')
    await submit(engine, await paid(a, [0]), 'tm_other')
    await expect.poll(() => ends.length, { timeout: 5000 }).toBe(2)
    expect(ends).toEqual(['admitted 1', 'spent 2'])
  })

  it('hears of a spend by a transaction that its topic never saw', async () => {
    const engine = opened()
    const a = await mint(chain)
    await submit(engine, a, 'tm_ones')
    // A submission waits for the services of its own topics.
    await submit(engine, await paid(a, [0]), 'tm_other')
    await expect.poll(() => service.calls).toEqual([called('admitted', a), called('spent', a)])
  })

  it('hears that a coin is live again when a reorg replaces its spender', async () => {
    const engine = opened()
    const a = await mint(chain)
    chain.mine()
    await submit(engine, a, 'tm_live')
    const spender = await paid(a)
    await submit(engine, spender, 'tm_live')
    chain.mine()
    await engine.proofs.save(spender.txid, await proofOf(spender))
    service.calls.length = 0
    const { fork } = await chain.reorg(1, { drop: [spender.txid] })
    await engine.proofs.reconcile(fork + 1)
    await engine.settle()
    await expect
      .poll(() => service.calls, { timeout: 5000 })
      .toEqual([called('evicted', spender), called('admitted', a)])
  })

  it('hears of an eviction though it failed, and an evicted output stays out', async () => {
    const engine = opened()
    const a = await mint(chain)
    await submit(engine, a, 'tm_ones')
    let failures = 2
    service.answer = async () => {
      if (failures-- > 0) throw new Error('not now')
    }
    expect(await engine.evict(makeOutpoint(a.txid, 0))).toBe(true)
    await expect.poll(() => service.calls.length, { timeout: 5000 }).toBe(4)
    expect(service.calls.slice(1)).toEqual(Array(3).fill(called('evicted', a)))
    expect((await submit(engine, a, 'tm_ones'))['tm_ones']).toEqual({
      outputsToAdmit: [],
      coinsToRetain: [],
      coinsRemoved: []
    })
  })

  it('that a topic still has an evicted output in is told of it again', async () => {
    const engine = opened()
    const a = await mint(chain)
    await submit(engine, a, 'tm_ones', 'tm_other')
    service.calls.length = 0
    await engine.outputs.commit(new TxUpdate(a.txid).removeFromTopic('tm_other' as Topic, 0, 'refused'))
    await expect.poll(() => service.calls).toEqual([called('evicted', a), called('admitted', a)])
  })

  it('that fails throughout pauses, is shown as failing, and then catches up', async () => {
    const engine = opened({ lookupWait: 20 })
    service.answer = failing
    const minted = await Promise.all(Array.from({ length: 10 }, () => mint(chain)))
    for (const each of minted) await submit(engine, each, 'tm_ones')
    await expect.poll(async () => (await state(engine)).status, { timeout: 5000 }).toBe('failing')
    expect(await state(engine)).toMatchObject({ lastError: 'out of order' })
    service.answer = async () => undefined
    await expect.poll(async () => (await state(engine)).status, { timeout: 15_000 }).toBe('current')
    for (const each of minted) expect(service.calls).toContain(called('admitted', each))
  })

  it('is told again of everything, or of one topic, by a replay', async () => {
    const engine = opened()
    const [a, b] = [await mint(chain), await mint(chain)]
    await submit(engine, a, 'tm_ones')
    await submit(engine, b, 'tm_other')
    service.calls.length = 0
    await engine.outbox.delivery('ls').replay({ topic: 'tm_other' as Topic })
    await expect.poll(() => service.calls).toEqual([called('admitted', b)])
    await engine.outbox.delivery('ls').replay()
    await expect
      .poll(() => [...service.calls].sort())
      .toEqual([called('admitted', a), called('admitted', b), called('admitted', b)].sort())
  })

  it('without a delivery is not known', () => {
    expect(() => opened().outbox.delivery('ls_none')).toThrow(
      expect.objectContaining({
        code: 'ERR_LOOKUP_UNKNOWN',
        message: expect.stringContaining('expected ls')
      })
    )
  })
})

describe('several processes on a store', () => {
  it('one delivers; when it ends another one goes on where it was', async () => {
    const [first, second] = [opened(), opened()]
    const [a, b, c] = [await mint(chain), await mint(chain), await mint(chain)]
    await submit(first, a, 'tm_ones')
    await submit(second, b, 'tm_ones')
    await expect
      .poll(() => service.calls, { timeout: 5000 })
      .toEqual([called('admitted', a), called('admitted', b)])
    await first.close()
    await submit(second, c, 'tm_ones')
    await expect.poll(() => service.calls.slice(2), { timeout: 5000 }).toEqual([called('admitted', c)])
  })

  it('none calls while a call of a closed one is in progress', async () => {
    const first = opened({ lookupTimeout: 10_000 })
    const a = await mint(chain)
    let isEnded = false
    service.answer = async () => {
      await new Promise(resolve => setTimeout(resolve, 4000))
      isEnded = true
    }
    await submit(first, a, 'tm_ones')
    await first.close()
    expect(isEnded).toBe(false)
    const second = opened()
    await submit(second, await paid(a), 'tm_ones')
    await expect.poll(() => isEnded, { timeout: 10_000 }).toBe(true)
    expect(service.calls).toEqual([called('admitted', a)])
    expect((await state(second)).lag).toBe(2)
  })

  it('a replay asked for in one is done by the other', async () => {
    const [first, second] = [opened(), opened()]
    const a = await mint(chain)
    await submit(first, a, 'tm_ones')
    await second.outbox.delivery('ls').replay()
    await expect.poll(() => service.calls, { timeout: 5000 }).toEqual(Array(2).fill(called('admitted', a)))
  })
})

describe('notices of version 0.1', () => {
  it('that were pending are delivered from the first entry about them on', async () => {
    const before = opened({ lookups: {} })
    const minted = [await mint(chain), await mint(chain), await mint(chain)] as const
    for (const each of minted) await submit(before, each, 'tm_ones')
    await before.close()
    const { initialCursors, notify } = overlay.collections
    const { cursor } = initialCursors.value.fields.collections
    const batch = store.batch()
    batch
      .use(initialCursors)
      .at()
      .set(cursor, ['tm_ones' as Topic], 3)
    await batch.commit()
    const queue = store.queueAt(notify, ['ls'])
    await queue.enqueue(minted[1].txid, 0)
    opened()
    await expect
      .poll(() => service.calls, { timeout: 5000 })
      .toEqual([called('admitted', minted[1]), called('admitted', minted[2])])
    expect(await queue.stats()).toMatchObject({ due: 0, leased: 0, waiting: 0 })
  })
})

const proofOf = async ({ txid }: Transaction) => {
  const answer = await chain.proof(txid)
  if (answer.status !== 'mined') throw new Error('it is mined')
  return answer.bump
}
