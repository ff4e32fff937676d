/**
 * The ledger of token outputs (D11). For each token: the minted amount, the supply, and the part of it that is listed or
 * under a contract. For each holder: balances by lock. Outputs count while the topic of their token has them. The difference
 * of minted amount and supply is burned.
 */
import { parseAddress } from '@quoin/chain'
import { memoize, parseOutpoint, type TokenId } from '@quoin/primitives'
import type { AmountLedger, Bsv21Data, LedgerPosting } from '@quoin/txo'
import { mintedAmount, transferableAmount } from './rules.ts'
import { lockOfEvents } from './token-lock.ts'
import { tokenOfTopic } from './topic-names.ts'

export const tokenLedger: AmountLedger = ({ topics, events, isSpent, data }) => {
  const token = topics.map(tokenOfTopic).find(each => each !== undefined)
  if (token === undefined) return NONE
  const claim = data('bsv21') as Bsv21Data | undefined
  if (claim?.id !== token || claim.amt === undefined) return NONE
  const { op } = claim
  const amt = BigInt(claim.amt)
  const postings: LedgerPosting[] = []
  const book = bookOf(token)
  const minted = mintedAmount({ op, amt }) + BigInt((data(MINTED) as string | undefined) ?? 0)
  if (minted > 0n) postings.push({ book, account: undefined, name: 'minted', amount: minted, outputs: 0 })
  const amount = isSpent ? 0n : transferableAmount({ op, amt })
  if (amount > 0n) postings.push(...held(token, events, amount))
  return postings
}

/** The tag of the minted amount that a binary value stands for, as decimal text. */
export const MINTED = 'bsv21-minted'

const NONE: readonly LedgerPosting[] = []
const bookOf = memoize(10_000, (token: TokenId) => parseOutpoint(token))
const accountOf = memoize(100_000, (address: string) => parseAddress(address).hash)

const held = (token: TokenId, events: readonly string[], amount: bigint): LedgerPosting[] => {
  const book = bookOf(token)
  const { lock, holder } = lockOfEvents(events, token)
  const postings: LedgerPosting[] = [{ book, account: undefined, name: 'supply', amount, outputs: 0 }]
  if (lock === 'list' || lock === 'ltm' || lock === 'pow20') {
    postings.push({ book, account: undefined, name: lock, amount, outputs: 1 })
  }
  if (holder !== undefined) {
    postings.push({ book, account: accountOf(holder), name: lock, amount, outputs: 1 })
  }
  return postings
}
