/**
 * The transactions of a BEEF (BRC-62, BRC-96; BRC-95 when it is atomic) that a stranger sent, by txid. Proofs are passed
 * over: who uses a transaction passes them on to a wallet, as they came. The reader of @bsv/sdk takes time with the square
 * of what a proof covers, and links transactions over every path between them: a few kilobytes keep it busy for as long
 * as one likes. Here everything is read once, and transactions when they are asked for.
 */
import { type AtomicBEEF, Beef, Hash, Transaction, Utils } from '@bsv/sdk'
import { Reader } from '@quoin/primitives'

const V1 = 0xefbe0001
const V2 = 0xefbe0002
const ATOMIC = 0x01010101

export class Bundle {
  readonly bytes: Uint8Array
  /** What it is about: what an atomic BEEF says, or else the last transaction. Undefined when there is none. */
  readonly subject: string | undefined
  readonly #raw = new Map<string, Uint8Array>()
  readonly #read = new Map<string, Transaction>()

  /** Throws `ERR_KV_HOST` when the bytes are no BEEF. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    const reader = new Reader(bytes, 'ERR_KV_HOST')
    let magic = reader.u32()
    const atomic = magic === ATOMIC ? idOf(reader.bytes(32)) : undefined
    if (atomic !== undefined) magic = reader.u32()
    if (magic !== V1 && magic !== V2) throw reader.error('the bytes are no BEEF')
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

  /** How many there are. */
  get size(): number {
    return this.#raw.size
  }

  /** Undefined when it is not there, or only its txid is. */
  transaction(txid: string): Transaction | undefined {
    const known = this.#read.get(txid)
    const raw = known ? undefined : this.#raw.get(txid)
    if (!raw) return known
    const transaction = Transaction.fromBinary(Array.from(raw))
    this.#read.set(txid, transaction)
    return transaction
  }
}

/** Txids are shown in the other direction. */
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
  if (form > 2) throw reader.error(`a transaction of form ${form}`)
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

/** What a wallet knows of a transaction: it and what it stands on, and nothing else that the wallet knows. */
export const atomicOf = (beef: Beef, txid: string): AtomicBEEF => {
  const wanted = new Set<string>()
  const waiting = [txid]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (wanted.has(next)) continue
    wanted.add(next)
    waiting.push(...(beef.findTxid(next)?.inputTxids ?? []))
  }
  const own = new Beef(beef.version)
  own.txs = beef.txs.filter(each => wanted.has(each.txid))
  const used = [...new Set(own.txs.map(({ bumpIndex }) => bumpIndex))].filter(index => index !== undefined)
  own.bumps = used.map(index => beef.bumps[index]!)
  for (const each of own.txs) if (each.bumpIndex !== undefined) each.bumpIndex = used.indexOf(each.bumpIndex)
  return own.toBinaryAtomic(txid)
}
