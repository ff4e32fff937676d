/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // cursor-fields
  'c31ce7c599e096c9261cd63c01',
  // overlay
  '624710a08e1fcd7014ace73058',
  // store of overlay
  'ac6c8cde42adafc33fa4c2e9ec'
]
