/** The development wallet, for applications, examples and tests on a development chain. */
export { type DevWalletOptions, type DevWalletStorage, openDevWallet } from './dev-wallet.ts'
