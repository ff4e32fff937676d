/**
 * Difficulty of the next header. Three rules have been in force, by height:
 *
 * - from genesis: every 2016 blocks the target is scaled with their time span, by a factor of 4 at most;
 * - from August 2017 (UAHF) also: when the last six blocks took twelve hours, the target grows by a quarter (EDA);
 * - from November 2017: the target follows work and time of the last 144 blocks (DAA).
 *
 * Test networks allow the lowest difficulty for a block more than twenty minutes after its parent; regtest never
 * changes it. The answer is undefined where the branch does not reach back far enough.
 */
import type { Branch } from './branch.ts'
import type { ChainHeader } from './header.ts'
import type { NetworkRules } from './networks.ts'
import { bitsOf, targetOf, targetOfWork } from './target.ts'

const SPACING = 10 * 60
const INTERVAL = 2016
const TIMESPAN = INTERVAL * SPACING
const DAA_SPAN = 144
/** DAA measures between medians of three: the last block and the one 144 before it, each with its two predecessors. */
const DAA_CONTEXT = DAA_SPAN + 3
const EDA_BLOCKS = 6
const EDA_TIME = 12 * 60 * 60

/** Headers before the one at `height` that the rules may read. */
export const contextOf = ({ retargets, daaHeight }: NetworkRules, height: number): number =>
  !retargets ? 11 : height > daaHeight ? DAA_CONTEXT : INTERVAL

/** Bits of a header with this time on top of the branch. */
export const nextBits = (rules: NetworkRules, branch: Branch, time: number): number | undefined => {
  const { tip } = branch
  if (!rules.retargets) return tip.header.bits
  const lowest = bitsOf(rules.powLimit)
  const late = rules.lowestWhenLate && time > tip.header.time + 2 * SPACING
  if (tip.height >= rules.daaHeight) return late ? lowest : daaBits(rules, branch)
  if ((tip.height + 1) % INTERVAL === 0) return retargetedBits(rules, branch)
  if (rules.lowestWhenLate) return late ? lowest : lastRealBits(branch, lowest)
  return tip.height >= rules.uahfHeight ? edaBits(rules, branch) : tip.header.bits
}

/** The original rule. It measures 2015 intervals as if they were 2016, an error that consensus keeps. */
const retargetedBits = (rules: NetworkRules, branch: Branch): number | undefined => {
  const { tip } = branch
  const first = branch.at(tip.height + 1 - INTERVAL)
  if (!first) return undefined
  const took = clamp(tip.header.time - first.header.time, TIMESPAN / 4, TIMESPAN * 4)
  return limitedBits(rules, (targetOf(tip.header.bits)! * BigInt(took)) / BigInt(TIMESPAN))
}

/** On a test network, bits before the blocks that had the lowest difficulty for lateness. */
const lastRealBits = (branch: Branch, lowest: number): number | undefined => {
  for (let { height } = branch.tip; ; height--) {
    const each = branch.at(height)
    if (!each) return undefined
    if (height % INTERVAL === 0 || each.header.bits !== lowest) return each.header.bits
  }
}

const edaBits = (rules: NetworkRules, branch: Branch): number | undefined => {
  const { header, height } = branch.tip
  if (header.bits === bitsOf(rules.powLimit)) return header.bits
  const now = branch.medianTime(height)
  const before = branch.medianTime(height - EDA_BLOCKS)
  if (now === undefined || before === undefined) return undefined
  if (now - before < EDA_TIME) return header.bits
  const target = targetOf(header.bits)!
  return limitedBits(rules, target + (target >> 2n))
}

const daaBits = (rules: NetworkRules, branch: Branch): number | undefined => {
  const last = middleOfThree(branch, branch.tip.height)
  const first = middleOfThree(branch, branch.tip.height - DAA_SPAN)
  if (!last || !first) return undefined
  const took = clamp(last.header.time - first.header.time, (DAA_SPAN / 2) * SPACING, DAA_SPAN * 2 * SPACING)
  const work = ((last.work - first.work) * BigInt(SPACING)) / BigInt(took)
  return limitedBits(rules, targetOfWork(work))
}

/** Of a header and its two predecessors the one with the median time, so that one false time changes little. */
const middleOfThree = (branch: Branch, height: number): ChainHeader | undefined => {
  const [a, b, c] = [branch.at(height - 2), branch.at(height - 1), branch.at(height)]
  if (!a || !b || !c) return undefined
  // Same three exchanges as in the nodes: the order of equal times decides which block's work counts.
  let [low, middle, high] = [a, b, c]
  if (low.header.time > high.header.time) [low, high] = [high, low]
  if (low.header.time > middle.header.time) [low, middle] = [middle, low]
  return middle.header.time > high.header.time ? high : middle
}

const limitedBits = ({ powLimit }: NetworkRules, target: bigint): number =>
  bitsOf(target > powLimit ? powLimit : target)

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
