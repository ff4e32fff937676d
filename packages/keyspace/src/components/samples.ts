/** Values that people recognise, in which one begins another: `gold` and `golden`, an address and a longer one. */
import { fromHex } from '@quoin/primitives'

export const TEXT_SAMPLES: readonly string[] = ['gold', 'golden', 'en', 'engold', 'silver', 'a', 'b']

export const BYTES_SAMPLES: readonly Uint8Array[] = ['a1b2', 'a1b2c3', 'c3', 'c3d4', '0102', '676f6c64'].map(
  fromHex
)
