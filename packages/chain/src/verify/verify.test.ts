import {
  buildScript,
  bytesKey,
  formatTxid,
  OP,
  QuoinError,
  type Txid,
  writeScriptNumber
} from '@quoin/primitives'
import { describe, expect, test } from 'vitest'
import { Beef, writeBeef } from '../beef.ts'
import { MAX_SATOSHIS, type Output, type Transaction, writeTransaction } from '../transaction.ts'
import { Interpreter } from './interpreter.ts'
import { withInputScript } from './mutations.testing.ts'
import { makeKey, payTo, spend, TestChain, withKeyHash, withScript } from './test-chain.testing.ts'
import type { KnownLookup, KnownTransaction } from './unverified-ancestry.ts'
import { type RootTracker, type VerifyOptions, verifyBeef, verifyTransaction } from './verify.ts'

const key = makeKey('owner')
const pay = (satoshis: number): Output => ({ satoshis, script: payTo(key) })
const anyone = (satoshis: number): Output => ({ satoshis, script: Uint8Array.of(OP.TRUE) })
const input = (from: Transaction, vout = 0) => ({ from, vout, unlock: withKeyHash(key) })
const spendOf = (from: Transaction, ...satoshis: number[]): Transaction =>
  spend({ inputs: [input(from)], outputs: satoshis.map(pay) })
const namesOf = (transactions: readonly { readonly txid: Txid }[]): string[] =>
  transactions.map(({ txid }) => formatTxid(txid))

/** Not signed by anybody. */
const forged = (transaction: Transaction): Transaction => withInputScript(transaction, 0, new Uint8Array(1))

const verify = (
  chain: TestChain,
  transactions: readonly Transaction[],
  options: Partial<VerifyOptions> = {}
) => verifyBeef(Beef.parse(chain.beef(transactions)), { tracker: chain, ...options })

const refusal = async (verified: Promise<unknown>): Promise<{ code: string; details: unknown }> => {
  const error = await verified.then(
    () => new Error('it was accepted'),
    error => error
  )
  if (!(error instanceof QuoinError)) throw error
  return { code: error.code, details: error.details }
}

const invalid = (transaction: Transaction, reason: string | RegExp, at?: number) => ({
  code: 'ERR_TX_INVALID',
  details: {
    txid: formatTxid(transaction.txid),
    ...(at !== undefined && { input: at }),
    reason: expect.stringMatching(reason)
  }
})

/** Knows these, and remembers what it was asked. */
const knowing = (...all: KnownTransaction[]): KnownLookup & { readonly asked: string[][] } => {
  const table = new Map(all.map(known => [bytesKey(known.transaction.txid), known]))
  const asked: string[][] = []
  const known: KnownLookup = async txids => {
    asked.push(txids.map(formatTxid))
    return txids.map(txid => table.get(bytesKey(txid)))
  }
  return Object.assign(known, { asked })
}

describe('a transaction is verified', () => {
  test('by its scripts, back to a transaction that a proof ties to a block', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const child = spendOf(parent, 900)
    const grandchild = spendOf(child, 800)
    const { transactions, proofs } = await verify(chain, [parent, child, grandchild])
    expect(namesOf(transactions)).toEqual(namesOf([parent, child, grandchild]))
    expect(namesOf(proofs)).toEqual(namesOf([parent]))
    expect(proofs[0]?.bump.height).toBe(chain.bumpOf(parent)?.height)
  })

  test('by its own proof, and then what it spends does not matter', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const child = forged(spendOf(parent, 5000))
    chain.mine(child)
    const { transactions } = await verify(chain, [parent, child])
    expect(namesOf(transactions)).toEqual(namesOf([child]))
  })

  test('by a proof that is there although it names none', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const child = spendOf(parent, 900)
    const named = chain.beef([parent, child])
    const at = Buffer.from(named).indexOf(parent.raw) + parent.raw.length
    const unnamed = Buffer.concat([named.subarray(0, at), Buffer.of(0), named.subarray(at + 2)])
    const { proofs } = await verifyBeef(Beef.parse(unnamed), { tracker: chain })
    expect(namesOf(proofs)).toEqual(namesOf([parent]))
  })

  test('without what else a BEEF holds', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const stranger = forged(spendOf(chain.fund([pay(1)]), 1))
    const { transactions } = await verify(chain, [stranger, parent, spendOf(parent, 900)])
    expect(transactions).toHaveLength(2)
  })

  test('together with each of its ancestors once, of which the ways to them are more than there is time', async () => {
    const chain = new TestChain()
    const all = [chain.fund([pay(10_000), pay(10_000)])]
    for (let depth = 0; depth < 100; depth++) {
      const from = all.at(-1)!
      all.push(
        spend({ inputs: [input(from, 0), input(from, 1)], outputs: [pay(10_000), pay(9_999 - depth)] })
      )
    }
    expect((await verify(chain, all)).transactions).toHaveLength(101)
  })

  test('at the end of a chain as long as the limits allow', async () => {
    const chain = new TestChain()
    const all = [chain.fund([pay(1_000_000)])]
    for (let depth = 0; depth < 3000; depth++) all.push(spendOf(all.at(-1)!, 1_000_000 - depth))
    expect((await verify(chain, all)).transactions).toHaveLength(3001)
  })

  test('while others get their turn', async () => {
    const chain = new TestChain()
    const parent = chain.fund(Array.from({ length: 1000 }, () => pay(1)))
    const child = spend({
      inputs: parent.outputs.map((_, vout) => input(parent, vout)),
      outputs: [pay(1000)]
    })
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await verify(chain, [parent, child])
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})

describe('a proof', () => {
  test('must lead to the root that the chain has at its height', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const beef = chain.beef([parent, spendOf(parent, 900)])
    chain.mine(spendOf(parent, 1), { height: chain.height })
    expect(await refusal(verifyBeef(Beef.parse(beef), { tracker: chain }))).toEqual(
      invalid(parent, `its merkle path does not lead to block ${chain.height}`)
    )
  })

  test('is looked up once for each block, as people write roots', async () => {
    const chain = new TestChain()
    const parents = [chain.fund([pay(1000)]), chain.fund([pay(1000)])]
    const asked: [string, number][] = []
    const tracker: RootTracker = {
      isValidRootForHeight: async (root, height) => {
        asked.push([root, height])
        return chain.isValidRootForHeight(root, height)
      },
      currentHeight: async () => expect.unreachable('nobody spends a coinbase')
    }
    const child = spend({ inputs: parents.map(parent => input(parent)), outputs: [pay(1)] })
    await verify(chain, [...parents, child], { tracker })
    expect(asked).toEqual([...chain.roots].map(([height, root]) => [root, height]))
  })

  test('cannot be verified when the chain cannot be asked', async () => {
    const chain = new TestChain()
    const parent = chain.fund([pay(1000)])
    const tracker: RootTracker = {
      isValidRootForHeight: () => Promise.reject(new Error('no connection')),
      currentHeight: () => chain.currentHeight()
    }
    await expect(verify(chain, [parent, spendOf(parent, 1)], { tracker })).rejects.toThrow('no connection')
  })
})

describe('what was verified before', () => {
  const chain = new TestChain()
  const root = chain.fund([pay(1000)])
  // Would not hold if anybody looked.
  const parent = forged(spendOf(root, 950))
  const child = spendOf(parent, 900)

  test('is not verified again, nor what it descends from', async () => {
    const known = knowing({ transaction: parent })
    const { transactions, proofs } = await verify(chain, [root, parent, child], { known })
    expect(namesOf(transactions)).toEqual(namesOf([child]))
    expect(proofs).toEqual([])
    expect(known.asked).toEqual([namesOf([child, parent])])
  })

  test('need not be sent', async () => {
    const { transactions } = await verify(chain, [child], { known: knowing({ transaction: parent }) })
    expect(namesOf(transactions)).toEqual(namesOf([child]))
  })

  test('may be named only, in V2', async () => {
    const beef = writeBeef({
      version: 2,
      transactions: [
        { txid: parent.txid, transaction: undefined, bump: undefined },
        { txid: child.txid, transaction: child, bump: undefined }
      ]
    })
    const known = knowing({ transaction: parent })
    expect((await verifyBeef(Beef.parse(beef), { tracker: chain, known })).transactions).toHaveLength(1)
    expect(await refusal(verifyBeef(Beef.parse(beef), { tracker: chain }))).toEqual({
      code: 'ERR_TX_UNKNOWN',
      details: { txid: formatTxid(parent.txid), spender: formatTxid(child.txid) }
    })
  })

  test('may be the subject itself', async () => {
    const known = knowing({ transaction: child })
    expect(await verify(chain, [root, parent, child], { known })).toEqual({ transactions: [], proofs: [] })
  })

  test('gets its proof when one is sent: the first, or one of another block', async () => {
    const { height } = chain.bumpOf(root)!
    const spender = spendOf(root, 940)
    const proofsFor = async (knownHeight?: number): Promise<string[]> => {
      const known = knowing({ transaction: root, height: knownHeight })
      const { transactions, proofs } = await verify(chain, [root, spender], { known })
      expect(namesOf(transactions)).toEqual(namesOf([spender]))
      return namesOf(proofs)
    }
    expect(await proofsFor(undefined)).toEqual(namesOf([root]))
    expect(await proofsFor(height - 1)).toEqual(namesOf([root]))
    expect(await proofsFor(height)).toEqual([])
  })

  test('is asked for level by level, the parents with the subject, each once', async () => {
    const wide = new TestChain()
    const top = wide.fund([pay(10), pay(10)])
    const [left, right] = [0, 1].map(vout =>
      spend({ inputs: [input(top, vout)], outputs: [pay(10), pay(0)] })
    )
    const join = spend({ inputs: [input(left!), input(right!), input(left!, 1)], outputs: [pay(1)] })
    const known = knowing()
    await verify(wide, [top, left!, right!, join], { known })
    expect(known.asked).toEqual([namesOf([join, left!, right!]), namesOf([top])])
  })

  test('is asked for ahead along a chain, each once', async () => {
    const transactions = [root]
    for (let i = 0; i < 100; i++) transactions.push(spendOf(transactions.at(-1)!, 990 - i))
    const known = knowing()
    await verify(chain, transactions, { known })
    expect(known.asked.length).toBeLessThan(7)
    expect(known.asked.flat().toReversed()).toEqual(namesOf(transactions))
  })
})

describe('a transaction is refused', () => {
  const chain = new TestChain()
  const parent = chain.fund([pay(1000), pay(500), anyone(1)])
  const child = spendOf(parent, 900)

  test('for the first input that is wrong, whatever is wrong with it', async () => {
    const coins = chain.fund(Array.from({ length: 250 }, () => pay(1)))
    const inputs = coins.outputs.map((_, vout) => input(coins, vout))
    const whole = spend({ inputs, outputs: [pay(250)] })
    // What was signed has another output: the form is right, the signature is of something else.
    const { script } = spend({ inputs, outputs: [pay(249)] }).inputs[150]!
    const ofAnother = withInputScript(whole, 150, script)
    const ofNobody = buildScript([new Uint8Array(71), key.publicKey])
    const malformed = withInputScript(ofAnother, 152, ofNobody)
    expect(await refusal(verify(chain, [coins, ofAnother]))).toEqual(
      invalid(ofAnother, 'the signature does not verify', 150)
    )
    expect(await refusal(verify(chain, [coins, malformed]))).toEqual(
      invalid(malformed, 'the signature does not verify', 150)
    )
    const alone = withInputScript(whole, 152, ofNobody)
    expect(await refusal(verify(chain, [coins, alone]))).toEqual(invalid(alone, /the signature/, 152))
  })

  test('when what it spends is not there', async () => {
    expect(await refusal(verify(chain, [child]))).toEqual({
      code: 'ERR_TX_UNKNOWN',
      details: { txid: formatTxid(parent.txid), spender: formatTxid(child.txid) }
    })
  })

  test('when it spends an output that its parent has not', async () => {
    const { version, inputs, outputs, lockTime } = child
    const moved = writeTransaction({ version, inputs: [{ ...inputs[0]!, vout: 3 }], outputs, lockTime })
    expect(await refusal(verify(chain, [parent, moved]))).toEqual(
      invalid(moved, 'it spends an output that does not exist', 0)
    )
  })

  test('when a script does not hold, its own or that of an ancestor', async () => {
    const bad = spend({
      inputs: [input(parent, 1), { ...input(parent, 0), unlock: withKeyHash(makeKey('thief')) }],
      outputs: [pay(1)]
    })
    expect(await refusal(verify(chain, [parent, bad]))).toEqual(
      invalid(bad, 'the key does not hash to the key hash of the output', 1)
    )
    const heir = spendOf(bad, 1)
    expect(await refusal(verify(chain, [parent, bad, heir]))).toEqual(invalid(bad, /key/, 1))
  })

  test('when it is worth more than what it spends, if only by one', async () => {
    expect((await verify(chain, [parent, spendOf(parent, 600, 400)])).transactions).toHaveLength(2)
    const rich = spendOf(parent, 600, 401)
    expect(await refusal(verify(chain, [parent, rich]))).toEqual(
      invalid(rich, 'the outputs are worth more than the inputs')
    )
  })

  test('when its outputs are more than there is', async () => {
    const all = new TestChain()
    const source = all.fund([pay(MAX_SATOSHIS), pay(MAX_SATOSHIS)])
    const sum = spend({ inputs: [input(source, 0), input(source, 1)], outputs: [pay(MAX_SATOSHIS), pay(1)] })
    expect(await refusal(verify(all, [source, sum]))).toEqual(invalid(sum, 'more than 21e14 satoshis'))
  })

  test('when it is a coinbase without a proof', async () => {
    const other = new TestChain()
    const coinbase = other.fund([pay(1)], { coinbase: true })
    expect((await verify(other, [coinbase])).transactions).toHaveLength(1)
    expect(await refusal(verify(chain, [coinbase]))).toEqual(invalid(coinbase, 'a coinbase needs a proof'))
  })
})

describe('a coinbase', () => {
  test('is spent a hundred blocks later, and from then on', async () => {
    const chain = new TestChain()
    const coinbase = chain.fund([pay(1000)], { coinbase: true })
    const { height } = chain.bumpOf(coinbase)!
    const spender = spendOf(coinbase, 900)
    const at = async (tip: number): Promise<boolean> => {
      chain.height = tip
      return (await verify(chain, [coinbase, spender]).catch(() => undefined)) !== undefined
    }
    // The next block is one above the tip.
    expect([await at(height), await at(height + 98), await at(height + 99), await at(height + 5000)]).toEqual(
      [false, false, true, true]
    )
  })

  test('that is known is as old as its proof, and not at all without one', async () => {
    const chain = new TestChain()
    const coinbase = chain.fund([pay(1000)], { coinbase: true })
    const spender = spendOf(coinbase, 900)
    const withHeight = (height?: number) =>
      verify(chain, [spender], { known: knowing({ transaction: coinbase, height }) })
    expect((await withHeight(chain.height - 99)).transactions).toHaveLength(1)
    const young = invalid(spender, 'a coinbase is spent 100 blocks later at the earliest', 0)
    expect(await refusal(withHeight(chain.height - 98))).toEqual(young)
    expect(await refusal(withHeight(undefined))).toEqual(young)
  })
})

describe('what a call costs is limited', () => {
  const chain = new TestChain()
  const parent = chain.fund([pay(1), pay(1), pay(1), anyone(1)])
  const child = spend({ inputs: [0, 1, 2].map(vout => input(parent, vout)), outputs: [pay(1)] })
  const scriptBytes = child.inputs.reduce((sum, { script }) => sum + script.length + 25, 0)

  test.each([
    ['inputs', 3],
    ['signatures', 3],
    ['scriptBytes', scriptBytes]
  ] as const)('in %s', async (name, needed) => {
    expect((await verify(chain, [parent, child], { limits: { [name]: needed } })).transactions).toHaveLength(
      2
    )
    expect(await refusal(verify(chain, [parent, child], { limits: { [name]: needed - 1 } }))).toMatchObject({
      code: 'ERR_BEEF_LIMIT'
    })
  })

  test('in the time of the interpreter', async () => {
    const slow = buildScript([OP.N5, writeScriptNumber(1_000_000_000), OP.NUM2BIN])
    const source = chain.fund([{ satoshis: 1, script: slow }])
    const stuck = spend({ inputs: [{ from: source, vout: 0, unlock: withScript() }], outputs: [pay(1)] })
    const interpreter = new Interpreter()
    const limits = { interpreterMs: 500 }
    expect(await refusal(verify(chain, [source, stuck], { limits, interpreter }))).toEqual(
      invalid(stuck, 'took too long')
    )
    await interpreter.close()
  })
})

describe('one transaction', () => {
  const chain = new TestChain()
  const parent = chain.fund([pay(1000), anyone(5)])
  const child = spend({
    inputs: [input(parent), { from: parent, vout: 1, unlock: withScript() }],
    outputs: [pay(1005)]
  })

  test('is verified against parents that are known', async () => {
    const known = knowing({ transaction: parent })
    const { transactions } = await verifyTransaction(child, { tracker: chain, known })
    expect(transactions).toEqual([child])
    const wrong = forged(child)
    expect(await refusal(verifyTransaction(wrong, { tracker: chain, known }))).toMatchObject({
      code: 'ERR_TX_INVALID'
    })
    expect(await refusal(verifyTransaction(child, { tracker: chain, known: knowing() }))).toMatchObject({
      code: 'ERR_TX_UNKNOWN'
    })
  })
})
