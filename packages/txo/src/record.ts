/**
 * The record of a transaction: when it was first seen, its block position, the topics it was applied to, and the
 * outputs it spends. A spend has the events of the output that the output lacks, because it is not indexed: a rollback
 * of the spend removes them.
 *
 * `revision (4) ‖ outputs (4) ‖ has a position (1) ‖ seen (8) ‖ [position (12)] ‖ topics (2) ‖ … ‖ spends (4) ‖ …`,
 * big-endian. A topic is its length (1) and text; a spend is the outpoint (36), the number of its events (2), and each
 * as length (2) and text.
 */

import { value } from '@quoin/keyspace'

import { encodeText, type Outpoint, QuoinError, type Topic } from '@quoin/primitives'
import { type BlockPosition, blockPosition } from './position.ts'

export interface SpendRecord {
  readonly outpoint: Outpoint
  /** Events of the output that its own state lacks, sorted. */
  readonly events: readonly string[]
}

export interface TransactionRecord {
  /** Counts the commits that changed the transaction: the condition of the next one. */
  readonly revision: number
  /** Unix seconds. */
  readonly seen: number
  readonly position?: BlockPosition | undefined
  /** The number of its outputs, as far as a writer gave it. */
  readonly vouts: number
  /** Sorted. */
  readonly topics: readonly Topic[]
  /** In the order of the outpoints. */
  readonly spends: readonly SpendRecord[]
}

/** Bytes before the optional fields. */
const HEAD = 17
const POSITION = 12
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const encode = ({ revision, seen, position, vouts, topics, spends }: TransactionRecord): Uint8Array => {
  const texts = [topics.map(encodeText), ...spends.map(({ events }) => events.map(encodeText))]
  const bytes = new Uint8Array(
    HEAD +
      (position ? POSITION : 0) +
      2 +
      sum(texts[0]!, 1) +
      4 +
      spends.length * 38 +
      texts.slice(1).reduce((total, events) => total + sum(events, 2), 0)
  )
  const view = new DataView(bytes.buffer)
  view.setUint32(0, revision)
  view.setUint32(4, vouts)
  view.setUint8(8, position ? 1 : 0)
  view.setFloat64(9, seen)
  let at = HEAD
  if (position) {
    bytes.set(blockPosition.codec.encode(position), at)
    at += POSITION
  }
  view.setUint16(at, topics.length)
  at += 2
  for (const topic of texts[0]!) {
    view.setUint8(at, topic.length)
    bytes.set(topic, at + 1)
    at += 1 + topic.length
  }
  view.setUint32(at, spends.length)
  at += 4
  for (const [i, { outpoint }] of spends.entries()) {
    const events = texts[i + 1]!
    bytes.set(outpoint, at)
    view.setUint16(at + 36, events.length)
    at += 38
    for (const event of events) {
      view.setUint16(at, event.length)
      bytes.set(event, at + 2)
      at += 2 + event.length
    }
  }
  return bytes
}

const sum = (texts: readonly Uint8Array[], width: number): number =>
  texts.reduce((total, text) => total + width + text.length, 0)

const decode = (bytes: Uint8Array): TransactionRecord => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = HEAD
  const text = (length: number): string => {
    at += length
    if (at > bytes.length) throw new RangeError('text')
    return decoder.decode(bytes.subarray(at - length, at))
  }
  const count = (width: 1 | 2 | 4): number => {
    at += width
    return width === 4 ? view.getUint32(at - 4) : width === 2 ? view.getUint16(at - 2) : view.getUint8(at - 1)
  }
  try {
    const revision = view.getUint32(0)
    const vouts = view.getUint32(4)
    const hasPosition = view.getUint8(8) === 1
    const seen = view.getFloat64(9)
    if (hasPosition) at += POSITION
    const position = hasPosition ? readPosition(bytes) : undefined
    const topics = Array.from({ length: count(2) }, () => text(count(1)) as Topic)
    const spends: SpendRecord[] = []
    for (let left = count(4); left > 0; left--) {
      at += 36
      const outpoint = bytes.slice(at - 36, at) as Outpoint
      spends.push({ outpoint, events: Array.from({ length: count(2) }, () => text(count(2))) })
    }
    if (at !== bytes.length) throw new RangeError('rest')
    return { revision, seen, position, vouts, topics, spends }
  } catch (cause) {
    throw damaged(bytes, cause)
  }
}

/** The fields that the score depends on, without decoding the others. */
export const recordPlace = (bytes: Uint8Array): Pick<TransactionRecord, 'seen' | 'position'> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < HEAD) throw damaged(bytes)
  const position = view.getUint8(8) === 1 ? readPosition(bytes) : undefined
  return { seen: view.getFloat64(9), position }
}

const readPosition = (bytes: Uint8Array): BlockPosition => {
  if (bytes.length < HEAD + POSITION) throw damaged(bytes)
  return blockPosition.codec.decode(bytes.subarray(HEAD, HEAD + POSITION))
}

const damaged = (bytes: Uint8Array, cause?: unknown): QuoinError =>
  new QuoinError('ERR_VALUE_DECODE', 'the record of a transaction is corrupt', {
    bytes: bytes.length,
    cause
  })

export const transactionRecord = value<TransactionRecord>({ name: 'record', encode, decode })
