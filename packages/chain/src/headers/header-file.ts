/**
 * Headers of a file as merkle roots, for verification without a node: 80 bytes each, or a line of 160 hexadecimal digits
 * each, in the order of their heights. Links and proof of work are checked. Whose chain it is, is for the owner of the
 * file to say: nothing here compares it with others.
 */
import { readFile } from 'node:fs/promises'
import { equalBytes, fromHex, QuoinError, reasonOf } from '@quoin/primitives'
import type { RootTracker } from '../verify/verify.ts'
import { formatHash, HEADER_LENGTH, type Header, readHeaders } from './header.ts'

/** `from` is the height of the first header. Throws `ERR_FILE`, `ERR_HEADER_FORMAT` and `ERR_HEADER_INVALID`. */
export const headerFileRoots = async (path: string, from = 0): Promise<RootTracker> => {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (error) {
    throw new QuoinError('ERR_FILE', `cannot read ${path}: ${reasonOf(error)}`, { path, cause: error })
  }
  return rootsOf(headersOf(bytes, path), from)
}

const headersOf = (bytes: Uint8Array, path: string): Header[] => {
  const text = Buffer.from(bytes).toString('latin1')
  const isText = /^[0-9a-fA-F]{160}\s/.test(`${text.slice(0, 160)}${text[160] ?? '\n'}`)
  const raw = isText ? fromHexLines(text, path) : bytes
  if (raw.length === 0 || raw.length % HEADER_LENGTH > 0) {
    throw new QuoinError('ERR_HEADER_FORMAT', `${path} has ${raw.length} bytes: not headers of 80 each`, {
      path,
      size: raw.length
    })
  }
  return readHeaders(raw)
}

const fromHexLines = (text: string, path: string): Uint8Array => {
  const lines = text.split(/\r?\n/).filter(line => line !== '')
  const wrong = lines.findIndex(line => !/^[0-9a-fA-F]{160}$/.test(line))
  if (wrong === -1) return fromHex(lines.join(''))
  throw new QuoinError('ERR_HEADER_FORMAT', `line ${wrong + 1} of ${path} is not a header of 160 digits`, {
    path
  })
}

const rootsOf = (headers: readonly Header[], from: number): RootTracker => {
  for (const [i, header] of headers.entries()) {
    const before = headers[i - 1]
    const reason = !header.hasProofOfWork
      ? 'has no proof of work'
      : before && !equalBytes(header.previous, before.hash)
        ? 'does not follow the one before it'
        : undefined
    if (reason) {
      throw new QuoinError('ERR_HEADER_INVALID', `the header at height ${from + i} ${reason}`, {
        height: from + i
      })
    }
  }
  return {
    isValidRootForHeight: async (root, height) => {
      const header = headers[height - from]
      return header !== undefined && formatHash(header.merkleRoot) === root.toLowerCase()
    },
    currentHeight: async () => from + headers.length - 1
  }
}
