/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // change-fields
  '0fc941a5906c452cfae3e2d537',
  // output-events
  'ba4e22d0095875308c716acbae',
  // output-fields
  '0e71ddbb97bf90f4d31439fd30',
  // outputs
  'c0e6a7df92feb88d6ac2dfcdaa',
  // progress-fields
  '1cf9c994a0fa80ef825b7f7fb4',
  // satoshis-fields
  '691ca5a2c985eb300ee7faeb7c',
  // script-events
  'd62102ff194f6f2e3b03f523a8',
  // spend-fields
  '259f4c2462270dc5df50d54380'
]
