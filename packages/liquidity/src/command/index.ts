/** The commands of concentrated liquidity, for a program that uses commander. */
export { addLiquidityCommands } from './commands.ts'
