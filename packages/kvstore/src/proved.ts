/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // kv-events
  '6d2940fcbe0208989b282bfe26'
]
