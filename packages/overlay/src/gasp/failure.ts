/** What becomes of an item that could not be had: tried again, given up, let go, or left until another has come. */
import { ERRORS, formatTxid, QuoinError, reasonOf, type Txid } from '@quoin/primitives'
import type { Failure } from '@quoin/store'

/** Attempts at an item that may come right by itself, and at one that only a lie explains, or headers that lag. */
export const ATTEMPTS = 100
const ATTEMPTS_AT_LIES = 8
/** Seconds that an item waits for another at most. */
const PATIENCE = 300

/** It spends what has yet to come. */
export class Early extends Error {
  readonly parent: Txid

  constructor(parent: Txid) {
    super(`it spends ${formatTxid(parent)}, which has yet to come`)
    this.parent = parent
  }
}

/** `gone` when the peer does not have it any more. An error that is not about the item is thrown. */
export const failureOf = (error: unknown, attempts: number): Failure | 'gone' => {
  const reason = reasonOf(error)
  if (error instanceof Early) {
    return { outcome: 'wait', errorClass: 'early', reason, dependency: error.parent, atMost: PATIENCE }
  }
  if (!(error instanceof QuoinError)) throw error
  const { code, details } = error
  if (details['gone'] === true) return 'gone'
  if (code === 'ERR_SYNC_UNAVAILABLE') return { outcome: 'retry', errorClass: 'unreached', reason }
  const { origin, retry } = ERRORS[code]
  const isOfItem = origin === 'transaction' || origin === (retry === 'later' ? 'node' : 'remote')
  if (!isOfItem) throw error
  if (retry === 'later') return { outcome: 'retry', errorClass: code, reason }
  return { outcome: attempts >= ATTEMPTS_AT_LIES ? 'dead' : 'retry', errorClass: code, reason }
}
