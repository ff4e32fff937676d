/**
 * What is done to an index, as plain data: it can be sent to another process, played again, and played into the model.
 * What comes of it is a text: `done`, or the code of the error, with what a conflict is about.
 */
import { Bump, type ProofAnswer } from '@quoin/chain'
import { type Outpoint, QuoinError, type Topic, type Txid } from '@quoin/primitives'

export type Operation =
  | { readonly kind: 'index'; readonly beef: Uint8Array; readonly seen: number }
  | { readonly kind: 'prove'; readonly txid: Txid; readonly bump: Uint8Array }
  /** All headers of a chain, from the first on. */
  | { readonly kind: 'headers'; readonly headers: Uint8Array }
  | { readonly kind: 'reconcile'; readonly from: number; readonly source: Answers | undefined }
  | { readonly kind: 'plugin'; readonly txid: Txid; readonly marks: readonly Mark[] }
  | { readonly kind: 'rollback'; readonly txid: Txid }
  | { readonly kind: 'rollbackTo'; readonly height: number }

/** What a source of proofs answers: a proof, or that it is not mined; of others that they are unknown. */
export type Answers = ReadonlyMap<string, Uint8Array | 'unmined'>

/** What a plug-in says of an output, or of the transaction. */
export type Mark =
  | { readonly mark: 'apply'; readonly topic: Topic }
  | {
      readonly mark: 'admit'
      readonly topic: Topic
      readonly vout: number
      readonly inputs: readonly Outpoint[]
      readonly dependencies: readonly Txid[]
    }
  | { readonly mark: 'spent'; readonly topic: Topic; readonly vout: number }
  | { readonly mark: 'expel'; readonly topic: Topic; readonly vout: number }
  | { readonly mark: 'say'; readonly vout: number; readonly events: readonly string[]; readonly note: string }

export const DONE = 'done'

/** Of a failure that a caller is told about; anything else is thrown on. */
export const outcomeOf = (error: unknown): string => {
  if (!(error instanceof QuoinError)) throw error
  const { code, details } = error
  return code === 'ERR_TXO_CONFLICT' ? conflictOf(details) : code
}

export const conflictOf = ({ outpoint, spender, txid }: Readonly<Record<string, unknown>>): string =>
  `ERR_TXO_CONFLICT: ${txid} wants ${outpoint}, which ${spender} spends`

export const answerOf = (answers: Answers, txid: string): ProofAnswer => {
  const answer = answers.get(txid)
  if (answer === undefined) return { status: 'unknown' }
  return answer === 'unmined' ? { status: 'unmined' } : { status: 'mined', bump: Bump.parse(answer) }
}
