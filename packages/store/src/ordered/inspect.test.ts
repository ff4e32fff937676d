/** `inspectStore` on files with flipped bits: every flip that changes a read is found, and nothing crashes unsaid. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QuoinError } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'
import { openVolume } from './copy.ts'
import { type InspectedRow, inspectStore } from './inspect.ts'
import { TAG } from './layout.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-inspect-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let folders = 0
const newPath = (): string => join(folder, `${folders++}`)

const fill = async (url: string): Promise<void> => {
  const store = await openStore(url)
  for (let i = 0; i < 20; i++) {
    const batch = store.batch()
    for (let j = 0; j < 200; j++) {
      const name = bytes(`member ${i} ${j}`)
      batch.zadd(bytes(`set ${j % 7}`), { member: name, score: i * 1000 + j })
      batch.hset(bytes('wide'), name, bytes(`value ${i} ${j}`)).set(name, bytes('a value of its own'))
    }
    await batch.commit()
  }
  await store.close()
}

const damageIn = async (url: string) => {
  const damage: InspectedRow[] = []
  const inspection = await inspectStore(url, { onDamage: row => damage.push(row), silence: 10_000 })
  return { ...inspection, damage }
}

describe.each(['lmdb', 'level'] as const)('a store in %s', kind => {
  const path = newPath()
  beforeAll(() => fill(`${kind}:${path}`))

  it('that is whole has no damage, and all rows', async () => {
    const volume = await openVolume(kind, path, 'read')
    let rows = 0
    for await (const chunk of volume.chunks()) rows += chunk.length
    await volume.close()
    expect(await damageIn(`${kind}:${path}`)).toMatchObject({ rows, damaged: 0, faults: [], damage: [] })
  })

  it('has every damaged row reported with its collection and key, to the end', async () => {
    const copy = newPath()
    cpSync(path, copy, { recursive: true })
    const volume = await openVolume(kind, copy, 'write')
    const flipped: string[] = []
    for await (const rows of volume.chunks()) {
      for (const [i, { key, value }] of rows.entries()) {
        if (key[0] === TAG.meta || i % 301 !== 0) continue
        const changed = value.slice()
        changed[0]! ^= 4
        await volume.put({ key, value: changed })
        flipped.push(Buffer.from(key).toString('hex'))
      }
    }
    await volume.close()
    expect(flipped.length).toBeGreaterThan(20)
    const { damage, faults } = await damageIn(`${kind}:${copy}`)
    expect(damage.map(({ row }) => row)).toEqual(flipped)
    expect(new Set(damage.map(({ fault }) => fault))).toEqual(new Set(['checksum']))
    expect(damage.every(({ collection }) => collection !== 'unknown')).toBe(true)
    expect(faults).toEqual([])
  })
})

/** The first 24 bytes of a page: its number, the transaction that wrote it, flags, free space. */
const PAGE = 4096
const META_PAGES = 2
const FLIPS = 30

describe('a flipped bit in the file of LMDB', () => {
  const path = newPath()
  let sound: string | undefined
  beforeAll(async () => {
    await fill(`lmdb:${path}`)
    sound = (await inspectStore(`lmdb:${path}`)).sha256
  })

  it('is found wherever it changes a row, in leaves and in branches, or the store is refused', {
    timeout: 240_000
  }, async () => {
    const content = readFileSync(join(path, 'data.mdb'))
    let found = 0
    let state = 12345
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return state % below
    }
    for (let flip = 0; flip < FLIPS; flip++) {
      const copy = newPath()
      cpSync(path, copy, { recursive: true })
      const at = META_PAGES * PAGE + random(content.length - META_PAGES * PAGE)
      const changed = Buffer.from(content)
      changed[at]! ^= 1 << random(8)
      writeFileSync(join(copy, 'data.mdb'), changed)
      const outcome = await damageIn(`lmdb:${copy}`).catch((error: unknown) => error)
      if (outcome instanceof QuoinError) {
        found++
        continue
      }
      if (outcome instanceof Error) throw outcome
      const { damaged, faults, sha256 } = outcome as Awaited<ReturnType<typeof damageIn>>
      if (damaged + faults.length > 0) found++
      // Nothing is reported, so nothing is another.
      else expect(sha256, `flip at ${at}`).toBe(sound)
    }
    expect(found).toBeGreaterThan(FLIPS / 10)
  })

  it('is reported when it makes LMDB crash or fail in the middle', async () => {
    const copy = newPath()
    cpSync(path, copy, { recursive: true })
    const content = readFileSync(join(copy, 'data.mdb'))
    // Every branch page gets an entry that points beyond the file.
    let branches = 0
    for (let page = META_PAGES; page * PAGE < content.length; page++) {
      const flags = content.readUInt16LE(page * PAGE + 18)
      if ((flags & 0x01) === 0 || flags > 0x1f) continue
      branches++
      const pointer = content.readUInt16LE(page * PAGE + 24 + 2)
      content.writeUInt32LE(0x7fffffff, page * PAGE + pointer)
    }
    expect(branches).toBeGreaterThan(0)
    writeFileSync(join(copy, 'data.mdb'), content)
    const { faults, damaged } = await damageIn(`lmdb:${copy}`)
    expect(faults.length + damaged).toBeGreaterThan(0)
  })
})
