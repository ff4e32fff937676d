/** The wallet of a command or a task: a BRC-100 wallet at a URL, or a development wallet in a file. */
import type { WalletInterface } from '@bsv/sdk'
import { walletFile } from './wallet-file.ts'

/** Whether a place is a URL, and not a file. */
export const isWalletUrl = (place: string): boolean => /^https?:\/\//.test(place)

/** Imports the wallet of the place: a node that does not advertise has none. */
export const openWallet = async (place: string, node: string): Promise<WalletInterface> => {
  if (isWalletUrl(place)) {
    const { HTTPWalletJSON } = await import('@bsv/sdk')
    return new HTTPWalletJSON('localhost', place.replace(/\/+$/, '')) as unknown as WalletInterface
  }
  const { openDevWallet } = await import('@quoin/kvstore-client/dev-wallet')
  return openDevWallet({ node, storage: walletFile(place) })
}
