/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // ban-fields
  '43b941e915366cadc852b16738',
  // discovery
  '1b2a891b58d0734db083499dd7',
  // discovery-events
  '42517814269b43522598767b8a',
  // host-fields
  '6980b5b8b7e514c92c63b5e205'
]
