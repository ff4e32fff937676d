/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // layouts
  '87dc2dadb6079c90a9267ae88a',
  // store-rows
  '40a7488b48eadf3c22546ffbed'
]
