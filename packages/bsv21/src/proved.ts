/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // bsv21
  '23a6baf13b245340aab7454fa1',
  // bsv21-events
  'd99e3d16b30337f79b9d92d6fa'
]
