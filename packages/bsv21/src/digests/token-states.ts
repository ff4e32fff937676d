/**
 * The states of tokens as digests, so that two nodes can be compared at little cost. A node gives them of its own store
 * (`StoredStates`) and over HTTP (`RemoteStates`).
 *
 * The state of a token is its sums, its holders, and the outputs in its topic with their spenders. Mined outputs have one
 * order on every node, that of their positions in the chain: ranges of it have digests of their own.
 */
import type { Outpoint, TokenId, Txid } from '@quoin/primitives'

export interface TokenDigest {
  readonly id: TokenId
  readonly minted: bigint
  readonly supply: bigint
  readonly listed: bigint
  /** Number of holders. */
  readonly holders: number
  /** Number of outputs in the topic, spent or not; 0 of a token that is not indexed. */
  readonly outputs: number
  /** SHA-256 of all outputs with their spenders; undefined of a token with too many for one answer, which has ranges. */
  readonly outputsDigest: string | undefined
  /** SHA-256 of all holders with their amounts; undefined likewise. */
  readonly holdersDigest: string | undefined
  /** Whether the node still has work on the token. */
  readonly isPending: boolean
}

export interface DigestPage {
  /** In ascending order of the text of their ids, which is the order of keys. */
  readonly tokens: readonly TokenDigest[]
  readonly hasMore: boolean
}

export interface OutputRange {
  /** The least score. */
  readonly from: number
  /** The score after the greatest one. */
  readonly to: number
  /** Outputs of the range at most; outputs of one score stay together. */
  readonly limit: number
  /** Whether the outputs are listed. */
  readonly isListed: boolean
}

export interface StateRow {
  readonly outpoint: Outpoint
  readonly spender: Txid | undefined
}

export interface RangeDigest {
  readonly outputs: number
  readonly digest: string
  /** The score at which the limit ended the range; undefined at its end. */
  readonly next: number | undefined
  /** In the order of the range; undefined unless listed. */
  readonly rows: readonly StateRow[] | undefined
}

export interface TokenStates {
  readonly name: string
  /** Tokens after an id. */
  page(after: TokenId | undefined, limit: number): Promise<DigestPage>
  /** Undefined of a token that is not known. */
  token(id: TokenId): Promise<TokenDigest | undefined>
  range(token: TokenId, range: OutputRange): Promise<RangeDigest>
}

/** Scores from here on are seconds: of unmined transactions, whose order differs between nodes. */
export const UNMINED = 500_000_000
/** Unmined outputs of one token that are compared. */
export const MAX_UNMINED = 10_000
/** Outputs, and holders, that one answer digests. */
export const MAX_DIGESTED = 10_000
