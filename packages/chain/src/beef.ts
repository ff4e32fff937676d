/**
 * BEEF, transactions with their merkle paths: BRC-62 (V1), BRC-96 (V2, with txid-only entries) and BRC-95 (Atomic, one
 * subject and its ancestry). Parsing is bounded by limits and linear in the bytes for any shape of ancestry. It checks
 * structure alone; `verifyBeef` verifies.
 */

import { bytesKey, copyOfPart, formatTxid, QuoinError, Reader, type Txid, Writer } from '@quoin/primitives'
import { ancestryOf, parentsAmong, parentsFirst } from './ancestry.ts'
import { Bump } from './merkle/bump.ts'
import { readTransaction, type Transaction } from './transaction.ts'
import { TxidIndex } from './txid-index.ts'

export interface BeefTransaction {
  readonly txid: Txid
  /** Undefined for a txid-only entry, which the receiver knows. */
  readonly transaction: Transaction | undefined
  /** Merkle path of the transaction. */
  readonly bump: Bump | undefined
}

export interface BeefLimits {
  readonly bytes: number
  readonly transactions: number
  readonly bumps: number
  /** Nodes of all bumps together. */
  readonly merkleNodes: number
  /** Inputs of all transactions together. */
  readonly inputs: number
}

export const BEEF_LIMITS: BeefLimits = {
  bytes: 32 * 1024 * 1024,
  transactions: 100_000,
  bumps: 10_000,
  merkleNodes: 500_000,
  inputs: 1_000_000
}

/** Version words, little-endian: `0100beef`, `0200beef` and `01010101` on the wire. */
const V1 = 0xefbe0001
const V2 = 0xefbe0002
const ATOMIC = 0x01010101

/** Format byte before a V2 transaction. In V1 the first two values follow the transaction. */
const RAW = 0
const RAW_WITH_BUMP = 1
const TXID_ONLY = 2

/** Bytes of the smallest bump: a height, a depth, a count and one leaf. */
const LEAST_BUMP = 37
/** Bytes of the smallest entry: a format byte and an empty transaction. */
const LEAST_TRANSACTION = 11

export class Beef {
  readonly version: 1 | 2
  readonly atomic: boolean
  readonly bumps: readonly Bump[]
  /** Parents before children, else in the order of the bytes. */
  readonly transactions: readonly BeefTransaction[]
  /** Subject: named by an Atomic BEEF, else the last transaction. */
  readonly subject: Txid
  readonly #sent: readonly BeefTransaction[]
  readonly #places: TxidIndex
  #bytes: Uint8Array | undefined

  /** Transactions and bumps are views of the bytes, which must not change afterwards. */
  static parse(bytes: Uint8Array, limits: Partial<BeefLimits> = {}): Beef {
    return readBeef(bytes, { ...BEEF_LIMITS, ...limits })
  }

  /** Parses bytes, unless they are parsed already. */
  static from(beef: Uint8Array | Beef): Beef {
    return beef instanceof Beef ? beef : Beef.parse(beef)
  }

  /** A BEEF of parsed transactions. The last is the subject, and the others are its ancestors. */
  static of(given: readonly BeefTransaction[]): Beef {
    const transactions = sorted(given, parentsAmong(given, placesOf(given)))
    const bumps = new Set(transactions.flatMap(({ bump }) => bump ?? []))
    return new Beef({ version: 1, subject: undefined, bumps: [...bumps], transactions, bytes: undefined })
  }

  /** @internal */
  constructor({ version, subject, bumps, transactions, bytes }: BeefContent) {
    this.version = version
    this.atomic = subject !== undefined
    this.bumps = bumps
    this.#sent = transactions
    this.#places = placesOf(transactions)
    this.#bytes = bytes
    this.subject = subject ?? transactions.at(-1)!.txid
    this.transactions = this.#inOrder()
  }

  /** Bytes that were parsed, or the serialized form. */
  get bytes(): Uint8Array {
    this.#bytes ??= writeBeef({ version: 1, transactions: this.transactions })
    return this.#bytes
  }

  find(txid: Txid): BeefTransaction | undefined {
    const place = this.#places.of(txid)
    return place === undefined ? undefined : this.#sent[place]
  }

  #inOrder(): readonly BeefTransaction[] {
    const parents = parentsAmong(this.#sent, this.#places)
    if (this.atomic) checkAtomic(this.subject, this.#sent, this.#places, parents)
    let ordered = true
    for (const [place, { txid, bump }] of this.#sent.entries()) {
      if (parents[place]!.every(parent => parent < place)) continue
      // Parents of a proved transaction may stand anywhere, since verification does not need them.
      if (!bump) throw beefError('transaction before its parent', { txid: formatTxid(txid) })
      ordered = false
    }
    return ordered ? this.#sent : sorted(this.#sent, parents)
  }
}

interface BeefContent {
  readonly version: 1 | 2
  /** Subject of an Atomic BEEF. */
  readonly subject: Txid | undefined
  readonly bumps: readonly Bump[]
  readonly transactions: readonly BeefTransaction[]
  readonly bytes: Uint8Array | undefined
}

const readBeef = (bytes: Uint8Array, limits: BeefLimits): Beef => {
  within(limits, 'bytes', bytes.length)
  const reader = new Reader(bytes, 'ERR_BEEF_FORMAT')
  let magic = reader.u32()
  const subject = magic === ATOMIC ? (reader.bytes(32) as Txid) : undefined
  if (subject) magic = reader.u32()
  if (magic !== V1 && magic !== V2) throw reader.error('invalid BEEF: unknown version')
  const bumps = readBumps(reader, limits)
  const transactions = readTransactions(reader, bumps, magic === V1 ? readV1 : readV2, limits)
  reader.end()
  return new Beef({ version: magic === V1 ? 1 : 2, subject, bumps, transactions, bytes })
}

type ReadEntry = (reader: Reader, bumps: readonly Bump[]) => BeefTransaction

const readTransactions = (
  reader: Reader,
  bumps: readonly Bump[],
  readEntry: ReadEntry,
  limits: BeefLimits
): BeefTransaction[] => {
  const count = reader.count(LEAST_TRANSACTION, 'transactions')
  within(limits, 'transactions', count)
  if (count === 0) throw reader.error('BEEF without a transaction')
  const transactions: BeefTransaction[] = []
  let inputs = 0
  for (let i = 0; i < count; i++) {
    const entry = readEntry(reader, bumps)
    inputs += entry.transaction?.inputCount ?? 0
    within(limits, 'inputs', inputs)
    if (entry.bump && !entry.bump.proves(entry.txid)) {
      throw reader.error('bump that does not prove its transaction', { txid: formatTxid(entry.txid) })
    }
    transactions.push(entry)
  }
  return transactions
}

const readV1: ReadEntry = (reader, bumps) => {
  const transaction = readTransaction(reader)
  const format = reader.u8()
  if (format > RAW_WITH_BUMP) throw reader.error('unknown transaction format', { format })
  const bump = format === RAW_WITH_BUMP ? readBumpIndex(reader, bumps) : undefined
  return { txid: transaction.txid, transaction, bump }
}

const readV2: ReadEntry = (reader, bumps) => {
  const format = reader.u8()
  if (format > TXID_ONLY) throw reader.error('unknown transaction format', { format })
  if (format === TXID_ONLY) {
    return { txid: reader.bytes(32) as Txid, transaction: undefined, bump: undefined }
  }
  const bump = format === RAW_WITH_BUMP ? readBumpIndex(reader, bumps) : undefined
  const transaction = readTransaction(reader)
  return { txid: transaction.txid, transaction, bump }
}

const readBumpIndex = (reader: Reader, bumps: readonly Bump[]): Bump => {
  const index = reader.varint()
  const bump = bumps[index]
  if (bump === undefined) throw reader.error('invalid bump index', { index, bumps: bumps.length })
  return bump
}

export interface BeefParts {
  readonly version: 1 | 2
  /** Subject of an Atomic BEEF. */
  readonly atomic?: Txid
  readonly transactions: readonly BeefTransaction[]
}

/**
 * Serializes transactions, parents first and else in the given order: the subject belongs at the end. Merkle paths of
 * one block become one bump, which proves only the entries given with a bump.
 */
export const writeBeef = ({ version, atomic, transactions }: BeefParts): Uint8Array => {
  const places = placesOf(transactions)
  const parents = parentsAmong(transactions, places)
  if (atomic) checkAtomic(atomic, transactions, places, parents)
  const entries = sorted(transactions, parents)
  const { bumps, indexes } = mergedBumps(entries)
  const writer = Writer.ofAnySize()
  if (atomic) {
    writer.u32(ATOMIC)
    writer.bytes(atomic)
  }
  writer.u32(version === 1 ? V1 : V2)
  writer.varint(bumps.length)
  for (const bump of bumps) bump.write(writer)
  writer.varint(entries.length)
  for (const { txid, transaction, bump } of entries) {
    if (transaction === undefined) {
      if (version === 1)
        throw beefError('BEEF V1 cannot hold a txid alone: expected the transaction, or V2', {
          txid: formatTxid(txid)
        })
      writer.u8(TXID_ONLY)
      writer.bytes(txid)
      continue
    }
    if (version === 1) writer.bytes(transaction.raw)
    writer.u8(bump ? RAW_WITH_BUMP : RAW)
    if (bump) writer.varint(indexes?.get(bump) ?? 0)
    if (version === 2) writer.bytes(transaction.raw)
  }
  return writer.finish(copyOfPart)
}

/** One merged bump per block, and for each bump of the entries its index among the merged ones. */
const mergedBumps = (
  entries: readonly BeefTransaction[]
): { bumps: readonly Bump[]; indexes?: ReadonlyMap<Bump, number> } => {
  const given = entries.filter(({ bump, transaction }) => bump && transaction)
  const first = given[0]?.bump
  if (first && given.every(({ bump }) => bump === first)) {
    return { bumps: [first.provingOnly(given.map(({ txid }) => txid))] }
  }
  const proved = new Map<Bump, Txid[]>()
  for (const { txid, bump } of given) {
    const txids = proved.get(bump!)
    if (txids) txids.push(txid)
    else proved.set(bump!, [txid])
  }
  const atHeight = new Map<number, number>()
  for (const { height } of proved.keys()) atHeight.set(height, (atHeight.get(height) ?? 0) + 1)
  const blocks = new Map<string, { readonly index: number; readonly bumps: Bump[] }>()
  const indexes = new Map<Bump, number>()
  for (const [bump, txids] of proved) {
    const { height } = bump
    // Only a reorg gives two blocks of one height; then the root tells them apart.
    const key = atHeight.get(height) === 1 ? `${height}` : `${height} ${bump.depth} ${bytesKey(bump.root)}`
    const block = blocks.get(key) ?? { index: blocks.size, bumps: [] }
    blocks.set(key, block)
    block.bumps.push(bump.provingOnly(txids))
    indexes.set(bump, block.index)
  }
  return { bumps: Array.from(blocks.values(), block => Bump.merge(block.bumps)), indexes }
}

const readBumps = (reader: Reader, limits: BeefLimits): Bump[] => {
  const count = reader.count(LEAST_BUMP, 'bumps')
  within(limits, 'bumps', count)
  const bumps: Bump[] = []
  let room = limits.merkleNodes
  for (let i = 0; i < count; i++) {
    const bump = Bump.read(reader, room)
    room -= bump.size
    bumps.push(bump)
  }
  return bumps
}

const placesOf = (entries: readonly BeefTransaction[]): TxidIndex => {
  const places = new TxidIndex(entries.map(({ txid }) => txid))
  for (const [place, { txid }] of entries.entries()) {
    if (places.of(txid) !== place) throw beefError('duplicate transaction', { txid: formatTxid(txid) })
  }
  return places
}

const sorted = (
  entries: readonly BeefTransaction[],
  parents: readonly (readonly number[])[]
): readonly BeefTransaction[] => {
  if (parents.every((of, place) => of.every(parent => parent < place))) return entries
  const order = parentsFirst(parents)
  if (order === undefined) throw beefError('cycle of transactions')
  return order.map(place => entries[place]!)
}

/** BRC-95: the subject is present and all other transactions are its ancestors, needed for the proof or not. */
const checkAtomic = (
  subject: Txid,
  entries: readonly BeefTransaction[],
  places: TxidIndex,
  parents: readonly (readonly number[])[]
): void => {
  const place = places.of(subject)
  if (place === undefined || entries[place]!.transaction === undefined) {
    throw beefError('Atomic BEEF without its subject', { txid: formatTxid(subject) })
  }
  const stranger = ancestryOf(place, parents).indexOf(0)
  if (stranger >= 0) {
    throw beefError('Atomic BEEF with a transaction that is not an ancestor of its subject', {
      txid: formatTxid(entries[stranger]!.txid)
    })
  }
}

const within = (limits: BeefLimits, name: keyof BeefLimits, given: number): void => {
  if (given <= limits[name]) return
  throw new QuoinError('ERR_BEEF_LIMIT', `a BEEF of more than ${limits[name]} ${name}`, {
    limit: name,
    most: limits[name],
    given
  })
}

const beefError = (message: string, details: Record<string, unknown> = {}): QuoinError =>
  new QuoinError('ERR_BEEF_FORMAT', message, details)
