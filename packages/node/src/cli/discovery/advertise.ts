/** `quoin advertise`: compares what a node serves with its advertisements; creates and revokes them with a wallet. */
import {
  type AdvertisementPlan,
  createAdvertisements,
  HostClient,
  isAdvertisable,
  nameProblem,
  planAdvertisements,
  REFUSED_NAME_ADVICE,
  revokeAdvertisements,
  type TaggedBeef
} from '@quoin/discovery'
import { QuoinError } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { openWallet } from '../../wallet/open-wallet.ts'

export interface AdvertiseOptions {
  readonly uri: string
  readonly url: string
  readonly to?: readonly string[]
  readonly wallet: string
  readonly tracker?: boolean
  readonly json?: boolean
}

/** Inputs of one transaction that revokes. */
const MAX_REVOKED = 500
/** Advertisements of one name, each of which hides the one before. */
const MAX_ROUNDS = 20

export const advertise = async (
  verb: 'status' | 'sync' | 'revoke',
  { uri: given, url, to = [], wallet: place, tracker: isTracker = false, json = false }: AdvertiseOptions
): Promise<number> => {
  // Clients append paths.
  const uri = given.replace(/\/+$/, '')
  if (!isAdvertisable(uri))
    throw new QuoinError(
      'ERR_USAGE',
      `--uri is an address as https://node.example.com (BRC-101), not ${given}`,
      { uri }
    )
  const node = new HostClient(url)
  const wallet = await openWallet(place, url)
  const { publicKey } = await wallet.getPublicKey({ identityKey: true })
  const read = async (): Promise<AdvertisementPlan> =>
    planAdvertisements(await node.served(), uri, await node.advertisements(publicKey), { isTracker })
  const plan = await read()
  const hosts = [url, ...to]
  if (verb === 'sync' && plan.missing.length > 0)
    await submit(hosts, await createAdvertisements(wallet, uri, plan.missing))
  let after = plan
  // Answers have the newest of several advertisements of one name: an older one follows.
  for (let round = 0; verb !== 'status' && round < MAX_ROUNDS; round++) {
    const revoked = verb === 'sync' ? after.obsolete : [...after.current, ...after.obsolete]
    for (let at = 0; at < revoked.length; at += MAX_REVOKED)
      await submit(hosts, await revokeAdvertisements(wallet, revoked.slice(at, at + MAX_REVOKED)))
    after = await read()
    if (revoked.length === 0) break
  }
  if (json) printJson(summary(uri, publicKey, after))
  else report(uri, after)
  const isDone = verb === 'revoke' ? after.current.length === 0 : after.missing.length === 0
  return isDone && after.obsolete.length === 0 ? EXIT.ok : EXIT.no
}

const submit = async (hosts: readonly string[], transaction: TaggedBeef): Promise<void> => {
  for (const host of hosts) await new HostClient(host).submit(transaction)
}

const summary = (
  uri: string,
  identityKey: string,
  { missing, current, obsolete, refused }: AdvertisementPlan
) => ({
  uri,
  identityKey,
  current: current.map(({ name, outpoint }) => ({ name, outpoint })),
  missing,
  obsolete: obsolete.map(({ name, outpoint }) => ({ name, outpoint })),
  refused
})

const report = (uri: string, { missing, current, obsolete, refused }: AdvertisementPlan): void => {
  const rows = [
    ...current.map(({ name, outpoint }) => [name, paint('green', 'advertised'), outpoint]),
    ...missing.map(name => [name, paint('yellow', 'missing'), '']),
    ...obsolete.map(({ name, outpoint }) => [name, paint('yellow', 'not served'), outpoint]),
    ...refused.map(name => [name, paint('dim', `cannot be advertised: ${nameProblem(name)} (BRC-87)`), ''])
  ]
  if (rows.length > 0) print(table(rows))
  if (refused.length > 0) print(REFUSED_NAME_ADVICE)
  print(`${uri}: ${plural(current.length, 'advertisement')}, ${missing.length} missing`)
}
