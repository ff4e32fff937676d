/** Discovery of hosts by SHIP (BRC-23) and SLAP (BRC-25): advertisements, the topics that admit them, the lookups that find them. */

export {
  type Advertisement,
  isAdvertisableName,
  type Protocol,
  parseAdvertisement,
  type Refusal
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
export { discoveryEvents } from './keys.ts'
export { discovery } from './plugin.ts'
export { type DiscoveryQuery, parseQuery } from './query.ts'
export { isAdvertisable } from './uri.ts'
