/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // live-lookups
  '0caead93cd0bd4677b75392196',
  // session-fields
  '2084da4a16c7755cac17cc7f33',
  // store of node
  '7d543dfbd8d64011060ccaf534'
]
