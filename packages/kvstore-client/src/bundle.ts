/**
 * Untrusted BEEF (BRC-62, BRC-96; BRC-95 when atomic): its transactions by txid. Merkle proofs are skipped, since the bytes
 * go to a wallet unchanged. `Beef` of @bsv/sdk parses a proof in quadratic time and links transactions over every path
 * between them, so that a few kilobytes can keep it busy for any time. `Bundle` reads each byte once and parses
 * transactions on demand.
 */
import { type AtomicBEEF, Beef, Hash, Transaction, Utils } from '@bsv/sdk'
import { Reader } from '@quoin/primitives'

const V1 = 0xefbe0001
const V2 = 0xefbe0002
const ATOMIC = 0x01010101

export class Bundle {
  readonly bytes: Uint8Array
  /** The subject that an Atomic BEEF names, else the txid of the last transaction. Undefined without transactions. */
  readonly subject: string | undefined
  readonly #raw = new Map<string, Uint8Array>()
  readonly #read = new Map<string, Transaction>()

  /** Throws `ERR_KV_HOST` when the bytes are not a BEEF. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    const reader = new Reader(bytes, 'ERR_KV_HOST')
    let magic = reader.u32()
    const atomic = magic === ATOMIC ? idOf(reader.bytes(32)) : undefined
    if (atomic !== undefined) magic = reader.u32()
    if (magic !== V1 && magic !== V2) throw reader.error('not a BEEF: unknown version')
    for (let bumps = reader.count(3, 'proofs'); bumps > 0; bumps--) skipBump(reader)
    let last: string | undefined
    for (let count = reader.count(10, 'transactions'); count > 0; count--) {
      const raw = magic === V1 ? readV1(reader) : readV2(reader)
      if (!raw) continue
      last = idOf(Uint8Array.from(Hash.hash256(Array.from(raw))))
      this.#raw.set(last, raw)
    }
    reader.end()
    this.subject = atomic ?? last
  }

  /** Number of transactions. */
  get size(): number {
    return this.#raw.size
  }

  /** Undefined for an unknown txid, and for one that the BEEF has only the txid of. */
  transaction(txid: string): Transaction | undefined {
    const known = this.#read.get(txid)
    const raw = known ? undefined : this.#raw.get(txid)
    if (!raw) return known
    const transaction = Transaction.fromBinary(Array.from(raw))
    this.#read.set(txid, transaction)
    return transaction
  }
}

/** Txids are displayed in reverse byte order. */
const idOf = (hash: Uint8Array): string => Utils.toHex(Array.from(hash).reverse())

const skipBump = (reader: Reader): void => {
  reader.varint()
  for (let levels = reader.u8(); levels > 0; levels--) {
    for (let leaves = reader.count(2, 'leaves'); leaves > 0; leaves--) {
      reader.varint()
      const isDoubled = (reader.u8() & 1) === 1
      if (!isDoubled) reader.skip(32)
    }
  }
}

const readV1 = (reader: Reader): Uint8Array => {
  const raw = readRaw(reader)
  if (reader.u8() !== 0) reader.varint()
  return raw
}

const readV2 = (reader: Reader): Uint8Array | undefined => {
  const form = reader.u8()
  if (form > 2) throw reader.error(`unknown transaction format ${form}: expected 0, 1 or 2`)
  if (form === 2) {
    reader.skip(32)
    return undefined
  }
  if (form === 1) reader.varint()
  return readRaw(reader)
}

const readRaw = (reader: Reader): Uint8Array => {
  const start = reader.offset
  reader.skip(4)
  for (let inputs = reader.count(41, 'inputs'); inputs > 0; inputs--) {
    reader.skip(36)
    reader.skip(reader.varint() + 4)
  }
  for (let outputs = reader.count(9, 'outputs'); outputs > 0; outputs--) {
    reader.skip(8)
    reader.skip(reader.varint())
  }
  reader.skip(4)
  return reader.since(start)
}

/** The Atomic BEEF of a transaction: the part of `beef` that is its ancestry. */
export const atomicOf = (beef: Beef, txid: string): AtomicBEEF => {
  const ancestry = new Set<string>()
  const stack = [txid]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (ancestry.has(next)) continue
    ancestry.add(next)
    stack.push(...(beef.findTxid(next)?.inputTxids ?? []))
  }
  const own = new Beef(beef.version)
  own.txs = beef.txs.filter(each => ancestry.has(each.txid))
  const used = [...new Set(own.txs.map(({ bumpIndex }) => bumpIndex))].filter(index => index !== undefined)
  own.bumps = used.map(index => beef.bumps[index]!)
  for (const each of own.txs) if (each.bumpIndex !== undefined) each.bumpIndex = used.indexOf(each.bumpIndex)
  return own.toBinaryAtomic(txid)
}
