/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  'e0e98296fad4fc671d8b0fdda4'
]
