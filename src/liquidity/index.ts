/** Concentrated liquidity. */
export { liquidityChain, liquiditySeed } from './keys.ts'
