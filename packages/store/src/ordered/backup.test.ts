import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore, type Store } from '../store.ts'
import { restore, verifyBackup } from './backup.ts'
import { seal } from './checksum.ts'
import { CHUNK_BYTES, CHUNK_ROWS, openVolume } from './copy.ts'
import { META, TAG, tagged } from './layout.ts'
import { SCHEMA_VERSION } from './schema.ts'

const KINDS = ['lmdb', 'level'] as const

let folder: string
let opened: Store[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-backup-'))
  opened = []
})
afterEach(async () => {
  for (const store of opened) await store.close()
  await rm(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
const open = async (url: string): Promise<Store> => {
  const store = await openStore(url)
  opened.push(store)
  return store
}
/** With a row of each kind, small, empty and large. */
const openFilled = async (kind: string, rows = 100): Promise<Store> => {
  const store = await open(`${kind}:${at('live')}`)
  const batch = store
    .batch()
    .set(bytes(''), bytes(''))
    .set(bytes('large'), new Uint8Array(3 * CHUNK_BYTES).fill(7))
  for (let i = 0; i < rows; i++) {
    const key = bytes(`key ${i}`)
    batch.set(key, bytes(`value ${i}`)).sadd(bytes('set'), key)
    batch.zadd(bytes('sorted'), { member: key, score: i / 3 }).hset(bytes('hash'), key, bytes('x'))
  }
  await batch.commit()
  await store.queue(bytes('queue')).enqueue(bytes('item'), 1)
  return store
}
/** What a whole store holds, as one string: two that are the same have the same. */
const contents = async (store: Store): Promise<string> => {
  const name = at(`contents ${readdirSync(folder).length}`)
  await store.backup(name)
  return (await verifyBackup(name)).sha256
}

const sealedRow = (name: string, value: string) => {
  const key = tagged(TAG.value, bytes(name))
  return { key, value: seal(key, bytes(value)).slice() }
}

describe.each(KINDS)('a backup of %s', kind => {
  it('says what it holds, and is verified by reading it', async () => {
    const store = await openFilled(kind)
    const done: Record<string, number> = {}
    await store.backup(at('backup'), {
      onProgress: (rows, doing) => {
        done[doing] = rows
      }
    })
    const manifest = JSON.parse(readFileSync(at('backup/backup.json'), 'utf8'))
    expect(manifest).toMatchObject({
      engine: kind,
      schema: SCHEMA_VERSION,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
    expect(Date.now() - Date.parse(manifest.time)).toBeLessThan(60_000)
    expect(done).toEqual({ copying: manifest.rows, verifying: manifest.rows })
    expect(await verifyBackup(at('backup'))).toEqual(manifest)
  })

  it('digests each row as lengths and bytes, the schema row left out', async () => {
    await openFilled(kind, 3).then(store => store.backup(at('backup')))
    const hash = createHash('sha256')
    let rows = 0
    const volume = await openVolume(kind, at('backup'), 'read')
    for await (const chunk of volume.chunks()) {
      for (const { key, value } of chunk) {
        if (Buffer.from(key).equals(META.schema)) continue
        rows++
        for (const part of [key, value]) {
          hash.update(new Uint8Array(Uint32Array.of(part.length).buffer)).update(part)
        }
      }
    }
    await volume.close()
    expect(await verifyBackup(at('backup'))).toMatchObject({ rows, sha256: hash.digest('hex') })
  })

  it('holds one state, while the store is written to', async () => {
    const store = await openFilled(kind, 5000)
    let writing = true
    let written = 0
    const writer = (async () => {
      while (writing) {
        const value = bytes(String(written++))
        await store.batch().set(bytes('first'), value).hset(bytes('last'), bytes('f'), value).commit()
      }
    })()
    while (written < 3) await new Promise(resolve => setTimeout(resolve, 1))
    await store.backup(at('backup'))
    writing = false
    await writer
    const copy = await open(`${kind}:${at('backup')}`)
    const first = await copy.get(bytes('first'))
    expect(first).toBeDefined()
    expect(await copy.hget(bytes('last'), bytes('f'))).toEqual(first)
    expect(await copy.zcard(bytes('sorted'))).toBe(5000)
    expect(await store.zcard(bytes('sorted'))).toBe(5000)
  })

  it('reads no more than a chunk and a row at a time', async () => {
    await openFilled(kind, 5000).then(store => store.backup(at('backup')))
    const volume = await openVolume(kind, at('backup'), 'read')
    for await (const chunk of volume.chunks()) {
      expect(chunk.length).toBeLessThanOrEqual(CHUNK_ROWS)
      const size = chunk.slice(0, -1).reduce((sum, { key, value }) => sum + key.length + value.length, 0)
      expect(size).toBeLessThanOrEqual(CHUNK_BYTES)
    }
    await volume.close()
  })

  it('of nothing is a store with nothing in it', async () => {
    const store = await open(`${kind}:${at('live')}`)
    await store.backup(at('backup'))
    expect((await verifyBackup(at('backup'))).rows).toBe(0)
    await restore(at('backup'), `${kind}:${at('restored')}`)
    expect(await (await open(`${kind}:${at('restored')}`)).get(bytes('a'))).toBeUndefined()
  })

  it('refuses a directory that is not empty, and leaves it alone', async () => {
    const store = await openFilled(kind)
    await mkdir(at('taken'))
    writeFileSync(at('taken/mine.txt'), 'mine')
    await expect(store.backup(at('taken'))).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
    await expect(store.backup(at('taken/mine.txt'))).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
    expect(readdirSync(at('taken'))).toEqual(['mine.txt'])
    await expect(store.backup(at('live'))).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
    expect(await store.get(bytes('key 1'))).toBeDefined()
  })

  it('that is ended leaves nothing, and the store goes on', async () => {
    const store = await openFilled(kind, 5000)
    await mkdir(at('empty'))
    for (const directory of [at('new'), at('empty')]) {
      const controller = new AbortController()
      const backup = store.backup(directory, {
        signal: controller.signal,
        onProgress: () => controller.abort(new Error('enough'))
      })
      await expect(backup).rejects.toThrow('enough')
    }
    expect(existsSync(at('new'))).toBe(false)
    expect(readdirSync(at('empty'))).toEqual([])
    await store.set(bytes('after'), bytes('1'))
    await store.backup(at('new'))
  })

  it('ends when the store is closed', async () => {
    const store = await openFilled(kind, 5000)
    const backup = store.backup(at('backup')).catch(error => error)
    await store.close()
    expect(await backup).toMatchObject({ code: 'ERR_STORE_CLOSED' })
    expect(existsSync(at('backup'))).toBe(false)
  })

  it('without its manifest is not finished', async () => {
    await openFilled(kind).then(store => store.backup(at('backup')))
    await rm(at('backup/backup.json'))
    const message = expect.stringContaining('no finished backup')
    await expect(verifyBackup(at('backup'))).rejects.toMatchObject({ code: 'ERR_STORE_CORRUPT', message })
    await expect(verifyBackup(at('nowhere'))).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
  })

  it.each([
    ['a value that changed', 'sha256 should be', sealedRow('key 1', 'VALUE 1')],
    ['a row too many', 'rows should be', sealedRow('new', '')],
    ['a value that grew', 'bytes should be', sealedRow('key 1', 'value 1 ')],
    [
      'a damaged row',
      'its checksum does not fit',
      { ...sealedRow('key 1', 'value 1'), value: bytes('value 2____') }
    ]
  ])('with %s is refused, and nothing is restored of it', async (_, reason, row) => {
    await openFilled(kind).then(store => store.backup(at('backup')))
    const volume = await openVolume(kind, at('backup'), 'write')
    await volume.put(row)
    await volume.close()
    const refusal = { code: 'ERR_STORE_CORRUPT', message: expect.stringContaining(reason) }
    await expect(verifyBackup(at('backup'))).rejects.toMatchObject(refusal)
    await expect(restore(at('backup'), `${kind}:${at('restored')}`)).rejects.toMatchObject(refusal)
    expect(existsSync(at('restored'))).toBe(false)
  })

  it('by a newer Quoin is refused', async () => {
    await openFilled(kind).then(store => store.backup(at('backup')))
    const file = at('backup/backup.json')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/"schema": \d+/, `"schema": ${SCHEMA_VERSION + 1}`)
    )
    await expect(verifyBackup(at('backup'))).rejects.toMatchObject({ code: 'ERR_STORE_VERSION' })
  })

  it.each(KINDS)('is restored into %s, whole, and the store can be written', async target => {
    const live = await openFilled(kind)
    await live.backup(at('backup'))
    const rows: number[] = []
    await restore(at('backup'), `${target}:${at('restored')}`, { onProgress: count => rows.push(count) })
    expect(rows.length).toBeGreaterThan(2)
    const restored = await open(`${target}:${at('restored')}`)
    expect(await contents(restored)).toBe(await contents(live))
    expect(await restored.get(bytes('large'))).toHaveLength(3 * CHUNK_BYTES)
    await restored.zadd(bytes('sorted'), { member: bytes('new'), score: 1 })
    expect(await restored.zcard(bytes('sorted'))).toBe(101)
  })

  it('is not restored over anything', async () => {
    const store = await openFilled(kind)
    await store.backup(at('backup'))
    for (const url of [`lmdb:${at('live')}`, `level:${at('backup')}`]) {
      await expect(restore(at('backup'), url)).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
    }
    for (const url of ['memory:', `lmdb:${at('new')}?read-only`, 'redis://localhost']) {
      await expect(restore(at('backup'), url)).rejects.toMatchObject({ code: 'ERR_STORE_URL' })
    }
  })

  it('whose restoring is cut off leaves no store', async () => {
    await openFilled(kind, 5000).then(store => store.backup(at('backup')))
    const controller = new AbortController()
    const restoring = restore(at('backup'), `${kind}:${at('restored')}`, {
      signal: controller.signal,
      onProgress: (_, doing) => doing === 'copying' && controller.abort(new Error('enough'))
    })
    await expect(restoring).rejects.toThrow('enough')
    expect(existsSync(at('restored'))).toBe(false)
  })
})

it('a store in memory has no backup', async () => {
  const store = await open('memory:')
  await expect(store.backup(at('backup'))).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
  expect(existsSync(at('backup'))).toBe(false)
})

it('rows of a volume come in order, or are refused', async () => {
  await mkdir(at('volume'))
  const volume = await openVolume('lmdb', at('volume'), 'write')
  const row = (name: string) => ({ key: bytes(name), value: bytes('') })
  await volume.append([row('a'), row('b')], false)
  await expect(async () => volume.append([row('a')], false)).rejects.toMatchObject({
    code: 'ERR_STORE_CORRUPT'
  })
  await volume.close()
})
