/**
 * Pointers to content, as paths have them: an outpoint (`txid_vout`) or a txid, whose first output with content counts; and
 * behind a colon a sequence number, `-1` for the latest output of the ordinal and `-2` for its origin.
 */
import { type Outpoint, parseOutpoint, parseTxid, QuoinError, type Txid } from '@quoin/primitives'

export interface Pointer {
  readonly txid: Txid | undefined
  readonly outpoint: Outpoint | undefined
  readonly sequence: number | undefined
}

/** Requests that one counts as which follows an ordinal. */
const FOLLOWING_COST = 10

/** Requests that a request for a pointer counts as. */
export const costOfPointer = (text = ''): number => (/:/.test(text) ? FOLLOWING_COST : 1)

const POINTER = /^([0-9a-fA-F]{64})(?:[._i](0|[1-9][0-9]{0,9}))?(?::(-1|-2|0|[1-9][0-9]{0,9}))?$/

export const parsePointer = (text: string): Pointer => {
  const [, txid, vout, sequence] = POINTER.exec(text) ?? []
  if (txid === undefined) {
    throw new QuoinError(
      'ERR_REQUEST',
      'invalid pointer to content; expected txid_vout or a txid, with :sequence behind it or without',
      { given: text.slice(0, 200) }
    )
  }
  return {
    txid: vout === undefined ? parseTxid(txid) : undefined,
    outpoint: vout === undefined ? undefined : parseOutpoint(`${txid}_${vout}`),
    sequence: sequence === undefined ? undefined : Number(sequence)
  }
}
