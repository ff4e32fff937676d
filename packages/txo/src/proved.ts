/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // change-fields
  '0fc941a5906c452cfae3e2d537',
  // output-events
  'ba4e22d0095875308c716acbae',
  // output-fields
  'f04fbbdb12a2ddf120a7d217db',
  // outputs
  '37b099ca29ee2d679e813667a1',
  // progress-fields
  '1cf9c994a0fa80ef825b7f7fb4',
  // script-events
  'd62102ff194f6f2e3b03f523a8',
  // spend-fields
  '259f4c2462270dc5df50d54380'
]
