/** What a test vector is made of: a history of transactions, what the last of them has admitted, and why. */
import { type Output, sha256, type Transaction } from '@quoin/chain'
import type { TokenId, Txid } from '@quoin/primitives'
import { inscription } from '../../../txo/src/scripts/scripts.testing.ts'
import * as t from '../tokens.testing.ts'

/** Readings of other implementations, by the source that was read. */
export const IMPLEMENTATIONS = {
  '1sat-2025': 'b-open-io/1sat-stack 862d521 (December 2025), pkg/topic and go-templates',
  '1sat-2026': 'b-open-io/1sat-stack cc0c3b9 (2026), pkg/template/bsv21 and its topic',
  'ts-stack': 'bsv-blockchain/ts-stack 37468f2, @bsv/templates 2.0.0 (BRC-162 alone)',
  indexer: 'shruggr/1sat-indexer, allocation by output'
} as const
type Implementation = keyof typeof IMPLEMENTATIONS

export interface VectorCase {
  readonly group: string
  readonly name: string
  /** The rule, and the text that it comes from. */
  readonly why: string
  readonly differs?: Readonly<Partial<Record<Implementation, string>>>
  readonly build: (history: History) => Expectation
}

export interface Expectation {
  /** Indexes of the outputs of the last transaction that are admitted, by token. */
  readonly admitted: Readonly<Record<string, readonly number[]>>
  /** Attributes of a token that the last transaction deploys at output 0. */
  readonly attributes?: { readonly sym?: string; readonly dec: number; readonly icon?: string }
}

/** Transactions in the order in which they are made; each has an input of its own, which no token is in. */
export class History {
  readonly transactions: Transaction[] = []

  make(spent: readonly (readonly [Transaction, number])[], outputs: readonly Output[]): Transaction {
    const serial = this.transactions.length
    const funding = { txid: sha256(Uint8Array.of(serial)) as Txid, vout: serial }
    const inputs = [...spent.map(([{ txid }, vout]) => ({ txid, vout })), funding]
    const made = t.unsigned(inputs, outputs)
    this.transactions.push(made)
    return made
  }

  /** A token of fixed supply in the JSON form, all of it at output 0. */
  fixed(supply: bigint): { readonly id: TokenId; readonly deployed: Transaction } {
    const deployed = this.make([], [t.deployMint(ALICE, supply)])
    return { id: t.tokenIdOf(deployed), deployed }
  }

  /** A token with an authority in the JSON form at output 0. */
  authority(): { readonly id: TokenId; readonly deployed: Transaction } {
    const deployed = this.make([], [t.deployAuth(ALICE)])
    return { id: t.tokenIdOf(deployed), deployed }
  }

  /** A token with an amount at output 0 and an authority at output 1 of the second transaction. */
  minted(amount: bigint): { readonly id: TokenId; readonly minted: Transaction } {
    const { id, deployed } = this.authority()
    return { id, minted: this.make([[deployed, 0]], [t.mint(id, amount, BOB), t.auth(id, BOB)]) }
  }
}

export const ALICE = t.person(1)
export const BOB = t.paidTo(t.person(2))

/** A JSON output with content as it is written. */
export const written = (content: string | Uint8Array, type = 'application/bsv-20'): Output => ({
  satoshis: 1,
  script: inscription({ type, content, suffix: BOB })
})

/** A case about one output that spends a token of 10: admitted, or no claim or not covered, and the 10 are burned. */
export const oneOutput =
  (isAdmitted: boolean, output: (id: TokenId) => Output) =>
  (history: History): Expectation => {
    const { id, deployed } = history.fixed(10n)
    history.make([[deployed, 0]], [output(id)])
    return { admitted: { [id]: isAdmitted ? [0] : [] } }
  }

/** A case about one output that deploys a token. */
export const oneDeployment =
  (output: Output, attributes?: Expectation['attributes']) =>
  (history: History): Expectation => {
    const id = t.tokenIdOf(history.make([], [output]))
    return attributes ? { admitted: { [id]: [0] }, attributes } : { admitted: { [id]: [] } }
  }
