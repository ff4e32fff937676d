/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // store of node
  'd9b89d4b2d81ef18bc171cc401'
]
