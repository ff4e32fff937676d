/**
 * Anchors in short, an extension between Quoin nodes. The client knows the block hashes and most of the transactions: the
 * roots of a range, the first bytes of the admitted txids and the last anchor are enough to verify it, in a fifth of the
 * bytes. What does not verify is requested again in the form of BRC-136.
 */
import { formatHash, parseHash } from '@quoin/chain'
import { equalBytes, type Topic, type Txid, toHex } from '@quoin/primitives'
import { fieldsOf, isHex, nonsense } from '../gasp/fields.ts'
import type { TopicAnchors } from './topic-anchors.ts'
import { type AdmittedTransaction, type TopicAnchor, tacAfter, ZERO_HASH } from './tree.ts'

/** Bytes of a txid in a short list. */
const PREFIX = 4
/** The most heights, and the most transactions, of a short range. */
const MAX_HEIGHTS = 256
const MAX_LISTED = 100_000

/** The first bytes of a txid, in hexadecimal. */
export const prefixOf = (txid: Txid): string => toHex(txid.subarray(0, PREFIX))

interface ShortRange {
  /** Empty for a block without admitted transactions. */
  readonly roots: readonly string[]
  /** The prefixes of each block, in block order. */
  readonly prefixes: readonly string[]
  /** The anchor of the last block. */
  readonly tac: string
}

/** A range in short; undefined if it is empty, or too large for that. */
export const shortRange = async (
  anchors: TopicAnchors,
  topic: Topic,
  range: readonly TopicAnchor[]
): Promise<ShortRange | undefined> => {
  const [first, last] = [range[0], range.at(-1)]
  const listed = range.reduce((sum, { count }) => sum + count, 0)
  if (!first || !last || range.length > MAX_HEIGHTS || listed > MAX_LISTED) return undefined
  const admitted = await anchors.admittedBetween(topic, first.height, last.height)
  return {
    roots: range.map(({ root }) => (equalBytes(root, ZERO_HASH) ? '' : formatHash(root))),
    prefixes: range.map(({ height }) =>
      (admitted.get(height) ?? []).map(({ txid }) => prefixOf(txid)).join('')
    ),
    tac: formatHash(last.tac)
  }
}

/** A block of a peer, with the prefixes of its admitted txids if they are known. */
export interface ListedAnchor extends TopicAnchor {
  readonly prefixes?: readonly string[]
}

/**
 * The anchors of a short range over the blocks of this node, chained to the hash before them; undefined if the answer is
 * not in short, or does not lead to the anchor of the peer: it is on other blocks then.
 */
export const readShortRange = (
  given: unknown,
  own: readonly TopicAnchor[],
  before: Uint8Array
): ListedAnchor[] | undefined => {
  const { short } = fieldsOf(given, nonsense)
  if (short === undefined) return undefined
  const { roots, prefixes, tac: last } = fieldsOf(short, nonsense)
  if (!Array.isArray(roots) || !Array.isArray(prefixes))
    throw nonsense('short', 'lists of roots and prefixes')
  if (roots.length !== own.length || prefixes.length !== own.length) return undefined
  let tac = before
  const anchors = own.map(({ height, blockHash }, i): ListedAnchor => {
    const [root, listed] = [rootFrom(roots[i]), prefixesFrom(prefixes[i])]
    tac = tacAfter(tac, blockHash, root)
    return { height, blockHash, root, count: listed.length, tac, prefixes: listed }
  })
  return formatHash(tac) === last ? anchors : undefined
}

const rootFrom = (given: unknown): Uint8Array => {
  if (given === '') return ZERO_HASH
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) throw nonsense('roots', 'a list of hashes')
  return parseHash(given)
}

const prefixesFrom = (given: unknown): string[] => {
  if (given === '') return []
  if (!isHex(given) || given.length % (2 * PREFIX) !== 0) throw nonsense('prefixes', 'lists of prefixes')
  return given.toLowerCase().match(/.{8}/g) ?? []
}

/** The transactions of this node with the prefixes of a peer, in the order of the peer. */
export const matchPrefixes = (
  prefixes: readonly string[],
  own: readonly AdmittedTransaction[]
): (AdmittedTransaction | undefined)[] => {
  const byPrefix = new Map(own.map(each => [prefixOf(each.txid), each]))
  return prefixes.map(prefix => byPrefix.get(prefix))
}
