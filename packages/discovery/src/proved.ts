/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // discovery-events
  '8f9172a98ec92187b56316449d'
]
