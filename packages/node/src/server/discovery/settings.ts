/** Rules between the settings of discovery. */
import { isAdvertisable } from '@quoin/discovery'
import { isWalletUrl } from '../../wallet/open-wallet.ts'
import type { Config } from '../settings.ts'

export const discoveryProblems = ({
  discovery,
  advertise: { uri, wallet },
  janitor,
  sync,
  chain
}: Config): { readonly setting: string; readonly message: string }[] => {
  const problem = (setting: string, message: string) => ({ setting, message })
  const needing = [
    ...(uri === undefined ? [] : ['advertise.uri']),
    ...(janitor.interval > 0 ? ['janitor.interval'] : []),
    ...(sync.discover === 'off' ? [] : ['sync.discover'])
  ]
  if (!discovery)
    return needing.map(setting =>
      problem(setting, `${setting} is set, but discovery is false: the node has no advertisements`)
    )
  if (uri === undefined && wallet !== undefined)
    return [
      problem('advertise.wallet', 'advertise.wallet is set without advertise.uri, the address to advertise')
    ]
  if (uri === undefined) return []
  if (!isAdvertisable(uri))
    return [problem('advertise.uri', `advertise.uri is ${uri}, which cannot be advertised (BRC-101)`)]
  if (wallet === undefined)
    return [problem('advertise.uri', 'advertise.uri is set without advertise.wallet, which pays and signs')]
  if (chain !== 'dev' && !isWalletUrl(wallet))
    return [
      problem(
        'advertise.wallet',
        `advertise.wallet is the file ${wallet}, a development wallet for the chain dev; for ${chain} it is the URL of a BRC-100 wallet`
      )
    ]
  return []
}
