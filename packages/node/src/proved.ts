/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  '404bf899dd2deb381de54a4b51'
]
