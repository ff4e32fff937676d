/** The state of tokens as a store has it, in the form of the specification. */
import { parseAddress, type Transaction } from '@quoin/chain'
import { formatOutpoint, type TokenId } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { inOrder, type SpecifiedToken, specifiedState } from './specification.testing.ts'
import { HOLDER_LOCKS } from './token-lock.ts'
import { type Holder, Tokens } from './tokens.ts'
import { topicOf } from './topic-names.ts'

const ALL = 10_000

export const storedState = async (
  outputs: OutputStore,
  tokens: Iterable<string>
): Promise<Record<string, SpecifiedToken>> => {
  const found: Record<string, SpecifiedToken> = {}
  for (const token of tokens) found[token] = await storedToken(outputs, token as TokenId)
  return found
}

const storedToken = async (outputs: OutputStore, token: TokenId): Promise<SpecifiedToken> => {
  const tokens = new Tokens(outputs)
  const { minted, supply, burned, listed, holders: count } = await tokens.totals(token)
  const { holders } = await tokens.holders(token, { limit: ALL })
  if (holders.length !== count) throw new Error(`${token} has ${count} holders, and ranks ${holders.length}`)
  const balances: [string, bigint][] = []
  for (const { address, locks } of holders) {
    for (const lock of HOLDER_LOCKS)
      if (locks[lock]) balances.push([`${lock}:${address}`, locks[lock].amount])
  }
  const keys = [`tp:${topicOf(token)}`]
  const all = await outputs.search({ keys, limit: ALL })
  const unspent = await outputs.search({ keys, filterSpent: true, limit: ALL })
  const names = (rows: typeof all.rows): string[] =>
    rows.map(({ outpoint }) => formatOutpoint(outpoint, '_')).sort()
  await checkCounts(outputs, token, balances)
  await checkHoldings(tokens, token, holders)
  return {
    minted,
    supply,
    burned,
    listed,
    balances: Object.fromEntries(balances.sort(([a], [b]) => (a < b ? -1 : 1))),
    holders: holders.map(({ address, amount }) => [address, amount]),
    outputs: names(all.rows),
    unspent: names(unspent.rows)
  }
}

/** The events agree with the accounts: what is found by an event carries what the account has. */
const checkCounts = async (
  outputs: OutputStore,
  token: TokenId,
  balances: readonly [string, bigint][]
): Promise<void> => {
  for (const [holder, amount] of balances) {
    const { rows } = await outputs.searchOutputs({
      keys: [`${holder}:${token}`],
      filterSpent: true,
      limit: ALL,
      includeTags: ['bsv21']
    })
    const sum = rows.reduce(
      (total, { data }) => total + BigInt((data!['bsv21'] as { amt?: string }).amt ?? 0),
      0n
    )
    if (sum !== amount) throw new Error(`${holder} has ${amount} of ${token}, and outputs with ${sum}`)
  }
}

/** What is asked by holder is what is asked by token. */
const checkHoldings = async (tokens: Tokens, token: TokenId, holders: readonly Holder[]): Promise<void> => {
  for (const { address, amount } of holders) {
    const { holdings } = await tokens.holdings(address, { limit: ALL })
    const found = holdings.find(({ id }) => id === token)
    if (found?.amount !== amount)
      throw new Error(`${address} has ${amount} of ${token}, found ${found?.amount}`)
  }
}

/** Holders in the order of the ranking. */
export const ranked = (state: Record<string, SpecifiedToken>, hashOf: (address: string) => Uint8Array) =>
  Object.fromEntries(
    Object.entries(state).map(([id, token]) => [
      id,
      {
        ...token,
        holders: [...token.holders].sort(([a, x], [b, y]) =>
          x === y ? Buffer.compare(hashOf(a), hashOf(b)) : x > y ? -1 : 1
        )
      }
    ])
  )

/** The state that the specification gives for tokens after a history. */
export const expectedState = (
  history: readonly Transaction[],
  tokens: Iterable<string>
): Record<string, SpecifiedToken> => {
  const specified = ranked(specifiedState(inOrder(history)), address => parseAddress(address).hash)
  return Object.fromEntries([...tokens].map(token => [token, specified[token] ?? NOTHING]))
}

const NOTHING: SpecifiedToken = {
  minted: 0n,
  supply: 0n,
  burned: 0n,
  listed: 0n,
  balances: {},
  holders: [],
  outputs: [],
  unspent: []
}
