/**
 * What makes a header the next one of a branch. A store that was begun at a checkpoint does not know the headers
 * before it, so for the first 11 headers after it the median of the past, and for the first 147 (2016 before the DAA)
 * the difficulty, cannot be known: of these only the link, the proof of work that they claim and the other rules are
 * checked. Whoever gives a checkpoint vouches for it; a forger of what follows would still have to do that work.
 */
import { equalBytes, QuoinError } from '@quoin/primitives'
import type { Branch } from './branch.ts'
import { nextBits } from './difficulty.ts'
import { formatHash, type Header } from './header.ts'
import type { NetworkRules } from './networks.ts'
import { targetOf } from './target.ts'

/** How far ahead of the clock a header's time may be, in seconds. */
const MAX_AHEAD = 2 * 60 * 60

/** Throws `ERR_HEADER_INVALID` unless the header may follow the branch; `now` is in unix seconds. */
export const checkHeader = (rules: NetworkRules, branch: Branch, header: Header, now: number): void => {
  const height = branch.tip.height + 1
  const refuse = (reason: string, details: Record<string, unknown> = {}): QuoinError =>
    new QuoinError('ERR_HEADER_INVALID', `header ${formatHash(header.hash)} at ${height}: ${reason}`, {
      hash: formatHash(header.hash),
      height,
      reason,
      ...details
    })

  if (!equalBytes(header.previous, branch.tip.header.hash)) throw refuse('does not follow the one before')
  const target = targetOf(header.bits)
  if (target === undefined || target > rules.powLimit) {
    throw refuse('its bits are not a target of this network', { bits: header.bits })
  }
  if (!header.hasProofOfWork) throw refuse('has no proof of work')
  const expected = nextBits(rules, branch, header.time)
  if (expected !== undefined && header.bits !== expected) {
    throw refuse('is of another difficulty than it must be', { bits: header.bits, expected })
  }
  const median = branch.medianTime(branch.tip.height)
  if (median !== undefined && header.time <= median) {
    throw refuse('its time is not after the median of the past', { time: header.time, median })
  }
  if (header.time > now + MAX_AHEAD) {
    throw refuse('its time is too far in the future', { time: header.time, now })
  }
  const checkpoint = rules.checkpoints.get(height)
  if (checkpoint !== undefined && formatHash(header.hash) !== checkpoint) {
    throw refuse('the network has another block there', { expected: checkpoint })
  }
}
