/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // cursor-fields
  'c31ce7c599e096c9261cd63c01',
  // overlay
  'ef6480b00be56876484f2b9edc',
  // store of overlay
  '62c6ed9151b1b443b0c87d19b7'
]
