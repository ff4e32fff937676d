/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  'edad0dd655b87ec335bc445f9c'
]
