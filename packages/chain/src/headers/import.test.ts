/** Importing headers from files: fast, in parts, and on from where it was cut off. */
import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '@quoin/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Header, writeHeader } from './header.ts'
import { HeaderStore } from './header-store.ts'
import { GENESIS, joined, mineLine, mineOn } from './headers.testing.ts'
import { type ImportProgress, importHeaders, importHeaderText } from './import.ts'

const MANY = 120_000
let folder: string
let many: string
let line: Header[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-import-'))
  line = mineLine(GENESIS, 3000)
  many = join(folder, 'many.headers')
  const bytes = new Uint8Array(MANY * 80)
  bytes.set(GENESIS.raw)
  for (let i = 1, last = GENESIS; i < MANY; i++) {
    for (let nonce = 0; ; nonce++) {
      const { hash: previous, bits } = last
      const next = writeHeader({
        version: 1,
        previous,
        merkleRoot: previous,
        time: last.time + 60,
        bits,
        nonce
      })
      if (!next.hasProofOfWork) continue
      last = next
      break
    }
    bytes.set(last.raw, i * 80)
  }
  await writeFile(many, bytes)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = async (name: string, headers: readonly Header[]): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, joined(headers))
  return path
}

describe('a file of headers', () => {
  let store: Store
  let headers: HeaderStore
  beforeEach(async () => {
    store = await openStore('memory:')
    headers = await HeaderStore.open(store, { network: 'regtest' })
  })
  afterEach(() => store.close())

  it('is imported, with or without the first header of the network', async () => {
    const path = await fileOf('line', line)
    expect(await importHeaders(headers, path)).toStrictEqual({ added: 3000, total: 3000, height: 3000 })
    expect(await importHeaders(headers, path)).toStrictEqual({ added: 0, total: 3000, height: 3000 })
    const whole = await fileOf('whole', [GENESIS, ...line, mineOn(line.at(-1)!)])
    expect(await importHeaders(headers, whole)).toStrictEqual({ added: 1, total: 3002, height: 3001 })
  })

  it('is imported in parts, and an import that was stopped goes on where it was', async () => {
    const stop = new AbortController()
    const seen: ImportProgress[] = []
    const stopped = importHeaders(headers, many, {
      signal: stop.signal,
      onProgress: progress => {
        seen.push(progress)
        stop.abort(new Error('enough'))
      }
    })
    await expect(stopped).rejects.toThrow('enough')
    const reached = await headers.currentHeight()
    expect(reached).toBeGreaterThan(0)
    expect(reached).toBeLessThan(MANY - 1)
    expect(seen[0]).toStrictEqual({ done: seen[0]!.height + 1, total: MANY, height: seen[0]!.height })
    const { added, height } = await importHeaders(headers, many, { onProgress: each => seen.push(each) })
    expect([added, height]).toStrictEqual([MANY - 1 - reached, MANY - 1])
    expect(seen.at(-1)).toStrictEqual({ done: MANY, total: MANY, height: MANY - 1 })
  })

  it('may be of another branch, which wins by its work', async () => {
    await headers.add(mineLine(line[9]!, 0))
    await importHeaders(headers, await fileOf('one', line.slice(0, 20)))
    const other = mineLine(line[9]!, 15, 'other')
    const path = await fileOf('other', [...line.slice(0, 10), ...other])
    expect(await importHeaders(headers, path)).toStrictEqual({ added: 15, total: 25, height: 25 })
    expect((await headers.header(25))!.header.raw).toStrictEqual(other[14]!.raw)
  })

  it('goes on although another process moves the tip meanwhile', async () => {
    const other = await HeaderStore.open(store, { network: 'regtest' })
    const rival = mineLine(GENESIS, 12, 'rival')
    const parts = async function* (): AsyncGenerator<Header[]> {
      yield line.slice(0, 10)
      await other.add(rival)
      yield line.slice(10, 20)
      yield line.slice(20, 30)
    }
    const changes: [tip: number, removed: number | undefined, part: number][] = []
    await headers.load(parts(), ({ tip, reorg }, part) => {
      changes.push([tip.height, reorg?.removed.length, part])
    })
    expect(changes).toStrictEqual([
      [10, undefined, 10],
      [20, 12, 10],
      [30, undefined, 10]
    ])
    expect((await headers.header(30))!.header.raw).toStrictEqual(line[29]!.raw)
  })

  it('is found to continue a store that began at a checkpoint', async () => {
    const begun = await openStore('memory:')
    const checkpoint = { height: 1001, header: line[1000]! }
    const later = await HeaderStore.open(begun, { network: 'regtest', checkpoint })
    const path = await fileOf('from the first', [GENESIS, ...line])
    expect(await importHeaders(later, path)).toStrictEqual({ added: 1999, total: 3001, height: 3000 })
    await begun.close()
  })

  it.each([
    ['of another length', async () => join(folder, 'odd'), 'ERR_HEADER_FORMAT'],
    ['that is not there', async () => join(folder, 'none'), 'ERR_FILE'],
    [
      'of another chain',
      () => fileOf('strange', mineLine(mineOn(GENESIS, 'strange'), 5)),
      'ERR_HEADER_UNKNOWN'
    ],
    [
      'with a header that breaks a rule',
      () => fileOf('wrong', [...line.slice(0, 5), mineOn(line[4]!, 0, { bits: 0x201fffff })]),
      'ERR_HEADER_INVALID'
    ],
    ['with a gap', () => fileOf('gap', [...line.slice(0, 5), ...line.slice(6, 9)]), 'ERR_HEADER_UNKNOWN']
  ])('%s is refused', async (_, path, code) => {
    await writeFile(join(folder, 'odd'), new Uint8Array(81))
    await expect(importHeaders(headers, await path())).rejects.toMatchObject({ code })
    expect(await headers.currentHeight()).toBe(0)
  })

  it('that is empty has nothing to add', async () => {
    const path = await fileOf('empty', [])
    expect(await importHeaders(headers, path)).toStrictEqual({ added: 0, total: 0, height: 0 })
  })
})

describe('on LMDB', () => {
  it('headers come in by tens of thousands a second', async () => {
    const store = await openStore(`lmdb:${join(folder, 'db')}`)
    const headers = await HeaderStore.open(store, { network: 'regtest' })
    const began = performance.now()
    expect((await importHeaders(headers, many)).height).toBe(MANY - 1)
    // It takes two seconds here; this is to notice when it takes ten times as long.
    expect(performance.now() - began).toBeLessThan(20_000)
    await store.close()
  })
})

describe('text with a header in each line', () => {
  let store: Store
  let headers: HeaderStore
  beforeEach(async () => {
    store = await openStore('memory:')
    headers = await HeaderStore.open(store, { network: 'regtest' })
  })
  afterEach(() => store.close())

  const hex = (header: Header): string => Buffer.from(header.raw).toString('hex')

  it('is imported, however it is cut, ended and spelled', async () => {
    const text = `${hex(GENESIS)}\r\n\n${line.slice(0, 50).map(hex).join('\n').toUpperCase()}`
    const chunks = Array.from({ length: Math.ceil(text.length / 37) }, (_, i) =>
      text.slice(37 * i, 37 * i + 37)
    )
    expect(await importHeaderText(headers, chunks)).toStrictEqual({ added: 50, total: 51, height: 50 })
    expect(await importHeaderText(headers, [`${text}\n`])).toStrictEqual({ added: 0, total: 51, height: 50 })
  })

  it.each([
    ['too short', '00', 2],
    ['no digits', 'z'.repeat(160), 2],
    ['without an end', '0'.repeat(100_000), 2]
  ])('is refused where a line is %s', async (_, wrong, number) => {
    await expect(importHeaderText(headers, [`${hex(line[0]!)}\n${wrong}`])).rejects.toMatchObject({
      code: 'ERR_HEADER_FORMAT',
      details: { line: number }
    })
  })

  it('is not read to its end when a line has none', async () => {
    const endless = function* (): Generator<string> {
      for (;;) yield '0'.repeat(1000)
    }
    await expect(importHeaderText(headers, endless())).rejects.toMatchObject({ code: 'ERR_HEADER_FORMAT' })
  })
})
