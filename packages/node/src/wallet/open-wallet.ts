/** The wallet of a command: a BRC-100 wallet at a URL, or a development wallet in a file. */
import { HTTPWalletJSON, type WalletInterface } from '@bsv/sdk'
import { openDevWallet } from '@quoin/kvstore-client/dev-wallet'
import { walletFile } from './wallet-file.ts'

export const openWallet = async (place: string, node: string): Promise<WalletInterface> =>
  /^https?:\/\//.test(place)
    ? (new HTTPWalletJSON('localhost', place.replace(/\/+$/, '')) as unknown as WalletInterface)
    : openDevWallet({ node, storage: walletFile(place) })
