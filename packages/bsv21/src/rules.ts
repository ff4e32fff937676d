/**
 * The rules of BSV21 (D11): which outputs of a transaction are good, for one token, given the outputs of that token
 * which it spends and which are good themselves.
 *
 * A deployment is always good. Transfers and burns are good, all or none of them, when the amounts that come in cover
 * them; what comes in beyond that is burned. Mints and auths are good, all or none of them, when an auth comes in; an
 * auth is no amount, and an amount no auth. A burn carries nothing: who spends one brings nothing in.
 *
 * Amounts are from 1 to 2^64 − 1 each, but not so their sums: these are exact, however large.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type TokenId } from '@quoin/primitives'
import { type Bsv21, type Bsv21Operation, decodeBsv21 } from '@quoin/txo'

/** Why outputs of a token are not good. */
export type Refusal = 'insufficient' | 'unauthorized'

export interface TokenEvaluation {
  /** Indexes of the outputs that are good, in order. */
  readonly good: readonly number[]
  /** Why the others of the token are not, by their indexes. */
  readonly refused: ReadonlyMap<number, Refusal>
  /** What comes in. */
  readonly input: bigint
  /** What goes out in good transfers. */
  readonly output: bigint
  /** What comes in and is gone: in good burns, and whatever no transfer takes up. */
  readonly burned: bigint
  /** What good mints and the deployment make. */
  readonly minted: bigint
}

/** What an operation does to amounts. */
const CARRYING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint', 'transfer'])
const AUTHORISING: ReadonlySet<Bsv21Operation> = new Set(['deploy+auth', 'auth'])
const MINTING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint'])

/** The amount that whoever holds an output can pass on. */
export const transferableAmount = ({ op, amt }: Pick<Bsv21, 'op' | 'amt'>): bigint =>
  CARRYING.has(op) ? (amt ?? 0n) : 0n

/** The amount that was not there before an output. */
export const mintedAmount = ({ op, amt }: Pick<Bsv21, 'op' | 'amt'>): bigint =>
  MINTING.has(op) ? (amt ?? 0n) : 0n

export const isDeployment = ({ op }: Pick<Bsv21, 'op'>): boolean =>
  op === 'deploy+mint' || op === 'deploy+auth'

/** Whether a transaction is for the discovery topic: what deploys a token, and what has none, but may spend some. */
export const isForDiscovery = (claims: readonly Pick<Bsv21, 'op'>[]): boolean =>
  claims.length === 0 || claims.some(isDeployment)

/** What is claimed of a token, by the index of the output that does. */
export type TokenOutputs = ReadonlyMap<number, Bsv21>

/** The outputs of a transaction that claim to be of BSV21 tokens; of one token, if told. */
export const tokenOutputs = (transaction: Transaction, token?: TokenId): TokenOutputs => {
  const claims = read.get(transaction) ?? readTokenOutputs(transaction)
  read.set(transaction, claims)
  return token === undefined ? claims : new Map([...claims].filter(([, { id }]) => id === token))
}

/** Every token of a transaction is judged for itself, and its scripts say the same each time. */
const read = new WeakMap<Transaction, TokenOutputs>()

const readTokenOutputs = ({ txid, outputs }: Transaction): TokenOutputs => {
  const claims = new Map<number, Bsv21>()
  for (const [vout, { script }] of outputs.entries()) {
    const claim = decodeBsv21(script, makeOutpoint(txid, vout))
    if (claim) claims.set(vout, claim)
  }
  return claims
}

/** Judges what a transaction claims of one token; the inputs are good outputs of that token, and no others. */
export const evaluateToken = (claims: TokenOutputs, inputs: Iterable<Bsv21>): TokenEvaluation => {
  const coming = [...inputs]
  const input = total(coming.map(transferableAmount))
  const isAuthorised = coming.some(({ op }) => AUTHORISING.has(op))
  const isCovered = total(amountsOf(claims, 'transfer', 'burn')) <= input
  const good: number[] = []
  const refused = new Map<number, Refusal>()
  for (const [vout, { op }] of claims) {
    const isMoved = op === 'transfer' || op === 'burn'
    const isMade = op === 'mint' || op === 'auth'
    if (isMoved && !isCovered) refused.set(vout, 'insufficient')
    else if (isMade && !isAuthorised) refused.set(vout, 'unauthorized')
    else good.push(vout)
  }
  const output = isCovered ? total(amountsOf(claims, 'transfer')) : 0n
  const minted = total(good.map(vout => mintedAmount(claims.get(vout)!)))
  return { good, refused, input, output, burned: input - output, minted }
}

const amountsOf = (claims: TokenOutputs, ...operations: Bsv21Operation[]): bigint[] =>
  [...claims.values()].filter(({ op }) => operations.includes(op)).map(({ amt }) => amt!)

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** As people read it. */
export const refusalText = (refusal: Refusal): string =>
  refusal === 'insufficient'
    ? 'The transfers and burns of the token come to more than the good outputs of it that are spent.'
    : 'Nothing that is spent authorises mints or auths of the token.'
