/**
 * The ban list of an operator: hosts and single advertisements that answers leave out. Topics admit them all the same, by
 * the published rules alone, so that nodes with different bans have the same topics, and a ban that is lifted leaves
 * nothing to submit again.
 */
import { formatOutpoint, parseOutpoint, QuoinError } from '@quoin/primitives'
import type { Store, StoreReads } from '@quoin/store'
import { type Ban, banFields, discoveryKeys, siteDigest } from './keys.ts'
import { siteOf } from './uri.ts'

export const BAN_TYPES = ['domain', 'outpoint'] as const
export type BanType = (typeof BAN_TYPES)[number]

const { bans } = discoveryKeys.collections
const { site, advertisement } = banFields.collections
const MAX_BANS = 10_000

export const banList = async (reads: StoreReads): Promise<Ban[]> => {
  const all = await reads.use(bans).at().all()
  return [...all.entries(site), ...all.entries(advertisement)].map(({ value }) => value)
}

/** Bans a host, by its URI or its name, or one advertisement. */
export const ban = async (store: Store, type: BanType, value: string, reason?: string): Promise<Ban> => {
  const banned: Ban = {
    type,
    value: normalized(type, value),
    ...(reason !== undefined && { reason }),
    at: Math.floor(Date.now() / 1000)
  }
  if ((await banList(store)).length >= MAX_BANS)
    throw new QuoinError(
      'ERR_REQUEST_LIMIT',
      `the ban list is full: at most ${MAX_BANS} entries; lift a ban first`
    )
  const batch = store.batch()
  const fields = batch.use(bans).at()
  if (type === 'domain') fields.set(site, [siteDigest(banned.value)], banned)
  else fields.set(advertisement, [parseOutpoint(banned.value)], banned)
  await batch.commit()
  return banned
}

/** Lifts a ban; answers whether there was one. */
export const unban = async (store: Store, type: BanType, value: string): Promise<boolean> => {
  const name = normalized(type, value)
  const stored = store.use(bans).at()
  const known =
    type === 'domain'
      ? await stored.get(site, siteDigest(name))
      : await stored.get(advertisement, parseOutpoint(name))
  const batch = store.batch()
  const fields = batch.use(bans).at()
  if (type === 'domain') fields.delete(site, siteDigest(name))
  else fields.delete(advertisement, parseOutpoint(name))
  await batch.commit()
  return known !== undefined
}

/** Host and port of a URI or of a bare host; `txid.vout` of an outpoint in any spelling. */
const normalized = (type: BanType, value: string): string => {
  if (type === 'outpoint') return formatOutpoint(parseOutpoint(value))
  const name = siteOf(value) ?? (/^[^\s/:@?#]+(:\d+)?$/.test(value) ? siteOf(`https://${value}`) : undefined)
  if (name === undefined)
    throw new QuoinError(
      'ERR_REQUEST',
      `invalid domain: ${value}; expected a URI as https://node.example.com, or a host name`,
      { where: 'body', path: '/value' }
    )
  return name
}
