/** Concentrated liquidity: its state behind a proved key space, and the operations that change it. */
export { type Address, formatAddress, parseAddress } from './bech32.ts'
export { BIG_DEC, type BigDec, bigDec, DEC, type Dec, dec } from './decimal.ts'
export { type Depth, type DepthOptions, type DepthPoint, depthOf, priceAtTick, priceOf } from './depth.ts'
export { depthPicture, shortNumber } from './depth-picture.ts'
export { type RowDifference, stateDifferences } from './dump/diff.ts'
export type { Drift } from './dump/drift.ts'
export { exportGenesis } from './dump/genesis-export.ts'
export type { Schema } from './dump/genesis-form.ts'
export { importGenesis } from './dump/genesis-import.ts'
export { type InputFormat, type PeekedInput, peekFormat } from './dump/input-format.ts'
export type { LoadOptions, LoadProgress, LoadReport } from './dump/load.ts'
export { type Encoding, exportRaw, importRaw, type RawOptions } from './dump/raw.ts'
export { type EntryExplanation, type ExplainedEntry, explainEntry } from './explain.ts'
export { HOOK_ACTIONS, liquidityChain, liquiditySeed } from './keys.ts'
export type { Coin } from './machine/coins.ts'
export { createIncentive, type NewIncentive } from './machine/incentive.ts'
export { type LockRequest, lockPosition, unlockPosition } from './machine/lock.ts'
export { createPool, type NewPool } from './machine/pool.ts'
export {
  type Addition,
  type AdditionReceipt,
  type Amounts,
  addToPosition,
  createPosition,
  type NewPosition,
  type PositionReceipt,
  type Transfer,
  transferPositions,
  type Withdrawal,
  type WithdrawalReceipt,
  withdrawPosition,
  worthOf
} from './machine/position.ts'
export type { Reason } from './machine/refusal.ts'
export {
  type CollectedIncentives,
  collectIncentives,
  collectSpreadRewards,
  type PositionClaim
} from './machine/rewards.ts'
export type { Quote, SwapResult } from './machine/simulate-swap.ts'
export {
  quoteExactIn,
  quoteExactOut,
  type SwapIn,
  type SwapOut,
  swapExactIn,
  swapExactOut
} from './machine/swap.ts'
export { UPTIMES } from './machine/uptime.ts'
export {
  MAX_TICK,
  MIN_TICK,
  priceToTick,
  sqrtPriceToTick,
  tickToPrice,
  tickToSqrtPrice
} from './math/tick.ts'
export {
  type IncentiveKey,
  type IncentiveRecord,
  liquidityAux,
  type Profile,
  profileKeyspaces
} from './profile.ts'
export type { AccumulatorName, After, HookAction, Reader, Threshold, Tick, TickWalk } from './reader.ts'
export { type Reserves, wholeCoins } from './reserves.ts'
export { Liquidity, type LiquidityOptions } from './state.ts'
export { formatTime, NEVER, parseTime, type Time } from './time.ts'
export type { UnitOfWork } from './unit-of-work.ts'
export {
  type AccumulatorContent,
  type AccumulatorRecord,
  accumulatorCodec,
  accumulatorRecordCodec,
  type DecCoin,
  type DecCoins,
  type IncentiveRecordBody,
  incentiveCodec,
  type Pool,
  type Position,
  poolCodec,
  positionCodec,
  type TickInfo,
  tickInfoCodec
} from './values.ts'
export type { Difference } from './verify.ts'
export { depthView, incentiveView, poolView, positionView, quoteView, tickView } from './view.ts'
