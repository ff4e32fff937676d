/**
 * Stored transactions in the order of their txids, checked: a raw transaction hashes to its txid, a proof contains its
 * transaction, and its root is that of the stored header at its height.
 */

import { equalBytes, formatTxid, prefixEnd, QuoinError, successor, type Txid, toHex } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import type { Finding } from './finding.ts'
import { chain } from './keys.ts'
import { Bump } from './merkle/bump.ts'
import { parseTransaction, type Transaction } from './transaction.ts'
import type { RootTracker } from './verify/verify.ts'

const { transaction: transactions, proof: proofs, active, header: headers, tip } = chain.collections
const PREFIX = new TextEncoder().encode('t:')
const TXID_END = PREFIX.length + 32
const PAGE = 200
/** Merkle roots in memory. */
const ROOTS = 10_000

export interface CheckedTransaction {
  readonly txid: Txid
  /** Undefined for a missing or damaged raw transaction. */
  readonly transaction: Transaction | undefined
  /** Proof of the transaction; not compared with the headers. */
  readonly proof: Bump | undefined
  readonly findings: readonly Finding[]
}

/** Every txid with a raw transaction or a proof. */
export async function* checkedTransactions(
  reads: StoreReads
): AsyncGenerator<CheckedTransaction, void, undefined> {
  const roots = new Roots(reads)
  let open: { txid: Txid; raw?: Uint8Array; proof?: Uint8Array } | undefined
  let start: Uint8Array = PREFIX
  for (;;) {
    const rows = await reads.range({ start, end: prefixEnd(PREFIX), reverse: false }, { limit: PAGE })
    for (const { key, value } of rows) {
      const isRaw = transactions.owns(key)
      if (!isRaw && !proofs.owns(key)) continue
      const txid = key.slice(PREFIX.length, TXID_END) as Txid
      if (open && !equalBytes(open.txid, txid)) {
        yield await check(roots, open)
        open = undefined
      }
      open = { txid, ...open, [isRaw ? 'raw' : 'proof']: value }
    }
    if (rows.length < PAGE) break
    start = successor(rows.at(-1)!.key)
  }
  if (open) yield await check(roots, open)
}

/** One transaction; its proof is not compared with the headers. */
export const checkedTransaction = async (reads: StoreReads, txid: Txid): Promise<CheckedTransaction> => {
  const [raw, proof] = await reads.mget([transactions.encode(txid), proofs.encode(txid)])
  return check(undefined, { txid, ...(raw && { raw }), ...(proof && { proof }) })
}

const check = async (
  roots: Roots | undefined,
  { txid, raw, proof }: { txid: Txid; raw?: Uint8Array; proof?: Uint8Array }
): Promise<CheckedTransaction> => {
  const findings: Finding[] = []
  const subject = formatTxid(txid)
  const read = raw && readable(() => parseTransaction(transactions.value.codec.decode(raw).raw))
  const isRight = read !== undefined && equalBytes(read.txid, txid)
  if (raw && !isRight) {
    findings.push({
      kind: 'transaction-damaged',
      subject,
      found: read
        ? `a transaction that hashes to ${formatTxid(read.txid)}`
        : 'bytes that do not parse as a transaction',
      expected: `a transaction that hashes to ${subject}`,
      advice: 'submit the transaction again (quoin submit), or restore a backup'
    })
  }
  const bump = proof && readable(() => Bump.parse(proof))
  const isOwn = bump?.offsetOf(txid) !== undefined
  if (proof && !bump) {
    findings.push({
      kind: 'proof-damaged',
      subject,
      found: 'bytes that do not parse as a BUMP',
      expected: 'the proof of the transaction, or none'
    })
  } else if (bump && !(isOwn && raw)) {
    findings.push({
      kind: 'proof-foreign',
      subject,
      found: raw ? 'a proof of other transactions' : 'a proof without its transaction',
      expected: 'the proof of a stored transaction'
    })
  } else if (bump) {
    const [found, expected] = [toHex(bump.rootOf(txid)!.slice().reverse()), await roots?.at(bump.height)]
    if (expected !== undefined && found !== expected) {
      findings.push({
        kind: 'proof-root',
        subject,
        found: `root ${found} at height ${bump.height}`,
        expected: `root ${expected}`
      })
    }
  }
  return { txid, transaction: isRight ? read : undefined, proof: isOwn ? bump : undefined, findings }
}

/** Roots of a store's headers; a height without a header contradicts no root. */
export const storedRoots = (reads: StoreReads): RootTracker => {
  const roots = new Roots(reads)
  return {
    isValidRootForHeight: async (root, height) => {
      const expected = await roots.at(height)
      return expected === undefined || expected === root
    },
    currentHeight: async () => {
      const hash = await reads.use(tip).get()
      return (hash && (await reads.use(headers).get(hash))?.height) ?? 0
    }
  }
}

/** Memoizes merkle roots of the chain of most work, in display hex. */
class Roots {
  readonly #reads: StoreReads
  readonly #known = new Map<number, string | undefined>()

  constructor(reads: StoreReads) {
    this.#reads = reads
  }

  async at(height: number): Promise<string | undefined> {
    if (this.#known.has(height)) return this.#known.get(height)
    if (this.#known.size >= ROOTS) this.#known.clear()
    const hash = await this.#reads.use(active).get(height)
    const header = hash && (await this.#reads.use(headers).get(hash))?.header
    const root = header && toHex(header.merkleRoot.slice().reverse())
    this.#known.set(height, root)
    return root
  }
}

/** Undefined for bytes that do not parse, which are the finding to report. */
const readable = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
