/**
 * For tests: transactions that anyone may spend, families of them with proofs in blocks, and a chain that knows these
 * blocks. The SDK verifies them too, since every output is OP_TRUE and no transaction gives more than it takes.
 */

import { formatTxid, OP, type Txid } from '@quoin/primitives'
import fc from 'fast-check'
import type { BeefTransaction } from './beef.ts'
import { Bump } from './merkle/bump.ts'
import { type Input, type Transaction, writeTransaction } from './transaction.ts'

const txids: fc.Arbitrary<Txid> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(bytes => new Uint8Array(bytes) as Txid)

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const nops = (length: number): Uint8Array => new Uint8Array(length).fill(OP.NOP)
/** Their lengths take one, three and five bytes. */
const scripts = fc
  .oneof(
    { weight: 30, arbitrary: fc.uint8Array({ maxLength: 30 }) },
    { weight: 5, arbitrary: fc.integer({ min: 0xfb, max: 0xff }).map(nops) },
    { weight: 1, arbitrary: fc.integer({ min: 0xfffe, max: 0x10001 }).map(nops) }
  )
  .map(bytes => new Uint8Array(bytes))

/** Any transaction at all, as far as its form goes. */
export const transactions: fc.Arbitrary<Transaction> = fc
  .record({
    version: u32,
    inputs: fc.array(fc.record({ txid: txids, vout: u32, script: scripts, sequence: u32 }), { maxLength: 4 }),
    outputs: fc.array(fc.record({ satoshis: fc.integer({ min: 0, max: 21e14 }), script: scripts }), {
      maxLength: 4
    }),
    lockTime: u32
  })
  .map(writeTransaction)

/** Where a transaction gets its coins from. */
export interface Spend {
  readonly txid: Txid
  readonly vout: number
  readonly satoshis: number
}

/** A transaction that spends these coins and has so many outputs, which share what is spent. */
export const spending = (spends: readonly Spend[], outputs = 2, lockTime = 0): Transaction => {
  const total = spends.reduce((sum, { satoshis }) => sum + satoshis, 0)
  return writeTransaction({
    version: 1,
    inputs: spends.map(
      ({ txid, vout }): Input => ({ txid, vout, script: new Uint8Array(), sequence: 0xffffffff })
    ),
    outputs: Array.from({ length: outputs }, () => ({
      satoshis: Math.floor(total / outputs),
      script: Uint8Array.of(OP.TRUE)
    })),
    lockTime
  })
}

export const coin = (transaction: Transaction, vout: number): Spend => ({
  txid: transaction.txid,
  vout,
  satoshis: transaction.outputs[vout]!.satoshis
})

/** A transaction whose coins come from nowhere in the family, so that it needs a proof. */
export const founding = (nonce: number, outputs = 2): Transaction =>
  spending([{ txid: filler(nonce), vout: 0, satoshis: 1_000_000 }], outputs, nonce)

/** A txid that is different for each number. */
export const filler = (nonce: number): Txid => {
  const txid = new Uint8Array(32).fill(0x5a) as Txid
  new DataView(txid.buffer).setUint32(0, nonce, true)
  return txid
}

/** The block at a height, with these transactions among others. */
export const blockOf = (height: number, txids: readonly Txid[], others = 5): Txid[] => {
  const block = Array.from({ length: others + 1 }, (_, i) => filler(1000 * height + i))
  for (const [i, txid] of txids.entries()) block.splice(1 + ((7 * i) % block.length), 0, txid)
  return block
}

export const unproven = (transaction: Transaction): BeefTransaction => ({
  txid: transaction.txid,
  transaction,
  bump: undefined
})

/** Transactions that are all in one block, each with a proof of its own. */
export const minedAt = (height: number, transactions: readonly Transaction[]): BeefTransaction[] => {
  const txids = transactions.map(({ txid }) => txid)
  const block = Bump.ofBlock(height, blockOf(height, txids))
  return transactions.map(transaction => ({
    txid: transaction.txid,
    transaction,
    bump: block.trimmedTo(transaction.txid)
  }))
}

/**
 * Families of up to ten, parents first: each member spends outputs of earlier ones or is proved, and some are both. The
 * last is a descendant of all others.
 */
export const families: fc.Arbitrary<BeefTransaction[]> = fc
  .array(
    fc.record({
      parents: fc.array(fc.nat(100), { maxLength: 3 }),
      proved: fc.boolean(),
      height: fc.integer({ min: 1, max: 3 })
    }),
    { minLength: 1, maxLength: 9 }
  )
  .map(plan => {
    const members: { transaction: Transaction; height: number | undefined }[] = []
    for (const [i, { parents, proved, height }] of plan.entries()) {
      const places = i === 0 ? [] : [...new Set(parents.map(parent => parent % i))]
      const spends = places.map(place => coin(members[place]!.transaction, i % 2))
      const founder = spends.length === 0
      const transaction = founder ? founding(i) : spending(spends, 2, i)
      members.push({ transaction, height: founder || proved ? height : undefined })
    }
    const last = spending(
      members.map(({ transaction }) => coin(transaction, 0)),
      1
    )
    const mined = new Map<Transaction, BeefTransaction>()
    for (const height of [1, 2, 3]) {
      const block = members.filter(member => member.height === height).map(({ transaction }) => transaction)
      for (const entry of minedAt(height, block)) mined.set(entry.transaction!, entry)
    }
    return [
      ...members.map(({ transaction }) => mined.get(transaction) ?? unproven(transaction)),
      unproven(last)
    ]
  })

/** A chain as the SDK asks one, that has the blocks of these bumps and no others. */
export const chainOf = (
  entries: readonly BeefTransaction[]
): {
  isValidRootForHeight(root: string, height: number): Promise<boolean>
  currentHeight(): Promise<number>
} => {
  const roots = new Set<string>()
  for (const { bump } of entries) if (bump) roots.add(`${bump.height} ${formatTxid(bump.root as Txid)}`)
  return {
    isValidRootForHeight: async (root, height) => roots.has(`${height} ${root}`),
    currentHeight: async () => 1000
  }
}
