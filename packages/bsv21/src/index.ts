/** The BSV21 token pipeline: rules, topics, what tokens come to, and how transactions get there. */
export {
  Activation,
  type ActivationOptions,
  type ActivationReason,
  type TokenList,
  type TokenStatus
} from './activation.ts'
export type { Completeness, PendingCounts, SourcePosition } from './completeness.ts'
export {
  type CompareOptions,
  compareTokens,
  type TokenComparison,
  type TokenDifference,
  type TokenDifferenceKind
} from './digests/compare-tokens.ts'
export { RemoteStates, type RemoteStatesOptions } from './digests/remote-states.ts'
export { StoredStates } from './digests/stored-states.ts'
export {
  MAX_DIGESTED,
  type RangeDigest,
  type TokenDigest,
  type TokenStates
} from './digests/token-states.ts'
export { type FeeAddresses, feeAddresses } from './fee-address.ts'
export { type AddressSource, FeePayments, type FeePaymentsOptions } from './fee-payments.ts'
export { bsv21, bsv21Events } from './keys.ts'
export { tokenLedger } from './ledger.ts'
export { parseTokenId, tokenLookup } from './lookup.ts'
export { tokenOverlay, tokenPlugin } from './overlay.ts'
export { Pipeline, type PipelineOptions, type PipelineStatus } from './pipeline/pipeline.ts'
export type { SourceProgress } from './pipeline/progress.ts'
export { discoveryQueue, queueOfToken } from './pipeline/queues.ts'
export { tokenProof, tokenProofBeef } from './proof/assemble.ts'
export { isTokenPacket, TOKEN_PROOF_TEXT, TOKEN_PROOF_VERSION } from './proof/packet.ts'
export {
  type ProvedOutput,
  provedOutputJson,
  type TokenProof,
  verifyTokenProof
} from './proof/verify.ts'
export {
  evaluateToken,
  type Refusal,
  type TokenEvaluation,
  type TokenOutputs,
  tokenOutputs
} from './rules.ts'
export * from './source/index.ts'
export { HOLDER_LOCKS, type HolderLock, readTokenLock, type TokenLock } from './token-lock.ts'
export {
  type Holder,
  type HolderPage,
  type Token,
  type TokenBalance,
  type TokenHolding,
  type TokenHoldingPage,
  type TokenPage,
  Tokens,
  type TokenTotals
} from './tokens.ts'
export { DISCOVERY, tokenOfTopic, topicOf } from './topic-names.ts'
export { discoveryTopic, tokenTopic, tokenTopics } from './topics.ts'
