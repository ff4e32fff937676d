/** Headers of a file: their roots, and files that are not a chain. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { toHex } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHash } from './header.ts'
import { headerFileRoots } from './header-file.ts'

describe('headerFileRoots', () => {
  const chain = new DevChain()
  let folder: string
  let headers: Uint8Array
  beforeAll(async () => {
    chain.mine(5)
    headers = await chain.headers(0, 6)
    folder = await mkdtemp(join(tmpdir(), 'quoin-headers-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const written = async (content: Uint8Array | string): Promise<string> => {
    const path = join(folder, 'headers')
    await writeFile(path, content)
    return path
  }
  const rootAt = (height: number): string => formatHash(chain.header(height)!.header.merkleRoot)
  const lines = (bytes: Uint8Array): string[] =>
    Array.from({ length: bytes.length / 80 }, (_, i) => toHex(bytes.subarray(80 * i, 80 * i + 80)))

  it('knows the roots, in bytes and in lines, from any height', async () => {
    for (const content of [headers, lines(headers).join('\n'), `${lines(headers).join('\r\n')}\r\n`]) {
      const roots = await headerFileRoots(await written(content))
      expect(await roots.currentHeight()).toBe(5)
      expect(await roots.isValidRootForHeight(rootAt(3).toUpperCase(), 3)).toBe(true)
      expect(await roots.isValidRootForHeight(rootAt(3), 4)).toBe(false)
      expect(await roots.isValidRootForHeight(rootAt(3), 6)).toBe(false)
    }
    const later = await headerFileRoots(await written(headers.subarray(160)), 2)
    expect(await later.isValidRootForHeight(rootAt(3), 3)).toBe(true)
    expect(await later.isValidRootForHeight(rootAt(1), 1)).toBe(false)
    expect(await later.currentHeight()).toBe(5)
  })

  it.each<[string, () => Uint8Array | string, string]>([
    ['nothing', () => '', 'ERR_HEADER_FORMAT'],
    ['a part of a header', () => headers.subarray(0, 470), 'ERR_HEADER_FORMAT'],
    ['a line that is no header', () => `${lines(headers)[0]}\nx`, 'ERR_HEADER_FORMAT'],
    [
      'a gap',
      () => Uint8Array.from([...headers.subarray(0, 80), ...headers.subarray(160)]),
      'ERR_HEADER_INVALID'
    ],
    ['no work', () => headers.map((byte, at) => (at >= 72 && at < 76 ? 1 : byte)), 'ERR_HEADER_INVALID']
  ])('is not of %s', async (_, content, code) => {
    await expect(headerFileRoots(await written(content()))).rejects.toMatchObject({ code })
  })

  it('is not of a file that is not there', async () => {
    await expect(headerFileRoots(join(folder, 'none'))).rejects.toMatchObject({ code: 'ERR_FILE' })
  })
})
