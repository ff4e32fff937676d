/**
 * The part of a packet that a proof depends on: transactions in which outputs of a token descend from each other. Each
 * transaction is read once for all its tokens, so the cost is linear in the size of the packet, for any shape.
 */
import type { Beef, BeefTransaction, Transaction } from '@quoin/chain'
import { bytesKey, makeOutpoint, type Outpoint, type TokenId, type Txid, txidOf } from '@quoin/primitives'
import type { Bsv21 } from '@quoin/txo'
import { evaluateToken, type Refusal, tokenOutputs } from '../rules.ts'

/** An output of a token that a transaction of the packet spends, with a body in the packet. */
interface TokenInput {
  readonly outpoint: Outpoint
  readonly claim: Bsv21
}

/** Inputs and outputs of a transaction, by token. */
interface TokenSides {
  readonly inputs: ReadonlyMap<TokenId, readonly TokenInput[]>
  readonly outputs: ReadonlyMap<TokenId, ReadonlyMap<number, Bsv21>>
}

/** The result of an output. */
export type Validity = 'valid' | Refusal

export class TokenHistory {
  readonly #beef: Beef
  readonly #sides = new Map<string, TokenSides>()
  /** The tokens to evaluate, by transaction. */
  readonly #tokens = new Map<string, Set<TokenId>>()

  constructor(beef: Beef) {
    this.#beef = beef
  }

  /** Transactions of the history, parents before children. */
  get transactions(): BeefTransaction[] {
    return this.#beef.transactions.filter(({ txid }) => this.#tokens.has(bytesKey(txid)))
  }

  /** Adds an output of a token and all outputs of the token that it descends from, as far as the packet has them. */
  add(outpoint: Outpoint, token: TokenId): void {
    const open = [txidOf(outpoint)]
    for (let txid = open.pop(); txid; txid = open.pop()) {
      const key = bytesKey(txid)
      const tokens = this.#tokens.get(key) ?? new Set()
      if (tokens.has(token)) continue
      this.#tokens.set(key, tokens.add(token))
      for (const input of this.#sidesOf(txid).inputs.get(token) ?? []) open.push(txidOf(input.outpoint))
    }
  }

  /** Validity by the `bytesKey` of outpoints, evaluated from the deployments on. */
  evaluate(): ReadonlyMap<string, Validity> {
    const results = new Map<string, Validity>()
    for (const { txid } of this.transactions) {
      const { inputs, outputs } = this.#sidesOf(txid)
      for (const token of this.#tokens.get(bytesKey(txid))!) {
        const coins = (inputs.get(token) ?? []).filter(
          ({ outpoint }) => results.get(bytesKey(outpoint)) === 'valid'
        )
        const { valid, refused } = evaluateToken(
          outputs.get(token) ?? new Map(),
          coins.map(({ claim }) => claim)
        )
        for (const vout of valid) results.set(bytesKey(makeOutpoint(txid, vout)), 'valid')
        for (const [vout, refusal] of refused) results.set(bytesKey(makeOutpoint(txid, vout)), refusal)
      }
    }
    return results
  }

  #sidesOf(txid: Txid): TokenSides {
    const key = bytesKey(txid)
    const known = this.#sides.get(key)
    if (known) return known
    const sides = this.#readSides(this.#beef.find(txid)!.transaction!)
    this.#sides.set(key, sides)
    return sides
  }

  #readSides(transaction: Transaction): TokenSides {
    const inputs = new Map<TokenId, TokenInput[]>()
    for (const { txid, vout } of transaction.inputs) {
      const source = this.#beef.find(txid)?.transaction
      const claim = source && tokenOutputs(source).get(vout)
      if (!claim) continue
      const outpoint = makeOutpoint(txid, vout)
      const same = inputs.get(claim.id)
      if (same) same.push({ outpoint, claim })
      else inputs.set(claim.id, [{ outpoint, claim }])
    }
    const outputs = new Map<TokenId, Map<number, Bsv21>>()
    for (const [vout, claim] of tokenOutputs(transaction)) {
      outputs.set(claim.id, (outputs.get(claim.id) ?? new Map()).set(vout, claim))
    }
    return { inputs, outputs }
  }
}
