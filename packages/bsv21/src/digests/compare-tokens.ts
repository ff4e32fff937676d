/**
 * Compares the tokens of two nodes. Pages of digests are merged by token id; of a token that differs, ranges of its outputs
 * are compared until the first outputs that differ are named. Equal tokens cost one line of a page.
 */
import { formatOutpoint, formatTxid, QuoinError, sleep, type TokenId, toHex } from '@quoin/primitives'
import {
  type DigestPage,
  MAX_DIGESTED,
  MAX_UNMINED,
  type OutputRange,
  type RangeDigest,
  type StateRow,
  type TokenDigest,
  type TokenStates,
  UNMINED
} from './token-states.ts'

export type TokenDifferenceKind =
  /** One node knows the deployment, the other does not. */
  | 'token-unknown'
  /** One node has an output in the topic that the other has not, or other spenders of it. */
  | 'token-output'
  /** The outputs are equal, and the sums or holders are not: one of the stores is damaged. */
  | 'token-sums'

export interface TokenDifference {
  readonly kind: TokenDifferenceKind
  readonly token: TokenId
  /** The output; undefined of a difference of the whole token. */
  readonly outpoint: string | undefined
  readonly here: string
  readonly there: string
}

export interface TokenComparison {
  readonly token: TokenId
  /** `unindexed`: one of the nodes does not index the token. `pending`: a node still has work on it. */
  readonly result: 'equal' | 'different' | 'unindexed' | 'pending'
  readonly differences: readonly TokenDifference[]
}

export interface CompareOptions {
  /** The last token that was compared before. */
  readonly after?: TokenId | undefined
  /** Named outputs of one token at most. */
  readonly named?: number
  /** Comparisons of a token that differs, since nodes change meanwhile, and milliseconds between them. */
  readonly attempts?: number
  readonly delay?: number
  readonly signal?: AbortSignal | undefined
}

/** Tokens of a page. */
const PAGE = 100
/** Outputs of a range that is listed. */
const LISTED = 500
/** Tokens in a row that one node alone knows: a node that invents tokens is not followed further. */
const MAX_UNKNOWN = 10_000

/** Compares every token of two nodes, in the order of their ids. */
export async function* compareTokens(
  here: TokenStates,
  there: TokenStates,
  options: CompareOptions = {}
): AsyncGenerator<TokenComparison, void, undefined> {
  const { after, signal } = options
  const comparison = new Comparison(here, there, options)
  const [own, other] = [new Tokens(here, after), new Tokens(there, after)]
  let unknown = 0
  for (;;) {
    signal?.throwIfAborted()
    const [a, b] = [await own.peek(), await other.peek()]
    if (!a && !b) return
    if (a && b && a.id === b.id) {
      own.take()
      other.take()
      unknown = 0
      yield await comparison.both(a, b)
      continue
    }
    if (++unknown > MAX_UNKNOWN) throw unrelated(here, there)
    const isOwn = a !== undefined && (b === undefined || a.id < b.id)
    const { id } = (isOwn ? own : other).take()
    yield await comparison.oneSided(id)
  }
}

/** The tokens of one node, page by page. */
class Tokens {
  readonly #states: TokenStates
  #page: DigestPage = { tokens: [], hasMore: true }
  #at = 0
  #after: TokenId | undefined

  constructor(states: TokenStates, after: TokenId | undefined) {
    this.#states = states
    this.#after = after
  }

  async peek(): Promise<TokenDigest | undefined> {
    if (this.#at === this.#page.tokens.length && this.#page.hasMore) {
      this.#page = await this.#states.page(this.#after, PAGE)
      this.#at = 0
    }
    return this.#page.tokens[this.#at]
  }

  take(): TokenDigest {
    const token = this.#page.tokens[this.#at++]!
    this.#after = token.id
    return token
  }
}

class Comparison {
  readonly #here: TokenStates
  readonly #there: TokenStates
  readonly #named: number
  readonly #attempts: number
  readonly #delay: number
  readonly #signal: AbortSignal | undefined

  constructor(here: TokenStates, there: TokenStates, options: CompareOptions) {
    this.#here = here
    this.#there = there
    this.#named = options.named ?? 10
    this.#attempts = options.attempts ?? 3
    this.#delay = options.delay ?? 1000
    this.#signal = options.signal
  }

  async both(first: TokenDigest, second: TokenDigest): Promise<TokenComparison> {
    const token = first.id
    let [a, b]: (TokenDigest | undefined)[] = [first, second]
    for (let attempt = 1; ; attempt++) {
      if (!a || !b) return this.oneSided(token)
      if (a.outputs === 0 || b.outputs === 0) {
        const result = a.outputs === b.outputs ? 'equal' : 'unindexed'
        return { token, result, differences: [] }
      }
      const differences = await this.#differences(a, b)
      if (differences.length === 0) return { token, result: 'equal', differences }
      if (attempt >= this.#attempts) {
        const isPending = a.isPending || b.isPending
        return { token, result: isPending ? 'pending' : 'different', differences }
      }
      await sleep(this.#delay, { signal: this.#signal })
      a = await this.#here.token(token)
      b = await this.#there.token(token)
    }
  }

  /** A token that one page has and the other has not, or has meanwhile. */
  async oneSided(token: TokenId): Promise<TokenComparison> {
    for (let attempt = 1; ; attempt++) {
      const [a, b] = [await this.#here.token(token), await this.#there.token(token)]
      if (a && b) return this.both(a, b)
      if (!a && !b) return { token, result: 'equal', differences: [] }
      if (attempt < this.#attempts) {
        await sleep(this.#delay, { signal: this.#signal })
        continue
      }
      const [here, there] = [a, b].map(each => (each ? `${each.outputs} outputs` : 'not known')) as [
        string,
        string
      ]
      const difference = { kind: 'token-unknown', token, outpoint: undefined, here, there } as const
      return { token, result: 'different', differences: [difference] }
    }
  }

  async #differences(a: TokenDigest, b: TokenDigest): Promise<TokenDifference[]> {
    const hasSameOutputs = a.outputsDigest !== undefined && a.outputsDigest === b.outputsDigest
    const differences = hasSameOutputs ? [] : await this.#outputDifferences(a.id)
    if (differences.length > 0) return differences
    if (sumsOf(a) === sumsOf(b) && !isOther(a.holdersDigest, b.holdersDigest)) return []
    const [here, there] = [a, b].map(
      each => `${sumsOf(each)}, holders digest ${each.holdersDigest ?? 'not given'}`
    ) as [string, string]
    return [{ kind: 'token-sums', token: a.id, outpoint: undefined, here, there }]
  }

  async #outputDifferences(token: TokenId): Promise<TokenDifference[]> {
    for await (const { a, b, range } of this.#ranges(token, { from: 0, to: UNMINED }, MAX_DIGESTED, false)) {
      if (isSame(a, b)) continue
      for await (const listed of this.#ranges(token, range, LISTED, true)) {
        if (!isSame(listed.a, listed.b)) return this.#name(token, listed.a, listed.b)
      }
    }
    const unmined = { from: UNMINED, to: Number.MAX_SAFE_INTEGER, limit: LISTED, isListed: true }
    const [a, b] = [await this.#here.range(token, unmined), await this.#there.range(token, unmined)]
    // Above the limit, each node lists the outputs that it saw first, which may differ.
    const isComparable = a.outputs < MAX_UNMINED && b.outputs < MAX_UNMINED
    return isSame(a, b) || !isComparable ? [] : this.#name(token, a, b)
  }

  /** Digests of the same ranges on both nodes. */
  async *#ranges(
    token: TokenId,
    { from: first, to }: Pick<OutputRange, 'from' | 'to'>,
    limit: number,
    isListed: boolean
  ): AsyncGenerator<{ a: RangeDigest; b: RangeDigest; range: Pick<OutputRange, 'from' | 'to'> }> {
    for (let from: number | undefined = first; from !== undefined; ) {
      let a = await this.#here.range(token, { from, to, limit, isListed })
      const end: number = a.next ?? to
      const b: RangeDigest = await this.#there.range(token, { from, to: end, limit, isListed })
      if (b.next !== undefined) {
        a = await this.#here.range(token, { from, to: b.next, limit, isListed })
      }
      const next: number = b.next ?? end
      yield { a, b, range: { from, to: next } }
      from = next < to ? next : undefined
    }
  }

  #name(token: TokenId, a: RangeDigest, b: RangeDigest): TokenDifference[] {
    const there = new Map(b.rows!.map(row => [toHex(row.outpoint), row]))
    const here = new Set(a.rows!.map(({ outpoint }) => toHex(outpoint)))
    const pairs: [StateRow | undefined, StateRow | undefined][] = [
      ...a.rows!.map((row): [StateRow, StateRow | undefined] => [row, there.get(toHex(row.outpoint))]),
      ...b
        .rows!.filter(({ outpoint }) => !here.has(toHex(outpoint)))
        .map((row): [undefined, StateRow] => [undefined, row])
    ]
    return pairs
      .filter(([x, y]) => stateOf(x) !== stateOf(y))
      .slice(0, this.#named)
      .map(([x, y]) => ({
        kind: 'token-output',
        token,
        outpoint: formatOutpoint((x ?? y)!.outpoint, '_'),
        here: stateOf(x),
        there: stateOf(y)
      }))
  }
}

const stateOf = (row: StateRow | undefined): string => {
  if (!row) return 'not in the topic'
  return row.spender ? `spent by ${formatTxid(row.spender)}` : 'unspent'
}

const sumsOf = ({ minted, supply, listed, holders }: TokenDigest): string =>
  `minted ${minted}, supply ${supply}, listed ${listed}, ${holders} holders`

/** A digest that one node does not give says nothing. */
const isOther = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a !== b

const isSame = (a: RangeDigest, b: RangeDigest): boolean => a.outputs === b.outputs && a.digest === b.digest

const unrelated = (here: TokenStates, there: TokenStates): QuoinError =>
  new QuoinError(
    'ERR_SYNC_PEER',
    `of more than ${MAX_UNKNOWN} tokens in a row, ${here.name} and ${there.name} know no common one: they have different chains, or one invents tokens`
  )
