/**
 * The same transactions through this engine and through that of `@bsv/overlay`: well-behaved programs get the same
 * answers, and lookup services of every mode are told the same. Well-behaved means that none of the faults listed below
 * comes into play: every coin is spent once, every output is of one topic, every transaction is submitted once.
 */

import { Beef, type Transaction, writeBeef } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  contentOf,
  KEEPS,
  manager,
  numberOf,
  type Ours,
  openOurs,
  openTheirs,
  type Side,
  type Theirs,
  TOPICS,
  World,
  witnesses
} from './differential.testing.ts'
import type { TopicManager } from './types.ts'

const KEEP = 0
const DROP = 1
const MIXED = 2
const NONE = 3

let world: World
let ours: Ours
let theirs: Theirs
const managers = (): Record<string, TopicManager> =>
  Object.fromEntries(TOPICS.map((topic, i) => [topic, manager(i)]))

const open = async (topics: () => Record<string, TopicManager> = managers): Promise<void> => {
  world = new World()
  ours = await openOurs(world, topics(), witnesses())
  theirs = await openTheirs(world, topics(), witnesses())
}
const close = async (): Promise<void> => {
  await ours.close()
  await theirs.close()
}
beforeEach(() => open())
afterEach(close)

const both = async <T>(ask: (side: Side) => Promise<T>): Promise<[T, T]> => {
  const answers: T[] = []
  for (const side of [ours, theirs]) {
    answers.push(await ask(side))
    await side.idle()
  }
  return answers as [T, T]
}
const same = async (ask: (side: Side) => Promise<unknown>): Promise<void> => {
  const [a, b] = await both(ask)
  expect(a).toEqual(b)
}

const compare = async (): Promise<void> => {
  for (const topic of TOPICS) await same(side => side.inTopic(topic))
  for (const name of Object.keys(ours.services)) {
    await same(async side => side.services[name]!.told.map(each => JSON.stringify(each)).sort())
    await same(side => side.lookup(name, {}))
  }
}

interface Token {
  readonly from: Transaction
  readonly vout: number
}

const step = fc.record({
  coins: fc.array(fc.nat(1_000_000), { maxLength: 3 }),
  topics: fc.array(fc.nat(NONE), { minLength: 1, maxLength: 3 }),
  keeps: fc.boolean(),
  isMined: fc.boolean(),
  values: fc.option(fc.uint8Array({ minLength: 1, maxLength: 3 }), { nil: undefined }),
  to: fc.subarray([...TOPICS], { minLength: 1 })
})

describe('well-behaved programs', () => {
  it('get the same answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6, size: 'max' }), async program => {
        await close()
        await open()
        const free: Token[] = []
        for (const { coins, topics, keeps, isMined, values, to } of program) {
          const spent = coins.flatMap(coin => (free.length > 0 ? free.splice(coin % free.length, 1) : []))
          // Of two outputs with one history the other engine forgets too much.
          const once = topics.filter((topic, i) => topic !== MIXED || topics.indexOf(MIXED) === i)
          const from = world.spend(
            spent,
            once.map(topic => numberOf(topic, keeps))
          )
          free.push(...once.map((_, vout) => ({ from, vout })))
          if (isMined) world.mine(from)
          // A topic that is not told of the spend of its coin has it unspent, there.
          const concerned = spent.map(coin => coin.from.outputs[coin.vout]!.satoshis % KEEPS)
          const submitted = TOPICS.filter((topic, i) => to.includes(topic) || concerned.includes(numberOf(i)))
          await same(side => side.submit(from, { topics: submitted, ...(values && { values }) }))
          await compare()
        }
      }),
      { numRuns: Number(process.env['QUOIN_RANDOM_RUNS'] ?? 0) || 12 }
    )
  })

  it('for instance a chain in each topic, kept and not kept', async () => {
    let last = world.spend(
      [],
      [KEEP, DROP, MIXED].map(topic => numberOf(topic, true))
    )
    await same(side => side.submit(last))
    for (const keeps of [true, true, false]) {
      const coins = [0, 1, 2].map(vout => ({ from: last, vout }))
      last = world.spend(
        coins,
        [KEEP, DROP, MIXED].map(topic => numberOf(topic, keeps))
      )
      await same(side => side.submit(last))
      await compare()
    }
    expect(await ours.inTopic('tm_keep')).toHaveLength(4)
    expect(await ours.inTopic('tm_drop')).toHaveLength(1)
    expect(await ours.inTopic('tm_mixed')).toHaveLength(1)
  })
})

/** Each is shown on the other engine first, and then that it is not so here. */
describe('what the other engine gets wrong', () => {
  const admitting = (numbers: number[]) => [numbers, [], []]
  const minted = async (...numbers: number[]): Promise<Transaction> => {
    const transaction = world.spend([], numbers)
    await both(side => side.submit(transaction))
    return transaction
  }
  const outcome = (side: Side, transaction: Transaction, topics?: readonly string[]): Promise<unknown> =>
    side.submit(transaction, topics && { topics }).catch((error: Error) => error.message)

  it('CONFLICT: two transactions spend one coin, and both are admitted', async () => {
    const from = await minted(numberOf(DROP))
    const [first, second] = [0, 1].map(() => world.spend([{ from, vout: 0 }], [numberOf(KEEP)]))
    await both(side => side.submit(first!))
    const [a, b] = await both(side => outcome(side, second!))
    expect(b).toMatchObject({ tm_keep: admitting([0]) })
    expect(await theirs.inTopic('tm_keep')).toHaveLength(2)
    expect(a).toMatch(/already spent by/)
    expect(await ours.inTopic('tm_keep')).toHaveLength(1)
  })

  it('SPENT ELSEWHERE: a coin is unspent in a topic that its spender was not submitted to', async () => {
    const from = await minted(numberOf(KEEP))
    const spender = world.spend([{ from, vout: 0 }], [numberOf(DROP)])
    await both(side => side.submit(spender, { topics: ['tm_drop'] }))
    const coin = `${formatTxid(from.txid)}.0`
    expect(await theirs.inTopic('tm_keep')).toEqual([coin])
    expect(await ours.inTopic('tm_keep')).toEqual([`${coin} spent`])
  })

  it('CONCURRENCY: five submissions of one transaction are applied five times', async () => {
    const transaction = world.spend([], [numberOf(KEEP)])
    await both(side => Promise.all(Array.from({ length: 5 }, () => side.submit(transaction))))
    const told = (side: Side): number => side.services['ls_locking-script_none']!.told.length
    expect(told(theirs)).toBe(5)
    expect(await theirs.knex('applied_transactions').where({ topic: 'tm_keep' })).toHaveLength(5)
    expect(told(ours)).toBe(1)
  })

  it('SAME TOPIC TWICE: is applied twice', async () => {
    const transaction = world.spend([], [numberOf(KEEP)])
    await both(side => side.submit(transaction, { topics: ['tm_keep', 'tm_keep'] }))
    expect(await theirs.knex('applied_transactions')).toHaveLength(2)
    expect(ours.services['ls_locking-script_none']!.told).toHaveLength(1)
  })

  it('EARLY ANSWER: the answer is given before anything is written, and without the coins that are removed', async () => {
    const from = await minted(numberOf(DROP))
    const transaction = world.spend([{ from, vout: 0 }], [numberOf(DROP)])
    const seen = await new Promise(resolve => {
      void theirs.engine.submit({ beef: [...world.beef(transaction)], topics: ['tm_drop'] }, steak =>
        resolve({ coinsRemoved: steak['tm_drop']!.coinsRemoved, stored: theirs.inTopic('tm_drop') })
      )
    })
    expect(seen).toMatchObject({ coinsRemoved: undefined })
    await theirs.idle()
    expect(await ours.submit(transaction, { topics: ['tm_drop'] })).toEqual({ tm_drop: [[0], [], [1]] })
  })

  it('RESUBMISSION: what was admitted before is answered with nothing', async () => {
    const transaction = await minted(numberOf(KEEP))
    const [a, b] = await both(side => side.submit(transaction))
    expect(b).toMatchObject({ tm_keep: admitting([]) })
    expect(a).toMatchObject({ tm_keep: admitting([0]) })
  })

  it('SPOILT PROOFS: a proof overwrites the proofs of whatever else its children spend', async () => {
    const from = await minted(numberOf(KEEP))
    const child = world.spend([{ from, vout: 0 }], [numberOf(KEEP)])
    await both(side => side.submit(child))
    const bump = world.mine(from)
    await both(side => side.prove(from, bump))
    const verified = async (bytes: Uint8Array): Promise<unknown> =>
      ours.engine
        .submit({ beef: bytes, topics: ['tm_drop'] })
        .catch((error: Error & { code?: string }) => error.code)
    const [row] = await theirs.knex('transactions').where({ txid: formatTxid(child.txid) })
    expect(await verified(row.beef)).toMatch(/^ERR_/)
    const [found] = await ours.engine.lookup('ls_locking-script_none', {})
    expect(found!.transactions.filter(({ bump: proof }) => proof)).toHaveLength(2)
  })

  it('UNCHECKED PROOF: a proof of another transaction is taken', async () => {
    const transaction = await minted(numberOf(KEEP))
    const unrelated = world.chain.bumpOf(world.fund(1))!
    const [a, b] = await both(side =>
      side.prove(transaction, unrelated).then(
        () => 'taken',
        (error: { code: string }) => error.code
      )
    )
    expect([a, b]).toEqual(['ERR_PROOF_INVALID', 'taken'])
  })

  it('OTHER PROOF: after a reorg the new proof is not kept', async () => {
    const transaction = await minted(numberOf(KEEP))
    const first = world.mine(transaction)
    await both(side => side.prove(transaction, first))
    world.chain.roots.delete(first.height)
    const second = world.mine(transaction)
    await both(side => side.prove(transaction, second))
    const heightOf = (bytes: Uint8Array): number => Beef.parse(bytes).find(transaction.txid)!.bump!.height
    const [row] = await theirs.knex('transactions').where({ txid: formatTxid(transaction.txid) })
    expect(heightOf(row.beef)).toBe(first.height)
    expect((await ours.engine.outputs.transactions.proof(transaction.txid))!.height).toBe(second.height)
  })

  it('DELETE EVERYWHERE: a coin that one topic lets go leaves all of them', async () => {
    const all: TopicManager = {
      ...manager(KEEP),
      identifyAdmissibleOutputs: async (_, coins) => ({ outputsToAdmit: [0], coinsToRetain: coins })
    }
    const letGo: TopicManager = {
      ...manager(DROP),
      identifyAdmissibleOutputs: async () => ({ outputsToAdmit: [0], coinsToRetain: [] })
    }
    await close()
    await open(() => ({ tm_keep: all, tm_drop: letGo }))
    const from = await minted(50)
    const next = world.spend([{ from, vout: 0 }], [50])
    await both(side => side.submit(next))
    expect(await theirs.inTopic('tm_keep')).toHaveLength(1)
    expect(await ours.inTopic('tm_keep')).toHaveLength(2)
  })

  it('SHARED HISTORY: letting go one of two outputs forgets the history of the other', async () => {
    const from = await minted(numberOf(MIXED, true))
    const two = world.spend([{ from, vout: 0 }], [numberOf(MIXED, true), numberOf(MIXED, true)])
    await both(side => side.submit(two))
    const one = world.spend([{ from: two, vout: 0 }], [numberOf(NONE)])
    await both(side => side.submit(one))
    const history = `${formatTxid(from.txid)}.0 spent`
    expect(await theirs.inTopic('tm_mixed')).not.toContain(history)
    expect(await ours.inTopic('tm_mixed')).toContain(history)
  })

  it('LOST HISTORY: is not to be had', async () => {
    const steps = [await minted(numberOf(KEEP))]
    for (let i = 0; i < 3; i++) {
      steps.push(world.spend([{ from: steps.at(-1)!, vout: 0 }], [numberOf(KEEP)]))
      const bump = world.mine(steps.at(-2)!)
      await both(side => side.prove(steps.at(-2)!, bump))
      await both(side => side.submit(steps.at(-1)!))
    }
    const query = [{ txid: formatTxid(steps.at(-1)!.txid), outputIndex: 0, history: 10 }]
    const [a, b] = await both(side =>
      side.lookup('ls_whole-tx_txid', query).catch((error: Error) => error.message)
    )
    const names = steps.map(({ txid }) => formatTxid(txid))
    const found = (answer: unknown): number =>
      names.filter(name => JSON.stringify(answer).includes(name)).length
    expect(found(b)).toBeLessThan(names.length)
    expect(found(a)).toBe(names.length)
  })

  it('KNOWN ANCESTORS: have to be sent, and are verified, again and again', async () => {
    const from = await minted(numberOf(KEEP))
    const transaction = world.spend([{ from, vout: 0 }], [numberOf(KEEP)])
    const money = world.find(transaction.inputs[0]!.txid)
    const beef = writeBeef({
      version: 2,
      transactions: [
        { txid: from.txid, transaction: undefined, bump: undefined },
        { txid: money.txid, transaction: money, bump: world.chain.bumpOf(money) },
        { txid: transaction.txid, transaction, bump: undefined }
      ]
    })
    await expect(theirs.engine.submit({ beef: [...beef], topics: ['tm_keep'] })).rejects.toThrow()
    expect(await ours.engine.submit({ beef, topics: ['tm_keep'] })).toMatchObject({
      tm_keep: { outputsToAdmit: [0], coinsToRetain: [1] }
    })
  })

  it('QUERIES: every input is asked for twice in every topic', async () => {
    const from = await minted(...Array.from({ length: 8 }, () => numberOf(DROP)))
    const transaction = world.spend(
      from.outputs.map((_, vout) => ({ from, vout })),
      [numberOf(KEEP)]
    )
    let queries = 0
    theirs.knex.on('query', () => queries++)
    await both(side => side.submit(transaction))
    expect(queries).toBeGreaterThanOrEqual(2 * transaction.inputs.length * TOPICS.length)
  })

  it('HISTORICAL BROADCAST: what comes from a peer on trust is verified and sent to the network all the same', async () => {
    const sent: unknown[] = []
    theirs.engine.broadcaster = {
      broadcast: async (each: unknown) => {
        sent.push(each)
        return { status: 'success', txid: '', message: '' }
      }
    } as never
    const transaction = world.spend([], [numberOf(KEEP)])
    const beef = [...world.beef(transaction)]
    await theirs.engine.submit({ beef, topics: ['tm_keep'] }, undefined, 'historical-tx-no-spv' as never)
    expect(sent).toHaveLength(1)
  })

  it('SPEND NOT WAITED FOR: the submission is done before services know of the spend', async () => {
    const from = await minted(numberOf(DROP))
    const transaction = world.spend([{ from, vout: 0 }], [numberOf(DROP)])
    const late = async (side: Side): Promise<boolean> => {
      let isTold = false
      const service = side.services['ls_locking-script_none']!
      service.outputSpent = async () => {
        await new Promise(resolve => setTimeout(resolve, 50))
        isTold = true
      }
      await side.submit(transaction)
      const wasTold = isTold
      await new Promise(resolve => setTimeout(resolve, 100))
      return wasTold
    }
    expect(await both(late)).toEqual([true, false])
  })

  it('FIRST INPUT: services that want scripts are not told of the spend of the first input', async () => {
    const from = await minted(numberOf(DROP))
    const transaction = world.spend([{ from, vout: 0 }], [numberOf(DROP)], { moneyFirst: false })
    await both(side => side.submit(transaction))
    const spends = (side: Side): number =>
      side.services['ls_locking-script_script']!.told.filter(each => (each as unknown[])[0] === 'spent')
        .length
    expect([spends(ours), spends(theirs)]).toEqual([1, 0])
  })

  describe('plug-ins that fail', () => {
    const failing = async (fail: () => Promise<never>): Promise<(isBroken: boolean) => void> => {
      let isBroken = true
      const good = manager(KEEP)
      await close()
      await open(() => ({
        tm_drop: manager(DROP),
        tm_keep: {
          ...good,
          identifyAdmissibleOutputs: (...given) =>
            isBroken ? fail() : good.identifyAdmissibleOutputs(...given)
        }
      }))
      return value => {
        isBroken = value
      }
    }

    it('SILENT TOPIC: one that throws is taken to admit nothing, for ever', async () => {
      const setBroken = await failing(() => Promise.reject(new Error('out of order')))
      const transaction = world.spend([], [numberOf(KEEP)])
      const first = await ours.engine.submit({ beef: world.beef(transaction), topics: ['tm_keep'] })
      expect(first['tm_keep']!.error).toEqual({ code: 'ERR_TOPIC_FAILED', message: 'out of order' })
      expect(await theirs.submit(transaction)).toMatchObject({ tm_keep: admitting([]) })
      setBroken(false)
      const [a, b] = await both(side => side.submit(transaction, { topics: ['tm_keep'] }))
      expect(a).toEqual({ tm_keep: admitting([0]) })
      expect(b).toEqual({ tm_keep: admitting([]) })
    })

    it('NO SUCH OUTPUT: a topic that names one ends the submission half way', async () => {
      await failing((async () => ({ outputsToAdmit: [9], coinsToRetain: [] })) as never)
      const transaction = world.spend([], [numberOf(DROP)])
      const [a, b] = await both(side => outcome(side, transaction))
      expect(b).toMatch(/undefined/)
      expect(await theirs.inTopic('tm_drop')).toHaveLength(1)
      expect(a).toMatchObject({ tm_drop: admitting([0]), tm_keep: admitting([]) })
    })

    it('FAILING SERVICE: one that throws ends the submission half way, and is told of nothing again', async () => {
      const transaction = world.spend([], [numberOf(KEEP), numberOf(DROP)])
      for (const side of [ours, theirs]) {
        const service = side.services['ls_locking-script_none']!
        const { outputAdmittedByTopic } = service
        service.outputAdmittedByTopic = async () => {
          service.outputAdmittedByTopic = outputAdmittedByTopic
          throw new Error('not now')
        }
      }
      const [a, b] = await both(side => outcome(side, transaction))
      expect(b).toBe('not now')
      expect(
        [await theirs.inTopic('tm_keep'), await theirs.inTopic('tm_drop')].map(each => each.length)
      ).toEqual([1, 0])
      expect(a).toMatchObject({ tm_keep: admitting([0]), tm_drop: admitting([1]) })
      ours.engine.start()
      await expect.poll(() => ours.services['ls_locking-script_none']!.told.length, { timeout: 5000 }).toBe(2)
    })
  })

  it('MISSING COINS: the BEEF of a mined transaction is given to topics without the coins that it spends', async () => {
    const seen: string[][] = []
    await close()
    await open(() => ({
      tm_keep: {
        ...manager(KEEP),
        identifyAdmissibleOutputs: async (beef, coins) => {
          seen.push(contentOf(beef))
          return { outputsToAdmit: [0], coinsToRetain: coins }
        }
      }
    }))
    const from = await minted(50)
    const next = world.spend([{ from, vout: 0 }], [50])
    world.mine(next)
    await both(side => side.submit(next))
    const has = (content: string[]): boolean => content.some(each => each.includes(formatTxid(from.txid)))
    expect(seen.slice(2).map(has)).toEqual([true, false])
  })

  it('MODE: topics are not told it', async () => {
    const modes: unknown[] = []
    await close()
    await open(() => ({
      tm_keep: {
        ...manager(KEEP),
        identifyAdmissibleOutputs: async (...given) => {
          modes.push(given[3])
          return { outputsToAdmit: [], coinsToRetain: [] }
        }
      }
    }))
    await minted(50)
    expect(modes).toEqual(['current-tx', undefined])
  })
})
