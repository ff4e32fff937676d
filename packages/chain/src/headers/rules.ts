/**
 * Rules for the next header of a branch. A store that began at a checkpoint lacks earlier headers: the median of past
 * time is unknown for its first 11 headers, and difficulty for its first 147 (2016 before the DAA). For them only the
 * link, the claimed proof of work and the remaining rules are checked. An operator vouches for a checkpoint; a forger
 * would still have to do the work after it.
 */
import { equalBytes, QuoinError } from '@quoin/primitives'
import type { Branch } from './branch.ts'
import { nextBits } from './difficulty.ts'
import { formatHash, type Header } from './header.ts'
import type { NetworkRules } from './networks.ts'
import { targetOf } from './target.ts'

/** Seconds that a header's time may be ahead of the clock. */
const MAX_AHEAD = 2 * 60 * 60

/** Throws `ERR_HEADER_INVALID` unless the header may follow the branch; `now` is in Unix seconds. */
export const checkHeader = (rules: NetworkRules, branch: Branch, header: Header, now: number): void => {
  const height = branch.tip.height + 1
  const refuse = (reason: string, details: Record<string, unknown> = {}): QuoinError =>
    new QuoinError('ERR_HEADER_INVALID', `header ${formatHash(header.hash)} at ${height}: ${reason}`, {
      hash: formatHash(header.hash),
      height,
      reason,
      ...details
    })

  if (!equalBytes(header.previous, branch.tip.header.hash)) throw refuse('its parent is not the last header')
  const target = targetOf(header.bits)
  if (target === undefined || target > rules.powLimit) {
    throw refuse('invalid bits: above the highest target of the network', { bits: header.bits })
  }
  if (!header.hasProofOfWork) throw refuse('insufficient proof of work')
  const expected = nextBits(rules, branch, header.time)
  if (expected !== undefined && header.bits !== expected) {
    throw refuse('wrong difficulty', { bits: header.bits, expected })
  }
  const median = branch.medianTime(branch.tip.height)
  if (median !== undefined && header.time <= median) {
    throw refuse('its time is not after the median time of the past 11 headers', {
      time: header.time,
      median
    })
  }
  if (header.time > now + MAX_AHEAD) {
    throw refuse('its time is too far in the future', { time: header.time, now })
  }
  const checkpoint = rules.checkpoints.get(height)
  if (checkpoint !== undefined && formatHash(header.hash) !== checkpoint) {
    throw refuse('the network has another block at this checkpoint', { expected: checkpoint })
  }
}
