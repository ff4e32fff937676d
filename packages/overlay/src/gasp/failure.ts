/** What becomes of an item that could not be had: tried again, given up, let go, or left until another has come. */
import { formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { Failure } from '@quoin/store'

/** Attempts at an item that may come right by itself, and at one that only a lie explains, or headers that lag. */
export const ATTEMPTS = 100
const ATTEMPTS_AT_LIES = 8
/** Seconds that an item waits for another at most. */
const PATIENCE = 300

/** Failures of what the peer sent, rather than of the peer or of this node. */
const LIES: ReadonlySet<string> = new Set([
  'ERR_TX_FORMAT',
  'ERR_TX_INVALID',
  'ERR_TX_UNKNOWN',
  'ERR_BEEF_FORMAT',
  'ERR_BEEF_LIMIT',
  'ERR_BEEF_EXPANSION',
  'ERR_PROOF_INVALID',
  'ERR_SYNC_PEER',
  'ERR_SYNC_LIMIT'
])
/** Failures that may come right by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'ERR_TXO_CONFLICT',
  'ERR_TOPIC_FAILED',
  'ERR_PLUGIN_ENDED',
  'ERR_PLUGIN_UNAVAILABLE',
  'ERR_INTERPRETER_BUSY',
  'ERR_STALE_READ',
  'ERR_STORE_BUSY'
])

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
  if (code === 'ERR_SYNC_PEER' && details['retry'] === true) {
    return { outcome: 'retry', errorClass: 'unreached', reason }
  }
  if (PASSING.has(code)) return { outcome: 'retry', errorClass: code, reason }
  if (!LIES.has(code)) throw error
  return { outcome: attempts >= ATTEMPTS_AT_LIES ? 'dead' : 'retry', errorClass: code, reason }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
