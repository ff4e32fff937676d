/** Discovery of hosts by SHIP (BRC-23) and SLAP (BRC-25): advertisements, the topics that admit them, the lookups that find them. */

export {
  type Advertisement,
  isAdvertisableName,
  nameProblem,
  PROTOCOLS,
  type Protocol,
  parseAdvertisement,
  REFUSED_NAME_ADVICE,
  type Refusal,
  readAdvertisement
} from './advertisement.ts'
export {
  type AdvertisementPlan,
  type AdvertiserWallet,
  createAdvertisements,
  type FoundAdvertisement,
  planAdvertisements,
  readFound,
  revokeAdvertisements,
  type TaggedBeef
} from './advertiser.ts'
export { BAN_TYPES, type BanType, ban, banList, unban } from './bans.ts'
export { HostClient, type HostClientOptions } from './host-client.ts'
export { checkHost, DOWN_AFTER } from './host-health.ts'
export { checkHosts, hostRecords, type JanitorOptions, type JanitorReport } from './janitor.ts'
export { type Ban, discoveryEvents, discoveryKeys, type HostRecord } from './keys.ts'
export { discovery } from './plugin.ts'
export { isPublicAddress } from './public-address.ts'
export { type PublicFetchOptions, publicFetch, type ResolveHost } from './public-fetch.ts'
export { type DiscoveryQuery, parseQuery } from './query.ts'
export { canonicalUri, isAdvertisable, siteOf } from './uri.ts'
