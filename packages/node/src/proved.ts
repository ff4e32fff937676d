/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  '6f1620b053274346f297e2cfe9'
]
