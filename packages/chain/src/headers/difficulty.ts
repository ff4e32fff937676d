/**
 * The difficulty that the next header must have. Three rules have been in force, each by height:
 *
 * - from the beginning: every 2016 blocks the target changes with the time they took, by a factor of 4 at most;
 * - from August 2017 (UAHF) also: when the last six blocks took twelve hours, the target grows by a quarter (EDA);
 * - from November 2017: the target follows the work and the time of the last 144 blocks (DAA).
 *
 * A network for tests lets a block that comes after twenty minutes have the lowest difficulty; the regression test
 * network never changes it. Where the headers at hand do not reach back far enough the answer is undefined.
 */
import type { Branch } from './branch.ts'
import type { ChainHeader } from './header.ts'
import type { NetworkRules } from './networks.ts'
import { bitsOf, targetOf, targetOfWork } from './target.ts'

const SPACING = 10 * 60
const INTERVAL = 2016
const TIMESPAN = INTERVAL * SPACING
const DAA_SPAN = 144
/** The DAA measures from medians of three: the last block and the one 144 before it each with two before them. */
const DAA_CONTEXT = DAA_SPAN + 3
const EDA_BLOCKS = 6
const EDA_TIME = 12 * 60 * 60

/** How many headers before the one at `height` the rules may look at. */
export const contextOf = ({ retargets, daaHeight }: NetworkRules, height: number): number =>
  !retargets ? 11 : height > daaHeight ? DAA_CONTEXT : INTERVAL

/** The bits of a header with this time on top of the branch. */
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

/**
 * Satoshi's: it measures 2015 gaps as if they were 2016, by mistake, and for ever.
 */
const retargetedBits = (rules: NetworkRules, branch: Branch): number | undefined => {
  const { tip } = branch
  const first = branch.at(tip.height + 1 - INTERVAL)
  if (!first) return undefined
  const took = clamp(tip.header.time - first.header.time, TIMESPAN / 4, TIMESPAN * 4)
  return limitedBits(rules, (targetOf(tip.header.bits)! * BigInt(took)) / BigInt(TIMESPAN))
}

/** On a network for tests, what was in force before blocks that were only allowed because they were late. */
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

/** Of a header and the two before it the one with the middle time: a single false time changes little. */
const middleOfThree = (branch: Branch, height: number): ChainHeader | undefined => {
  const [a, b, c] = [branch.at(height - 2), branch.at(height - 1), branch.at(height)]
  if (!a || !b || !c) return undefined
  // The order in which equal times end up decides whose work counts, so these are the three exchanges of the nodes.
  let [low, middle, high] = [a, b, c]
  if (low.header.time > high.header.time) [low, high] = [high, low]
  if (low.header.time > middle.header.time) [low, middle] = [middle, low]
  return middle.header.time > high.header.time ? high : middle
}

const limitedBits = ({ powLimit }: NetworkRules, target: bigint): number =>
  bitsOf(target > powLimit ? powLimit : target)

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
