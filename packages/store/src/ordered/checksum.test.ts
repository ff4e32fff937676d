import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore, type Store } from '../store.ts'
import { seal, unseal } from './checksum.ts'
import { openVolume } from './copy.ts'
import { TAG } from './layout.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-checksum-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let folders = 0
const newPath = (): string => join(folder, `${folders++}`)

const rowBytes = fc.uint8Array({ maxLength: 80 })
const flipped = (row: Uint8Array, bit: number): Uint8Array => {
  const copy = row.slice()
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}
const CORRUPT = expect.objectContaining({ code: 'ERR_STORE_CORRUPT' })

describe('the checksum of a row', () => {
  it('agrees with MurmurHash3 (x86, 32 bits)', () => {
    // Of the reference implementation, seed 0: the empty value is hashed with the digest of the key as its seed.
    const word = (row: Uint8Array): number => new DataView(row.slice().buffer).getUint32(0, true)
    expect(word(seal(bytes(''), bytes('')))).toBe(0)
    const key = new Uint8Array([0x21, 0x43, 0x65, 0x87])
    // murmur3('21436587') is f55b516b; the finalizer of that, with length 0, follows.
    const mix = (hash: number): number => {
      let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
      return (mixed ^ (mixed >>> 16)) >>> 0
    }
    expect(word(seal(key, bytes('')))).toBe(mix(0xf55b516b))
  })

  it('lets a row through as it was', () => {
    fc.assert(
      fc.property(rowBytes, rowBytes, (key, value) => {
        expect(unseal(key, seal(key, value).slice())).toEqual(value)
      })
    )
  })

  it('detects every flipped bit of the key, the value and the checksum', () => {
    fc.assert(
      fc.property(rowBytes, rowBytes, (key, value) => {
        const row = seal(key, value).slice()
        for (let bit = 0; bit < 8 * row.length; bit++) {
          expect(() => unseal(key, flipped(row, bit))).toThrow(CORRUPT)
        }
        for (let bit = 0; bit < 8 * key.length; bit++) {
          expect(() => unseal(flipped(key, bit), row)).toThrow(CORRUPT)
        }
      }),
      { numRuns: 30 }
    )
  })

  it('detects a row that is cut short', () => {
    const row = seal(bytes('key'), bytes('value')).slice()
    for (let length = 0; length < row.length; length++) {
      expect(() => unseal(bytes('key'), row.subarray(0, length))).toThrow(CORRUPT)
    }
  })
})

const filled = async (url: string): Promise<Store> => {
  const store = await openStore(url)
  const batch = store
    .batch()
    .set(bytes('key'), bytes('value of the key'))
    .hset(bytes('hash'), bytes('f'), bytes('v'))
  for (let i = 0; i < 300; i++) batch.hset(bytes('wide'), bytes(`field ${i}`), bytes('some value'))
  for (let i = 0; i < 20; i++) batch.zadd(bytes('sorted'), { member: bytes(`member ${i}`), score: i })
  await batch.sadd(bytes('set'), bytes('m')).commit()
  await store.queue(bytes('queue')).enqueue(bytes('item'), 1)
  return store
}

/** Every read that may meet a row of the kind. */
const readsOf: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  value: store => store.get(bytes('key')),
  hash: store => store.hgetall(bytes('hash')),
  field: store => store.hgetall(bytes('wide')),
  row: store => store.zrange(bytes('sorted')),
  member: store => store.zscore(bytes('sorted'), bytes('member 3')),
  sortedSet: store => store.zcard(bytes('sorted')),
  set: store => store.smembers(bytes('set')),
  items: store => store.queue(bytes('queue')).list('due')
}

describe.each(['lmdb', 'level'] as const)('a damaged row in %s', kind => {
  it.each(Object.keys(readsOf))('of kind %s is reported, not read as another value', async name => {
    const path = newPath()
    await (await filled(`${kind}:${path}`)).close()
    const volume = await openVolume(kind, path, 'write')
    const tag = TAG[name as keyof typeof TAG]
    for await (const rows of volume.chunks()) {
      for (const { key, value } of rows) {
        if (key[0] === tag) await volume.put({ key, value: flipped(value, value.length * 4) })
      }
    }
    await volume.close()
    const store = await openStore(`${kind}:${path}`)
    try {
      await expect(readsOf[name]!(store)).rejects.toMatchObject({
        code: 'ERR_STORE_CORRUPT',
        details: { collection: name }
      })
    } finally {
      await store.close()
    }
  })

  it('fails the batch that reads it, not the others of its group', async () => {
    const path = newPath()
    await (await filled(`${kind}:${path}`)).close()
    const volume = await openVolume(kind, path, 'write')
    for await (const rows of volume.chunks()) {
      for (const { key, value } of rows)
        if (key[0] === TAG.hash) await volume.put({ key, value: flipped(value, 3) })
    }
    await volume.close()
    const store = await openStore(`${kind}:${path}`)
    try {
      const [first, damaged, last] = await Promise.allSettled([
        store.set(bytes('a'), bytes('1')),
        store.hset(bytes('hash'), bytes('g'), bytes('2')),
        store.set(bytes('b'), bytes('3'))
      ])
      expect([first?.status, last?.status]).toEqual(['fulfilled', 'fulfilled'])
      expect(damaged).toMatchObject({ status: 'rejected', reason: { code: 'ERR_STORE_CORRUPT' } })
      expect(await store.get(bytes('b'))).toEqual(bytes('3'))
    } finally {
      await store.close()
    }
  })
})

describe('a bit that flips in the file of LMDB', () => {
  it('is reported when the value is read', async () => {
    const path = newPath()
    await (await filled(`lmdb:${path}`)).close()
    const file = join(path, 'data.mdb')
    const content = readFileSync(file)
    for (
      let at = content.indexOf('value of the key');
      at !== -1;
      at = content.indexOf('value of the key', at + 1)
    ) {
      content[at + 3]! ^= 16
    }
    writeFileSync(file, content)
    const store = await openStore(`lmdb:${path}`)
    try {
      await expect(store.get(bytes('key'))).rejects.toMatchObject({ code: 'ERR_STORE_CORRUPT' })
    } finally {
      await store.close()
    }
  })
})
