/** Differences of stores, to be read by people. */
import { toHex } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { compareIndexes, type Difference } from '../compare.ts'

export const firstDifference = async (found: Store, wanted: Store): Promise<string | undefined> => {
  for await (const each of compareIndexes(found, wanted)) return showDifference(each)
  return undefined
}

export const showDifference = ({ key, part, found, expected: wanted }: Difference): string =>
  `${readable(key)} ${readable(part)}: ${found}; expected: ${wanted}`

const readable = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes).toString('latin1')
  const [, prefix = ''] = /^([ -~]*)/.exec(text) ?? []
  return prefix + toHex(bytes.subarray(prefix.length))
}
