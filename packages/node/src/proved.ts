/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  '96b2fdf40cdd92b2d62e2086eb'
]
