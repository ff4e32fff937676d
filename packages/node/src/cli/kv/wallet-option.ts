/** The option of commands with a wallet. */
import { homedir } from 'node:os'
import { join } from 'node:path'

export const WALLET_OPTION = [
  '--wallet <place>',
  'the file of a development wallet, made when it is not there; or the URL of a BRC-100 wallet',
  join(homedir(), '.quoin', 'dev-wallet.json')
] as const
