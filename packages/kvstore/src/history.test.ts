/** The history of entries: what a node serves, and what `@bsv/sdk` makes of it. */
import { Transaction as SdkTransaction } from '@bsv/sdk'
import { kvStoreInterpreter } from '@bsv/sdk/kvstore/kvStoreInterpreter'
import { Historian } from '@bsv/sdk/overlay-tools/Historian'
import type { Transaction } from '@quoin/chain'
import { answerBeef, localPeer, syncTopic } from '@quoin/overlay'
import { bytesKey, formatOutpoint, makeOutpoint, type Outpoint, txidOf } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Author, coinOf, compose, type Entry, entriesOf, KvNode, PROTOCOL } from './author.testing.ts'
import { historyOf, TOPIC } from './history.ts'
import { shows } from './shows.testing.ts'
import { readVerified } from './verify.ts'

const ann = new Author('ann')
const bob = new Author('bob')
let node: KvNode
beforeEach(async () => {
  node = await KvNode.open()
})
afterEach(() => node.close())

const EXACT = { key: 'greeting', controller: ann.controller, protocolID: PROTOCOL }

/** What the SDK finds in each answer, with nothing but what is in it. */
const walked = async (query: object = EXACT, from = node): Promise<string[][]> => {
  const historian = new Historian(kvStoreInterpreter)
  return Promise.all(
    (await from.engine.lookup('ls_kvstore', query)).map(async answered => {
      const transaction = SdkTransaction.fromBEEF([...answerBeef(answered)])
      expect(await transaction.verify(from.chain)).toBe(true)
      return historian.buildHistory(transaction, { key: 'greeting', protocolID: [...PROTOCOL] })
    })
  )
}

/** Updates one after the other, each by a coin of its own. */
const updated = async (values: readonly string[], prior?: Entry): Promise<Entry> => {
  let last = prior
  for (const value of values) last = await node.set(ann, { value }, ...(last ? [last] : []))
  return last!
}

/** Updates that are paid by the change of the one before: what wallets do. */
const updatedFromChange = async (count: number): Promise<Transaction[]> => {
  const made: Transaction[] = []
  let coin = coinOf(node.chain)
  let prior: Entry[] = []
  for (let i = 0; i < count; i++) {
    const transaction = compose(coin, [[ann, { value: `v${i}` }]], prior)
    await node.chain.submit(transaction)
    await node.submit(transaction)
    prior = entriesOf([[ann, {}]], transaction)
    coin = { from: transaction, vout: 1 }
    made.push(transaction)
  }
  return made
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`)

describe('§3.6 with an unmodified SDK', () => {
  it('§3.6 §E is walked from the oldest to the newest, when nothing is mined', async () => {
    await updated(['v0', 'v1', 'v2', 'v3'])
    expect(await walked()).toEqual([['v0', 'v1', 'v2', 'v3']])
  })

  it('§3.6 §E is walked from the oldest to the newest, when every step is mined', async () => {
    let last: Entry | undefined
    for (const value of numbered(6)) {
      last = await updated([value], last)
      await node.mine()
    }
    shows('3.6-1 3.6-3 C-6 E-4', await walked()).toEqual([numbered(6)])
    expect(await walked({ key: 'greeting' })).toEqual([numbered(6)])
  })

  it('§3.6 is walked through steps of one block, whose proofs show one another', async () => {
    await updated(numbered(8))
    await node.mine()
    expect(await walked()).toEqual([numbered(8)])
  })

  it('§3.6 is walked where the proof of a coin shows a step whose own proof is not there', async () => {
    const last = await updated(numbered(6))
    await node.mine()
    // A reorg shuffles the block, so that coins and steps stand side by side.
    const { fork } = await node.chain.reorg(1)
    await node.engine.proofs.reconcile(fork + 1)
    const { outputs } = node.engine
    const steps = (await historyOf(outputs, last.outpoint, 100)).tokens.map(txidOf)
    const found = await outputs.transactions.getMany(steps)
    const coins = found.map(transaction => transaction!.inputs.at(-1)!.txid)
    for (const coin of coins) {
      const answer = await node.chain.proof(coin)
      if (answer.status === 'mined') await node.engine.handleNewMerkleProof(coin, answer.bump)
    }
    const proofs = await outputs.transactions.proofs(coins)
    const names = new Set(steps.map(bytesKey))
    expect(proofs.some(proof => proof!.leaves.some(leaf => names.has(bytesKey(leaf))))).toBe(true)
    const batch = outputs.store.batch()
    for (const txid of steps) outputs.transactions.removeProofIn(batch, txid)
    await batch.commit()
    expect(await walked()).toEqual([numbered(6)])
  })

  it('§3.6 is walked where some steps are mined and some are not', async () => {
    const last = await updated(['v0', 'v1'])
    await node.mine()
    await updated(['v2', 'v3'], last)
    expect(await walked()).toEqual([numbered(4)])
  })

  it('§3.6 §6.2 goes through tokens with tags and without', async () => {
    const first = await node.set(ann, { value: 'v0' })
    const second = await node.set(ann, { value: 'v1', tags: ['a'] }, first)
    await node.set(ann, { value: 'v2' }, second)
    await node.mine()
    expect(await walked()).toEqual([['v0', 'v1', 'v2']])
  })

  it('§3.6 of a list is there for each, as far as there is room', async () => {
    for (const author of [ann, bob]) {
      const first = await node.set(author, { value: 'v0' })
      await node.set(author, { value: 'v1' }, first)
    }
    await node.mine()
    expect(await walked({ key: 'greeting' })).toEqual([
      ['v0', 'v1'],
      ['v0', 'v1']
    ])
  })

  it('§3.6 that is paid by its own change goes as far as such a client can walk, and all the way when asked', async () => {
    const made = await updatedFromChange(40)
    await node.mine()
    const started = performance.now()
    const [found] = await walked()
    // Every step doubles the ways to the first: 40 steps would take it years.
    expect(found!.length).toBeGreaterThanOrEqual(10)
    expect(found).toEqual(numbered(40).slice(-found!.length))
    expect(performance.now() - started).toBeLessThan(30_000)
    const [whole] = await node.lookup({ ...EXACT, history: true })
    const txids = whole!.transactions.map(({ txid }) => Buffer.from(txid).toString('hex'))
    for (const { txid } of made) expect(txids).toContain(Buffer.from(txid).toString('hex'))
    expect(whole!.transactions.filter(({ bump }) => bump).length).toBeLessThanOrEqual(2)
  })
})

describe('§3.6 where it is cut', () => {
  const LONG = 'v'.repeat(50_000)
  const contextOf = async (query: object = EXACT) => (await node.lookup(query))[0]?.context?.['history']

  it('§3.6 has no word of it in the context of what is whole', async () => {
    await updated(numbered(60))
    await node.mine()
    expect(await walked()).toEqual([numbered(60)])
    expect(await contextOf()).toBeUndefined()
  })

  it('§3.6 says how many values a client can walk, and the path of the others', async () => {
    const made = await updatedFromChange(40)
    await node.mine()
    const shown = (await walked())[0]!.length
    const before = formatOutpoint(makeOutpoint(made[40 - shown - 1]!.txid, 0))
    expect(await contextOf()).toEqual({
      shown,
      rest: `/kv/${ann.controller}/greeting/history?${new URLSearchParams({ protocolID: '[1,"kvstore"]', before })}`
    })
    expect(await contextOf({ ...EXACT, history: true })).toBeUndefined()
    expect(await contextOf({ ...EXACT, history: false })).toBeUndefined()
  })

  it('§3.6 is bounded in bytes, for one entry and for a list', async () => {
    const values = Array.from({ length: 14 }, (_, i) => `${i} ${LONG}`)
    const last = await updated(values.slice(0, 12))
    await node.mine()
    await updated(values.slice(12), last)
    const answers = async (query: object = EXACT) =>
      (await node.engine.lookup('ls_kvstore', query)).map(each => {
        const context = each.context && JSON.parse(Buffer.from(each.context).toString())
        return { size: answerBeef(each).length, shown: context?.history.shown as number | undefined }
      })
    const [one] = await answers()
    expect(one!.size).toBeGreaterThan(450_000)
    expect(one!.size).toBeLessThan(512 << 10)
    expect(await walked()).toEqual([values.slice(-one!.shown!)])

    // Of twenty entries each has the twentieth part of what is left for each of twenty readings.
    for (let i = 0; i < 19; i++) await node.set(ann, { key: `other ${i}` })
    const list = await answers({ controller: ann.controller })
    expect(list).toHaveLength(20)
    const long = list.find(({ shown }) => shown)!
    expect(long.shown).toBe(3)
    expect(await contextOf({ ...EXACT, history: true })).toBeUndefined()
  })

  it('§3.6 is not cut where nothing is mined: the steps prove the entry', async () => {
    const values = Array.from({ length: 12 }, (_, i) => `${i} ${LONG}`)
    await updated(values)
    expect(await contextOf()).toBeUndefined()
    expect(await walked()).toEqual([values])
  })

  it('§3.6 says so where a step came with its proof alone', async () => {
    const first = await updated(['v0'])
    await node.mine()
    const second = await updated(['v1'], first)
    await node.mine()
    const other = await KvNode.open({ chain: node.chain })
    try {
      for (const { transaction } of [first, second]) await other.submit(transaction)
      expect(await walked(EXACT, other)).toEqual([['v1']])
      const [entry] = await other.lookup(EXACT)
      expect(entry!.context?.['history']).toMatchObject({ shown: 1 })
    } finally {
      await other.close()
    }
  })
})

describe('§3.6 on the node', () => {
  const valuesOf = async (entry: Entry, limit = 100): Promise<string[]> => {
    const { outputs } = node.engine
    const { tokens } = await historyOf(outputs, entry.outpoint, limit)
    const loaded = await outputs.loadOutputs(tokens, { includeOutput: true })
    return loaded.map(each => readVerified(each!.output!.script)!.value).reverse()
  }

  it('§3.6 §C is what the ancestry says, and not a record beside it', async () => {
    const last = await updated(numbered(5))
    await node.mine()
    shows('3.6-3', await valuesOf(last)).toEqual(numbered(5))
    expect(await valuesOf(last, 3)).toEqual(['v2', 'v3', 'v4'])
    // Taken back with the transactions that it is made of.
    const { outputs } = node.engine
    await outputs.rollback(last.transaction.txid)
    const [live] = await node.lookup(EXACT)
    shows('3.6-2 C-6', live!.value).toBe('v3')
    expect((await historyOf(outputs, live!.outpoint, 100)).tokens).toHaveLength(4)
  })

  it('§3.6 has the values of its own tuple only, whatever else its transactions update', async () => {
    const [a, b] = await node.write([
      [ann, { value: 'a0' }],
      [bob, { value: 'b0' }]
    ])
    const [a1, b1] = await node.write(
      [
        [ann, { value: 'a1' }],
        [bob, { value: 'b1' }]
      ],
      [b!, a!]
    )
    const [other, a2] = await node.write(
      [
        [ann, { value: 'x0', protocolID: [2, 'kvstore'] }],
        [ann, { value: 'a2' }]
      ],
      [a1!, b1!]
    )
    shows('3.6-4', await valuesOf(a2!)).toEqual(['a0', 'a1', 'a2'])
    expect(await valuesOf(other!)).toEqual(['x0'])
  })

  it('§3.6 begins anew after a delete', async () => {
    const last = await updated(['old', 'older'])
    await node.remove(last)
    expect(await valuesOf(await updated(['new']))).toEqual(['new'])
    expect(await walked()).toEqual([['new']])
  })

  it('§3.6 where tokens were ambiguous has all that were spent into one, the newest last', async () => {
    const left = await updated(['l0', 'l1'])
    await node.mine()
    const right = await node.set(ann, { value: 'r0' })
    await node.mine()
    const merged = await node.set(ann, { value: 'merged' }, right, left)
    await node.mine()
    expect(await valuesOf(merged)).toEqual(['l0', 'l1', 'r0', 'merged'])
    // A page at a time it is the same.
    const { outputs } = node.engine
    const paged: Outpoint[] = []
    let from: readonly Outpoint[] = [merged.outpoint]
    while (from.length > 0) {
      const page = await historyOf(outputs, merged.outpoint, 1, from)
      paged.push(...page.tokens)
      from = page.rest
    }
    expect(paged).toEqual((await historyOf(outputs, merged.outpoint, 100)).tokens)
  })

  it('§3.6 where a step came with its proof alone, ends the walk of such a client there, and is whole on the node', async () => {
    let last: Entry | undefined
    const steps: Transaction[] = []
    for (const value of numbered(4)) {
      last = await updated([value], last)
      steps.push(last.transaction)
      await node.mine()
    }
    const second = await KvNode.open({ chain: node.chain })
    try {
      // What is mined comes without what it spends.
      for (const each of steps) await second.submit(each)
      expect(await walked(EXACT, second)).toEqual([['v3']])
      const { tokens } = await historyOf(second.engine.outputs, last!.outpoint, 10)
      expect(tokens).toHaveLength(4)
    } finally {
      await second.close()
    }
  })

  it('§3.6 is left out when nobody wants it', async () => {
    await updated(numbered(5))
    await node.mine()
    const [plain] = await node.lookup({ ...EXACT, history: false })
    expect(plain!.transactions).toHaveLength(1)
    expect(plain!.transactions[0]!.bump).toBeDefined()
  })
})

describe('§3.6 on a second node', () => {
  it('§3.6 comes over with sync, mined or not, and is walked there', async () => {
    const last = await updated(['v0', 'v1', 'v2'])
    await node.mine()
    await updated(['v3', 'v4'], last)
    const second = await KvNode.open({ chain: node.chain })
    try {
      const report = await syncTopic(second.engine, TOPIC, localPeer('first', node.engine))
      expect(report).toMatchObject({ failed: 0, isBehind: false })
      expect(await second.values(EXACT)).toEqual(['v4'])
      expect(await walked(EXACT, second)).toEqual([numbered(5)])
    } finally {
      await second.close()
    }
  })

  it('§3.5 has the same entries in the same order once they are mined', async () => {
    for (let i = 0; i < 12; i++) {
      await node.set(i % 2 ? ann : bob, { key: `k${i}`, value: `v${i}`, tags: ['t'] })
      if (i % 4 === 3) await node.mine()
    }
    const second = await KvNode.open({ chain: node.chain })
    try {
      await syncTopic(second.engine, TOPIC, localPeer('first', node.engine))
      for (const query of [
        { tags: ['t'] },
        { protocolID: PROTOCOL, sortOrder: 'asc' },
        { controller: ann.controller }
      ]) {
        const [here, there] = await Promise.all([node.lookup(query), second.lookup(query)])
        expect(there.map(({ outpoint }) => outpoint)).toEqual(here.map(({ outpoint }) => outpoint))
      }
    } finally {
      await second.close()
    }
  })
})
