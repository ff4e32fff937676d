/** Outcomes of failed items: retry, dead letter, dropped, or waiting for a parent. */
import { ERRORS, formatTxid, QuoinError, reasonOf, type Txid } from '@quoin/primitives'
import type { Failure } from '@quoin/store'

/** Attempts at an item with a transient failure, and at one whose data is invalid: the peer is at fault, or headers lag. */
export const ATTEMPTS = 100
const INVALID_DATA_ATTEMPTS = 8
/** The longest wait of an item for its parent. */
const MAX_WAIT_SECONDS = 300

/** The item spends an output of an item that is pending too. */
export class PendingParentError extends Error {
  readonly parent: Txid

  constructor(parent: Txid) {
    super(`waits for transaction ${formatTxid(parent)}`)
    this.parent = parent
  }
}

/** `gone` when the peer no longer has the item. Errors that do not concern the item are thrown. */
export const failureOf = (error: unknown, attempts: number): Failure | 'gone' => {
  const reason = reasonOf(error)
  if (error instanceof PendingParentError) {
    return {
      outcome: 'wait',
      errorClass: 'early',
      reason,
      dependency: error.parent,
      atMost: MAX_WAIT_SECONDS
    }
  }
  if (!(error instanceof QuoinError)) throw error
  const { code, details } = error
  if (details['gone'] === true) return 'gone'
  if (code === 'ERR_SYNC_UNAVAILABLE') return { outcome: 'retry', errorClass: 'unreached', reason }
  const { origin, retry } = ERRORS[code]
  const isOfItem = origin === 'transaction' || origin === (retry === 'later' ? 'node' : 'remote')
  if (!isOfItem) throw error
  if (retry === 'later') return { outcome: 'retry', errorClass: code, reason }
  return { outcome: attempts >= INVALID_DATA_ATTEMPTS ? 'dead' : 'retry', errorClass: code, reason }
}
