/** The wallet of a command or a task: a BRC-100 wallet at a URL, or a development wallet in a file. */
import { HTTPWalletJSON, type WalletInterface } from '@bsv/sdk'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'
import { walletFile } from './wallet-file.ts'

/** Whether a place is a URL, and not a file. */
export const isWalletUrl = (place: string): boolean => /^https?:\/\//.test(place)

export const openWallet = async (place: string, node: string): Promise<WalletInterface> =>
  isWalletUrl(place)
    ? (new HTTPWalletJSON('localhost', place.replace(/\/+$/, '')) as unknown as WalletInterface)
    : openDevWallet({ node, storage: walletFile(place) })
