/** A chain to develop on: blocks, coins, proofs and reorgs on demand, with the headers and rules of the real one. */
export { DevChain, type DevChainOptions, type DevReorg, type ReorgOptions } from './dev-chain.ts'
export type { DevChainJson } from './json.ts'
export { PersistentDevChain } from './persistent-dev-chain.ts'
