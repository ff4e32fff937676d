/**
 * The rules of BSV21 (D11): the valid outputs of one token in a transaction, given the valid outputs of the token that the
 * transaction spends.
 *
 * A deployment is always valid. Transfers and burns are valid, all or none of them, when the input amounts cover them; the
 * surplus is burned. Mints and auths are valid, all or none of them, when an auth is spent. An auth has no amount, and an
 * amount is not an auth. A burn carries nothing to its spender.
 *
 * Amounts are from 1 to 2^64 − 1 each. Their sums may be larger, and are exact.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type TokenId } from '@quoin/primitives'
import { type Bsv21, type Bsv21Operation, decodeBsv21 } from '@quoin/txo'

/** Reasons why outputs of a token are invalid. */
export type Refusal = 'insufficient' | 'unauthorized'

export interface TokenEvaluation {
  /** Indexes of the valid outputs, in order. */
  readonly valid: readonly number[]
  /** Reasons of the invalid outputs of the token, by index. */
  readonly refused: ReadonlyMap<number, Refusal>
  /** Sum of the inputs. */
  readonly input: bigint
  /** Sum of the valid transfers. */
  readonly output: bigint
  /** Valid burns, and inputs beyond the transfers and burns. */
  readonly burned: bigint
  /** Valid mints, and the deployment. */
  readonly minted: bigint
}

/** The effect of an operation on amounts. */
const CARRYING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint', 'transfer'])
const AUTHORISING: ReadonlySet<Bsv21Operation> = new Set(['deploy+auth', 'auth'])
const MINTING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint'])

/** The amount that the holder of an output can transfer. */
export const transferableAmount = ({ op, amt }: Pick<Bsv21, 'op' | 'amt'>): bigint =>
  CARRYING.has(op) ? (amt ?? 0n) : 0n

/** The amount that an output creates. */
export const mintedAmount = ({ op, amt }: Pick<Bsv21, 'op' | 'amt'>): bigint =>
  MINTING.has(op) ? (amt ?? 0n) : 0n

export const isDeployment = ({ op }: Pick<Bsv21, 'op'>): boolean =>
  op === 'deploy+mint' || op === 'deploy+auth'

/** Whether a transaction is for the discovery topic: it deploys a token, or has no token output and may spend one. */
export const isForDiscovery = (claims: readonly Pick<Bsv21, 'op'>[]): boolean =>
  claims.length === 0 || claims.some(isDeployment)

/** Token outputs by output index. */
export type TokenOutputs = ReadonlyMap<number, Bsv21>

/** The outputs of a transaction that claim to be BSV21 tokens: all, or one token's. */
export const tokenOutputs = (transaction: Transaction, token?: TokenId): TokenOutputs => {
  const claims = read.get(transaction) ?? readTokenOutputs(transaction)
  read.set(transaction, claims)
  return token === undefined ? claims : new Map([...claims].filter(([, { id }]) => id === token))
}

/** Cached: each token of a transaction is evaluated on its own, from the same scripts. */
const read = new WeakMap<Transaction, TokenOutputs>()

const readTokenOutputs = ({ txid, outputs }: Transaction): TokenOutputs => {
  const claims = new Map<number, Bsv21>()
  for (const [vout, { script }] of outputs.entries()) {
    const claim = decodeBsv21(script, makeOutpoint(txid, vout))
    if (claim) claims.set(vout, claim)
  }
  return claims
}

/** Evaluates the outputs of one token; the inputs are its valid outputs that the transaction spends. */
export const evaluateToken = (claims: TokenOutputs, inputs: Iterable<Bsv21>): TokenEvaluation => {
  const coming = [...inputs]
  const input = total(coming.map(transferableAmount))
  const isAuthorised = coming.some(({ op }) => AUTHORISING.has(op))
  const isCovered = total(amountsOf(claims, 'transfer', 'burn')) <= input
  const valid: number[] = []
  const refused = new Map<number, Refusal>()
  for (const [vout, { op }] of claims) {
    const isMoved = op === 'transfer' || op === 'burn'
    const isMade = op === 'mint' || op === 'auth'
    if (isMoved && !isCovered) refused.set(vout, 'insufficient')
    else if (isMade && !isAuthorised) refused.set(vout, 'unauthorized')
    else valid.push(vout)
  }
  const output = isCovered ? total(amountsOf(claims, 'transfer')) : 0n
  const minted = total(valid.map(vout => mintedAmount(claims.get(vout)!)))
  return { valid, refused, input, output, burned: input - output, minted }
}

const amountsOf = (claims: TokenOutputs, ...operations: Bsv21Operation[]): bigint[] =>
  [...claims.values()].filter(({ op }) => operations.includes(op)).map(({ amt }) => amt!)

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The reason as text. */
export const refusalText = (refusal: Refusal): string =>
  refusal === 'insufficient'
    ? 'The transfers and burns of the token exceed its valid inputs.'
    : 'Nothing that is spent authorises mints or auths of the token.'
