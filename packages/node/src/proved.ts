/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  '76dc5fcc515f5b7f2357f52985'
]
