/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // broadcasts
  'a2f7018671f045374ce0d7bc40',
  // cursor-fields
  'c31ce7c599e096c9261cd63c01',
  // overlay
  '1417d95c2c1f4b11259014118d',
  // stamp-fields
  'da5db14f3fc9a8288470676792',
  // store of overlay
  '9d571db30541ebbdd5b1e38e60'
]
