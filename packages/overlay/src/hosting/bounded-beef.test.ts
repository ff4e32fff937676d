/** BEEF that `Transaction.fromBEEF` of the SDK reads in bounded time, whatever the shape of its ancestry. */
import { Beef as SdkBeef, Transaction as SdkTransaction } from '@bsv/sdk'
import { Beef, type BeefTransaction, type Transaction, writeBeef, writeTransaction } from '@quoin/chain'
import { formatTxid, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { TestChain } from '../../../chain/src/verify/test-chain.testing.ts'
import { boundBeef } from './bounded-beef.ts'

afterEach(() => vi.restoreAllMocks())

const chain = new TestChain()
let made = 0
const output = { satoshis: 1, script: Uint8Array.of(0x51) }

/** A transaction that spends outputs of others. Nothing is signed: readers of BEEF do not verify. */
const child = (from: readonly (readonly [Transaction, number])[], outputs = 2): Transaction =>
  writeTransaction({
    version: 1,
    inputs: from.map(([{ txid }, vout]) => ({ txid, vout, script: new Uint8Array(), sequence: 0xffffffff })),
    outputs: Array.from({ length: outputs }, () => output),
    // Transactions that spend the same outputs differ.
    lockTime: ++made
  })
const entries = (transactions: readonly Transaction[], root: Transaction): BeefTransaction[] =>
  transactions.map(transaction => ({
    txid: transaction.txid,
    transaction,
    bump: transaction === root ? chain.bumpOf(root) : undefined
  }))

/** Each transaction spends two outputs of the one before: as many ways as two to the power of the depth. */
const diamond = (depth: number): Transaction[] => {
  const all = [chain.fund([output, output])]
  for (let i = 0; i < depth; i++) all.push(child([0, 1].map(vout => [all.at(-1)!, vout] as const)))
  return all
}
/** The same with hundreds of inputs, for a few levels. */
const wide = (width: number, depth: number): Transaction[] => {
  const all = [chain.fund(Array.from({ length: width }, () => output))]
  for (let i = 0; i < depth; i++) {
    all.push(
      child(
        Array.from({ length: width }, (_, vout) => [all.at(-1)!, vout] as const),
        width
      )
    )
  }
  return all
}
const beefOf = (transactions: readonly Transaction[], atomic?: Txid): Uint8Array =>
  writeBeef({ version: 1, transactions: entries(transactions, transactions[0]!), ...(atomic && { atomic }) })

/** Milliseconds, and the lookups of proofs that the SDK makes: two for a transaction without one. */
const readBySdk = (bytes: Uint8Array) => {
  const finding = vi.spyOn(SdkBeef.prototype, 'findBump')
  const begin = performance.now()
  const transaction = SdkTransaction.fromBEEF(Array.from(bytes))
  return { transaction, milliseconds: performance.now() - begin, steps: finding.mock.calls.length }
}

describe('a BEEF', () => {
  beforeAll(() => {
    boundBeef(beefOf(diamond(16)))
  })

  it('of an ancestry that is read within the limit stays as it is', () => {
    for (const depth of [0, 1, 5, 12]) {
      const bytes = beefOf(diamond(depth))
      expect(boundBeef(bytes)).toBe(bytes)
      expect(boundBeef(Beef.parse(bytes))).toBe(bytes)
    }
    const long = [chain.fund([output, output])]
    for (let i = 0; i < 2000; i++) long.push(child([[long.at(-1)!, 0]]))
    const bytes = beefOf(long)
    expect(boundBeef(bytes)).toBe(bytes)
  })

  it.each([
    ['a diamond of depth 30', () => diamond(30)],
    ['a diamond of depth 200', () => diamond(200)],
    ['300 inputs a level', () => wide(300, 4)]
  ])('of %s is bounded within 50 ms, and read with the sources of its own inputs', (_, make) => {
    const transactions = make()
    const bytes = beefOf(transactions)
    const times = [1, 2, 3].map(() => {
      const begin = performance.now()
      boundBeef(bytes)
      return performance.now() - begin
    })
    expect(Math.min(...times)).toBeLessThan(50)
    const bounded = boundBeef(bytes)
    const { transaction, steps } = readBySdk(bounded)
    expect(transaction.id('hex')).toBe(formatTxid(transactions.at(-1)!.txid))
    expect(steps).toBeLessThan(20_002)
    const source = formatTxid(transactions.at(-2)!.txid)
    for (const input of transaction.inputs) expect(input.sourceTransaction!.id('hex')).toBe(source)
  })

  it('stays atomic, and is read as such', () => {
    const transactions = diamond(40)
    const subject = transactions.at(-1)!.txid
    const bounded = boundBeef(beefOf(transactions, subject))
    const read = Beef.parse(bounded)
    expect(read.atomic).toBe(true)
    expect(formatTxid(read.subject)).toBe(formatTxid(subject))
    expect(SdkTransaction.fromAtomicBEEF(Array.from(bounded)).id('hex')).toBe(formatTxid(subject))
  })

  it('keeps whole levels: as many as fit', () => {
    const bounded = Beef.parse(boundBeef(beefOf(diamond(30))))
    const bodies = bounded.transactions.filter(({ transaction }) => transaction)
    // 2^13 - 1 visits are below the limit, 2^14 - 1 are not; the txid of the level below is left.
    expect(bodies).toHaveLength(13)
    expect(bounded.transactions).toHaveLength(14)
  })

  it('whose direct sources alone are too many to read is refused', () => {
    const [root, first, second] = wide(300, 2) as [Transaction, Transaction, Transaction]
    const subject = child([
      ...Array.from({ length: 300 }, (_, vout) => [second, vout] as const),
      [first, 0],
      [root, 0]
    ])
    const bytes = beefOf([root, first, second, subject])
    expect(() => boundBeef(bytes)).toThrow(expect.objectContaining({ code: 'ERR_BEEF_EXPANSION' }))
    // For a reader that does without them, it is the subject alone.
    const { transaction, steps } = readBySdk(boundBeef(bytes, 0))
    expect(transaction.id('hex')).toBe(formatTxid(subject.txid))
    expect(steps).toBeLessThan(10)
  })

  it('of any shape is read in bounded steps', () => {
    const shape = fc.array(fc.array(fc.tuple(fc.nat(6), fc.nat(3)), { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 40
    })
    fc.assert(
      fc.property(shape, levels => {
        const all = [chain.fund(Array.from({ length: 4 }, () => output))]
        for (const inputs of levels) {
          all.push(
            child(
              inputs.map(([back, vout]) => [all.at(-1 - Math.min(back, all.length - 1))!, vout] as const),
              4
            )
          )
        }
        const bytes = beefOf(all)
        let bounded: Uint8Array
        try {
          bounded = boundBeef(bytes)
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_BEEF_EXPANSION' })
          return
        }
        const { transaction, steps } = readBySdk(bounded)
        vi.restoreAllMocks()
        expect(steps).toBeLessThan(20_002)
        const parsed = Beef.parse(bytes)
        for (const input of transaction.inputs) {
          expect(input.sourceTransaction?.id('hex')).toBe(
            formatTxid(parsed.transactions.find(({ txid }) => formatTxid(txid) === input.sourceTXID)!.txid)
          )
        }
      }),
      { numRuns: 60 }
    )
  })
})
