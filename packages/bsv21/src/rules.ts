/**
 * The rules of BSV21 (D11; BRC-161 and BRC-162): the valid outputs of one token in a transaction, given the valid outputs
 * of the token that the transaction spends.
 *
 * A deployment is always valid. Outputs that move amounts (JSON transfers and burns, and binary values without an
 * authority) are valid, all or none of them, when the input amounts cover them; the surplus is burned. Mints and auths are
 * valid, all or none of them, when an authority is spent, and so are binary values: the amount that the inputs do not cover
 * is minted. An authority has no amount, and an amount is not an authority. A burn carries nothing to its spender.
 *
 * Amounts are from 1 to 2^64 − 1 each. Their sums may be larger, and are exact.
 */
import type { Transaction } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type TokenId } from '@quoin/primitives'
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
  /** Sum of the valid outputs that carry an amount which the inputs cover. */
  readonly output: bigint
  /** Valid burns, and inputs beyond what is moved. */
  readonly burned: bigint
  /** Valid mints, binary values beyond the inputs, and the deployment. */
  readonly minted: bigint
  /** The part of `minted` that binary values carry: their scripts do not tell it from a transfer. */
  readonly mintedBinary: bigint
}

/** The effect of an operation on amounts. */
const CARRYING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint', 'transfer', 'value'])
const AUTHORISING: ReadonlySet<Bsv21Operation> = new Set(['deploy+auth', 'auth'])
const MINTING: ReadonlySet<Bsv21Operation> = new Set(['deploy+mint', 'mint'])

/** The amount that the holder of an output can transfer. */
export const transferableAmount = ({ op, amt }: Pick<Bsv21, 'op' | 'amt'>): bigint =>
  CARRYING.has(op) ? (amt ?? 0n) : 0n

/** The amount that an output creates, as its operation says. A binary `value` does not say. */
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

/** The outputs of one token that a transaction spends: its inputs of that token. */
export const tokenInputs = (
  coins: Iterable<{ readonly outpoint: Outpoint; readonly output: { readonly script: Uint8Array } }>,
  token: TokenId
): Bsv21[] =>
  [...coins].flatMap(({ outpoint, output }) => {
    const claim = decodeBsv21(output.script, outpoint)
    return claim?.id === token ? [claim] : []
  })

/** Evaluates the outputs of one token; the inputs are its valid outputs that the transaction spends. */
export const evaluateToken = (claims: TokenOutputs, inputs: Iterable<Bsv21>): TokenEvaluation => {
  const coming = [...inputs]
  const input = total(coming.map(transferableAmount))
  const isAuthorised = coming.some(({ op }) => AUTHORISING.has(op))
  const moving: readonly Bsv21Operation[] = isAuthorised
    ? ['transfer', 'burn']
    : ['transfer', 'burn', 'value']
  const isCovered = sumOf(claims, ...moving) <= input
  const valid: number[] = []
  const refused = new Map<number, Refusal>()
  for (const [vout, { op }] of claims) {
    const needsAuthority = op === 'mint' || op === 'auth'
    if (moving.includes(op) && !isCovered) refused.set(vout, 'insufficient')
    else if (needsAuthority && !isAuthorised) refused.set(vout, 'unauthorized')
    else valid.push(vout)
  }
  const [transferred, destroyed] = isCovered ? [sumOf(claims, 'transfer'), sumOf(claims, 'burn')] : [0n, 0n]
  const values = isAuthorised || isCovered ? sumOf(claims, 'value') : 0n
  // What transfers and burns leave of the inputs funds binary values before these count as minted.
  const left = input - transferred - destroyed
  const funded = values < left ? values : left
  const output = transferred + funded
  const mintedBinary = values - funded
  const minted = total(valid.map(vout => mintedAmount(claims.get(vout)!))) + mintedBinary
  return { valid, refused, input, output, burned: input - output, minted, mintedBinary }
}

const sumOf = (claims: TokenOutputs, ...operations: Bsv21Operation[]): bigint =>
  total([...claims.values()].filter(({ op }) => operations.includes(op)).map(({ amt }) => amt!))

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The reason as text. */
export const refusalText = (refusal: Refusal): string =>
  refusal === 'insufficient'
    ? 'The amounts that are moved of the token exceed its valid inputs.'
    : 'No input is an authority of the token, which mints and auths need.'
