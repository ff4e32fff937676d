/** Damaged rows in place: one flipped bit is corrected, more are deleted where that is safe. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toHex } from '@quoin/primitives'
import { afterAll, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'
import { openVolume } from './copy.ts'
import { type InspectedRow, inspectStore } from './inspect.ts'
import { TAG } from './layout.ts'
import { repairRow } from './repair-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-mend-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let folders = 0

const filled = async (kind: string): Promise<string> => {
  const path = join(folder, `${folders++}`)
  const store = await openStore(`${kind}:${path}`)
  const batch = store.batch().set(bytes('key'), bytes('a value')).hset(bytes('hash'), bytes('f'), bytes('v'))
  for (let i = 0; i < 300; i++) batch.hset(bytes('wide'), bytes(`field ${i}`), bytes('some value'))
  for (let i = 0; i < 20; i++) batch.zadd(bytes('sorted'), { member: bytes(`member ${i}`), score: i })
  await batch.commit()
  await store.close()
  return path
}
const digestOf = async (url: string) => (await inspectStore(url)).sha256
const damageOf = async (url: string): Promise<InspectedRow[]> => {
  const damage: InspectedRow[] = []
  await inspectStore(url, { onDamage: row => damage.push(row) })
  return damage
}

describe.each(['lmdb', 'level'] as const)('in %s', kind => {
  const damage = async (
    path: string,
    change: (value: Uint8Array) => Uint8Array
  ): Promise<Map<string, number>> => {
    const changed = new Map<string, number>()
    const volume = await openVolume(kind, path, 'write')
    for await (const rows of volume.chunks()) {
      for (const { key, value } of rows) {
        const tag = key[0]!
        if (tag === TAG.meta || [...changed.values()].includes(tag)) continue
        await volume.put({ key, value: change(value.slice()) })
        changed.set(toHex(key), tag)
      }
    }
    await volume.close()
    return changed
  }

  it('a flipped bit is corrected, in every kind of row', async () => {
    const path = await filled(kind)
    const url = `${kind}:${path}`
    const before = await digestOf(url)
    const changed = await damage(path, value => {
      value[Math.floor(value.length / 2)]! ^= 8
      return value
    })
    const found = await damageOf(url)
    expect(found.map(({ row }) => row).sort()).toEqual([...changed.keys()].sort())
    for (const row of found) expect(await repairRow(url, row)).toBe('corrected')
    expect(await digestOf(url)).toBe(before)
    expect(await repairRow(url, found[0]!)).toBe('changed')
  })

  it('a row with more damage is deleted if other rows do without it, and left otherwise', async () => {
    const path = await filled(kind)
    const url = `${kind}:${path}`
    const changed = await damage(path, value => value.fill(0x5a))
    for (const row of await damageOf(url)) {
      const isDeletable = [TAG.value, TAG.hash, TAG.field].includes(changed.get(row.row) as never)
      expect([row.collection, await repairRow(url, row)]).toEqual([
        row.collection,
        isDeletable ? 'deleted' : 'left'
      ])
    }
  })

  it('the id of a wide hash is left, and a dry run changes nothing', async () => {
    const path = await filled(kind)
    const url = `${kind}:${path}`
    const volume = await openVolume(kind, path, 'write')
    const key = bytes('hwide')
    await volume.put({ key, value: new Uint8Array(volume.get(key)!).fill(0x5a) })
    await volume.put({ key: bytes('vkey'), value: new Uint8Array(volume.get(bytes('vkey'))!).fill(0x5a) })
    await volume.close()
    const [wide, value] = await damageOf(url)
    const before = await digestOf(url)
    expect(await repairRow(url, wide!)).toBe('left')
    expect(await repairRow(url, value!, { dryRun: true })).toBe('deleted')
    expect(await digestOf(url)).toBe(before)
  })

  it('a key with a flipped bit is put where it belongs', async () => {
    const path = await filled(kind)
    const url = `${kind}:${path}`
    const before = await digestOf(url)
    const volume = await openVolume(kind, path, 'write')
    const key = bytes('vkey')
    const value = new Uint8Array(volume.get(key)!)
    await volume.close()
    const moved = key.slice()
    moved[3]! ^= 2
    const { mdb, level } = {
      mdb: async () => {
        const { openHandle } = await import('./lmdb-handle.ts')
        const handle = openHandle(path)
        handle.transactionSync(() => {
          handle.removeSync(key)
          handle.putSync(moved, value)
        })
        await handle.close()
      },
      level: async () => {
        const { openHandle } = await import('./level-handle.ts')
        const handle = await openHandle(path)
        await handle.batch([
          { type: 'del', key },
          { type: 'put', key: moved, value }
        ])
        await handle.close()
      }
    }
    await (kind === 'lmdb' ? mdb() : level())
    const [row] = await damageOf(url)
    expect(row?.row).toBe(toHex(moved))
    expect(await repairRow(url, row!)).toBe('corrected')
    expect(await digestOf(url)).toBe(before)
  })
})
