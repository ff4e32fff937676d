/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // chain
  '08a15b1265d21c1e53d92a9829'
]
