import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { open } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'
import { openVolume } from './copy.ts'
import { META } from './layout.ts'
import { packId } from './rows.ts'
import { SCHEMA_VERSION } from './schema.ts'

let path: string
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'quoin-schema-'))
})
afterEach(() => rm(path, { recursive: true, force: true }))

/** All files, those apart that only say who has the database open. */
const fingerprint = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path)
      .filter(file => file !== 'lock.mdb')
      .map(file => [
        file,
        createHash('sha256')
          .update(readFileSync(join(path, file)))
          .digest('hex')
      ])
  )

const URLS: Readonly<Record<string, readonly string[]>> = {
  lmdb: ['lmdb:PATH', 'lmdb:PATH?read-only'],
  level: ['level:PATH']
}
const refused = async (kind: string, message: string): Promise<void> => {
  for (const url of URLS[kind]!) {
    const refusal = { code: 'ERR_STORE_VERSION', message: expect.stringContaining(message) }
    await expect(openStore(url.replace('PATH', path))).rejects.toMatchObject(refusal)
  }
}

describe.each(['lmdb', 'level'] as const)('the schema version of %s', kind => {
  const make = async (): Promise<void> => {
    const store = await openStore(`${kind}:${path}`)
    await store.set(bytes('a'), bytes('1'))
    await store.close()
  }
  const putRow = async (key: Uint8Array, value: Uint8Array): Promise<void> => {
    const volume = await openVolume(kind, path, 'write')
    await volume.put({ key, value })
    await volume.close()
  }

  it('is written when the store is made, before its first commit', async () => {
    await (await openStore(`${kind}:${path}`)).close()
    const volume = await openVolume(kind, path, 'read')
    expect(Buffer.from(volume.get(META.schema)!)).toEqual(Buffer.from(packId(SCHEMA_VERSION)))
    await volume.close()
  })

  it('is said by stats', async () => {
    const store = await openStore(`${kind}:${path}`)
    expect((await store.stats()).details).toMatchObject({ schema: SCHEMA_VERSION })
    await store.close()
  })

  it('of a newer Quoin is refused, with what wrote it and what is read', async () => {
    await make()
    await putRow(META.schema, packId(SCHEMA_VERSION + 1))
    await refused(kind, `schema version ${SCHEMA_VERSION + 1}, and this one reads ${SCHEMA_VERSION}`)
  })

  it('of an earlier Quoin is refused, with the command that upgrades', async () => {
    await make()
    await putRow(META.schema, packId(SCHEMA_VERSION - 1))
    await expect(openStore(`${kind}:${path}`)).rejects.toMatchObject({
      code: 'ERR_STORE_UPGRADE',
      message: expect.stringContaining(`Run: quoin upgrade ${kind}:${path}`)
    })
  })

  it('that is unknown is refused', async () => {
    await make()
    await putRow(META.schema, bytes('x'))
    await refused(kind, 'unknown schema version 78')
  })

  it('is missing while rows are copied, so a copy that was cut off is no store', async () => {
    const volume = await openVolume(kind, path, 'write')
    await volume.append([{ key: bytes('va'), value: bytes('1') }], true)
    await volume.close()
    await refused(kind, 'a copy that was cut off')
  })

  it('does not count while a copy into the directory is not finished', async () => {
    await make()
    writeFileSync(join(path, 'unfinished.json'), '{}')
    await refused(kind, 'a copy that was cut off, or is being made')
  })

  it('lets the store be opened again, and again by this process', async () => {
    await make()
    const store = await openStore(`${kind}:${path}`, { create: false })
    expect(await store.get(bytes('a'))).toBeDefined()
    await store.close()
  })

  it('a store that is not there is not made when told not to', async () => {
    const opening = openStore(`${kind}:${path}/none`, { create: false })
    await expect(opening).rejects.toMatchObject({
      code: 'ERR_STORE_OPTION',
      message: expect.stringContaining(`no ${kind} store in`)
    })
    expect(readdirSync(path)).toEqual([])
  })

  it('a file where the directory should be is refused', async () => {
    writeFileSync(join(path, 'file'), '')
    const opening = openStore(`${kind}:${path}/file`)
    await expect(opening).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_STORE_/) })
  })
})

describe('a directory of another program', () => {
  it('with rows in LMDB is refused and stays as it is', async () => {
    const foreign = open({ path, noSubdir: false })
    await foreign.put('key', 'value')
    await foreign.close()
    const before = fingerprint()
    await refused('lmdb', 'it is of another program')
    expect(fingerprint()).toEqual(before)
  })

  it('with a LevelDB is refused and stays as it is', async () => {
    const foreign = new ClassicLevel(path)
    await foreign.put('key', 'value')
    await foreign.close()
    const before = fingerprint()
    await refused('level', 'is of another program')
    expect(fingerprint()).toEqual(before)
  })

  it.each([
    ['the older format of LMDB', (page: Buffer) => page.writeUInt32LE(1, 28)],
    ['no LMDB at all', (page: Buffer) => page.fill('text')]
  ])('with %s in the file is refused and stays as it is', async (_, change) => {
    const page = Buffer.alloc(8192)
    page.writeUInt32LE(0xbeefc0de, 24)
    change(page)
    writeFileSync(join(path, 'data.mdb'), page)
    const before = fingerprint()
    await refused('lmdb', 'is not an LMDB file that Quoin can read')
    expect(fingerprint()).toEqual(before)
  })

  it('of the other kind is refused, with the URL that opens it', async () => {
    for (const [kind, other] of [
      ['lmdb', 'level'],
      ['level', 'lmdb']
    ] as const) {
      const directory = join(path, kind)
      mkdirSync(directory)
      await (await openStore(`${kind}:${directory}`)).close()
      await expect(openStore(`${other}:${directory}`)).rejects.toMatchObject({
        code: 'ERR_STORE_VERSION',
        message: expect.stringContaining(`${kind}:${directory}`)
      })
    }
  })

  it('in which making an LMDB store was cut off at once can be made one', async () => {
    writeFileSync(join(path, 'data.mdb'), '')
    const store = await openStore(`lmdb:${path}`)
    await store.set(bytes('a'), bytes('1'))
    await store.close()
  })

  it('in which making a LevelDB store was cut off at once can be made one', async () => {
    await (await openStore(`level:${path}`)).close()
    for (const file of readdirSync(path)) if (file !== 'quoin.json') await rm(join(path, file))
    await (await openStore(`level:${path}`)).close()
  })
})
