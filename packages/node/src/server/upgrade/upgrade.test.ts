import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { tokenLedger } from '@quoin/bsv21'
import { BroadcastRecords, broadcasts, overlay } from '@quoin/overlay'
import type { Txid } from '@quoin/primitives'
import {
  claimLayouts,
  type Layouts,
  openStore,
  recordedLayouts,
  replaceLayouts,
  type Store
} from '@quoin/store'
import { OutputStore, outputs, verifyIndex } from '@quoin/txo'
import { afterAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../store/src/redis/server.testing.ts'
import { membershipDifference } from '../../../../txo/src/membership.testing.ts'
import { hello } from '../../cli/node/hello.ts'
import { nodeEvents } from '../../keyspaces.ts'
import { jsonLogger, loadConfig, startNode, upgradeStore } from '../index.ts'
import { rangeOf } from './migration.ts'

const FIXTURES = new URL('./fixtures/', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'quoin-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Fixture {
  readonly name: string
  readonly kind: 'lmdb' | 'level'
  readonly directory: string
  /** Files that have another name in the store. */
  readonly renamed?: Readonly<Record<string, string>>
  readonly steps: readonly string[]
}

const MEMBERSHIP = 'write the membership logs of topics'
const FACTS = 'write each fact once'
const ADMISSIONS = 'write admissions in binary'

const fixtures: readonly Fixture[] = [
  {
    name: 'lmdb after a power loss',
    kind: 'lmdb',
    directory: 'lmdb',
    renamed: { 'data.mdb-killed': '' },
    steps: ['recover 40 commits from the redo log', MEMBERSHIP, FACTS, ADMISSIONS, 'record the key layouts']
  },
  {
    name: 'lmdb after kill -9',
    kind: 'lmdb',
    directory: 'lmdb',
    renamed: { 'data.mdb': '', 'data.mdb-killed': 'data.mdb' },
    steps: ['recover 40 commits from the redo log', MEMBERSHIP, FACTS, ADMISSIONS, 'record the key layouts']
  },
  {
    name: 'level',
    kind: 'level',
    directory: 'level',
    steps: ['add checksums to rows', MEMBERSHIP, FACTS, ADMISSIONS, 'record the key layouts']
  },
  {
    name: 'lmdb with proofs and judgements apart from their transactions',
    kind: 'lmdb',
    directory: 'lmdb-apart',
    steps: [
      'add checksums to rows',
      'move proofs and judgements beside their transactions',
      MEMBERSHIP,
      FACTS,
      ADMISSIONS,
      'record the key layouts'
    ]
  }
]

interface ExpectedUpgrade {
  readonly answers: Readonly<Record<string, unknown>>
  readonly lookup: unknown
}

const unpacked = (name: string): Buffer => gunzipSync(readFileSync(new URL(`${name}.gz`, FIXTURES)))
const expectedOf = ({ directory }: Fixture): ExpectedUpgrade =>
  JSON.parse(unpacked(`${directory}/expected.json`).toString())

let stores = 0

/** A copy of the fixture in a new directory. */
const placed = ({
  kind,
  directory,
  renamed = {}
}: Fixture): { readonly url: string; readonly path: string } => {
  const path = join(folder, `${stores++}`)
  mkdirSync(path)
  for (const file of readdirSync(new URL(directory, FIXTURES))) {
    const name = file.replace(/\.gz$/, '')
    const target = renamed[name] ?? name
    if (target !== '' && name !== 'expected.json')
      writeFileSync(join(path, target), unpacked(`${directory}/${name}`))
  }
  return { url: `${kind}:${path}`, path }
}

const digestOf = (path: string, files: readonly string[]): string[] =>
  files.map(file =>
    createHash('sha256')
      .update(readFileSync(join(path, file)))
      .digest('hex')
  )

const logger = jsonLogger({ level: 'error' })
const configOf = (store: string) =>
  loadConfig({
    options: { store, chain: 'dev', port: '0', logLevel: 'error', 'bsv21.activation': 'all' }
  }).config

type Options = Partial<Parameters<typeof upgradeStore>[1]>
const upgraded = (url: string, options: Options = {}) =>
  upgradeStore(url, { config: configOf(url), isChainGiven: true, logger, plugins: [hello], ...options })

/** Starts a node on the store and asks it what the node of the earlier version was asked. */
const answersOf = async (url: string, { answers }: ExpectedUpgrade): Promise<ExpectedUpgrade> => {
  const node = await startNode(configOf(url), { plugins: [hello], logger })
  try {
    const found: Record<string, unknown> = {}
    for (const path of Object.keys(answers)) {
      const response = await fetch(node.url + path)
      const isJson = response.headers.get('content-type')?.includes('json')
      found[path] = isJson ? await response.json() : Buffer.from(await response.arrayBuffer()).toString('hex')
    }
    const lookup = await fetch(`${node.url}/lookup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ service: 'ls_hello', query: {} })
    })
    return { answers: found, lookup: await lookup.json() }
  } finally {
    await node.close()
  }
}

const { topicOutputs } = outputs.collections
const topicsIn = async (store: Store) =>
  (await store.zkeys(rangeOf(topicOutputs)))
    .filter(key => topicOutputs.owns(key))
    .map(key => topicOutputs.decode(key)[0])

const differencesIn = async (url: string) => {
  const store = await openStore(url)
  try {
    const index = new OutputStore(store)
    for (const topic of await topicsIn(store)) {
      expect(await index.membership(topic).last()).toBeGreaterThan(0)
      expect(await membershipDifference(index, topic)).toBeUndefined()
    }
    const { journal } = index
    const changes = await journal.read(0)
    expect(changes.map(({ position }) => position)).toEqual(changes.map((_, i) => i + 1))
    expect(changes.length).toBe(await journal.last())
    expect(changes.flatMap(each => each.outputs).length).toBeGreaterThan(10)
    return (await verifyIndex(store, { events: nodeEvents(), ledger: tokenLedger })).differences
  } finally {
    await store.close()
  }
}

const expectWhole = async (url: string, fixture: Fixture): Promise<void> => {
  const { answers, lookup } = expectedOf(fixture)
  // This version may add fields.
  expect(await answersOf(url, { answers, lookup })).toMatchObject({ answers, lookup })
  expect(await differencesIn(url)).toEqual([])
}

describe.each(fixtures.map(fixture => [fixture.name, fixture] as const))(
  'a store of version 0.1 on %s',
  (_, fixture) => {
    it('is refused with the command that upgrades, and upgraded in place', async () => {
      const { url, path } = placed(fixture)
      const files = readdirSync(path)
      const before = digestOf(path, files)
      const refusal = { code: 'ERR_STORE_UPGRADE', message: expect.stringContaining(`quoin upgrade ${url}`) }
      await expect(openStore(url)).rejects.toMatchObject(refusal)
      await expect(startNode(configOf(url), { plugins: [hello], logger })).rejects.toMatchObject(refusal)

      expect(await upgraded(url)).toMatchObject({
        store: url,
        steps: fixture.steps,
        before: `${path}.before-upgrade`
      })
      await expectWhole(url, fixture)
      if (fixture.kind === 'lmdb') expect(digestOf(`${path}.before-upgrade`, files)).toEqual(before)
      expect(existsSync(`${path}.upgrading`)).toBe(false)
      expect(await upgraded(url)).toMatchObject({ steps: [], before: undefined })
    })

    it('is upgraded into another directory, and stays as it is', async () => {
      const { url, path } = placed(fixture)
      const to = `${fixture.kind}:${path}-new`
      expect(await upgraded(url, { to })).toMatchObject({ store: to, steps: fixture.steps, before: path })
      await expectWhole(to, fixture)
      await expect(openStore(url)).rejects.toMatchObject({ code: 'ERR_STORE_UPGRADE' })
    })

    it('goes on after an interruption at any point', async () => {
      const { url } = placed(fixture)
      let interruptions = 0
      for (let limit = 1; ; limit++) {
        const controller = new AbortController()
        let reports = 0
        const onProgress = (): void => {
          if (++reports === limit) controller.abort(new Error('interrupted'))
        }
        try {
          await upgraded(url, { onProgress, signal: controller.signal })
          break
        } catch (error) {
          if (!controller.signal.aborted) throw error
          interruptions++
        }
      }
      expect(interruptions).toBeGreaterThan(0)
      await expectWhole(url, fixture)
    })
  }
)

describe('an upgrade in place', () => {
  const [fixture] = fixtures as [Fixture]

  it('that ended between the two renames is finished', async () => {
    const { url, path } = placed(fixture)
    await upgraded(url)
    renameSync(path, `${path}.upgrading`)
    expect(await upgraded(url)).toMatchObject({ before: `${path}.before-upgrade` })
    await expectWhole(url, fixture)
  })

  it('refuses a store that another process has open', async () => {
    const { url, path } = placed(fixture)
    // Version 0.1 had a read transaction in the database `writers` for as long as it wrote.
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { open } from 'lmdb'
        const handle = open({ path: ${JSON.stringify(join(path, 'writers'))}, noSubdir: true, maxDbs: 1 })
        handle.useReadTransaction()
        console.log('open')
        setInterval(() => undefined, 1000)`
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], cwd: new URL('../../../../..', import.meta.url).pathname }
    )
    await new Promise(resolve => child.stdout.once('data', resolve))
    try {
      await expect(upgraded(url)).rejects.toMatchObject({ code: 'ERR_STORE_LOCKED' })
    } finally {
      child.kill('SIGKILL')
    }
    await new Promise(resolve => child.once('exit', resolve))
    await upgraded(url)
    await expectWhole(url, fixture)
  })

  it('drops a commit of the redo log that was cut off, and keeps those before it', async () => {
    const { url, path } = placed(fixture)
    const log = readFileSync(join(path, 'redo-0'))
    const half = log.subarray(0, log.length - 1)
    writeFileSync(join(path, 'redo-0'), half)
    expect((await upgraded(url)).steps[0]).toBe('recover 39 commits from the redo log')
    expect(await differencesIn(url)).toEqual([])
  })

  it('begins again where a power loss has left a copy that does not open', async () => {
    for (const each of [fixture, fixtures[2]!]) {
      const { url, path } = placed(each)
      const copy = `${path}.upgrading`
      mkdirSync(copy)
      writeFileSync(join(copy, 'unfinished.json'), JSON.stringify({ converting: path }))
      writeFileSync(join(copy, 'CURRENT'), 'MANIFEST-000001\n')
      writeFileSync(join(copy, 'MANIFEST-000001'), '')
      writeFileSync(join(copy, 'data.mdb'), new Uint8Array(8192).fill(7))
      await upgraded(url)
      await expectWhole(url, each)
    }
  })

  it('names a directory that holds no store', async () => {
    await expect(upgraded(`lmdb:${folder}/nothing`)).rejects.toMatchObject({ code: 'ERR_STORE_OPTION' })
    await expect(upgraded(placed(fixture).url, { to: `level:${folder}/x` })).rejects.toMatchObject({
      code: 'ERR_STORE_URL'
    })
  })
})

const tamper = (layouts: Layouts, space: string, name: string): Layouts => {
  const { version, collections } = layouts[space]!
  const changed = { ...collections[name]!, fingerprint: '0'.repeat(32) }
  return { ...layouts, [space]: { version, collections: { ...collections, [name]: changed } } }
}

/** An upgraded store whose record says that a collection has another layout. */
const tampered = async (fixture: Fixture, space: string, name: string) => {
  const { url, path } = placed(fixture)
  await upgraded(url)
  const store = await openStore(url)
  const layouts = (await recordedLayouts(store))!
  expect(await replaceLayouts(store, layouts, tamper(layouts, space, name))).toBe(true)
  await store.close()
  return { url, path }
}

describe.each([fixtures[0]!, fixtures[2]!].map(fixture => [fixture.name, fixture] as const))(
  'without a migration, %s',
  (_, fixture) => {
    it('is rebuilt from its transactions', async () => {
      const { url, path } = await tampered(fixture, 'outputs', 'topicOutputs')
      await expect(startNode(configOf(url), { plugins: [hello], logger })).rejects.toMatchObject({
        code: 'ERR_STORE_UPGRADE',
        details: { changed: ['outputs.topicOutputs'] }
      })
      expect(await upgraded(url)).toMatchObject({
        steps: ['rebuild the store from its transactions'],
        before: `${path}.before-upgrade-2`,
        rebuild: { transactions: 10, refused: [] }
      })
      await expectWhole(url, fixture)
    })

    it('is rebuilt with the outbox of what the network has not got yet', async () => {
      const { url } = await tampered(fixture, 'outputs', 'topicOutputs')
      const [waiting, refused] = [1, 2].map(each => new Uint8Array(32).fill(each) as Txid) as [Txid, Txid]
      const record = { txStatus: 'RECEIVED', since: 1, at: 1, submissions: 0, checks: 0 } as const
      const from = await openStore(url)
      await claimLayouts(from, [broadcasts])
      const batch = from.batch()
      const records = new BroadcastRecords(from)
      records.restoreIn(batch, waiting, { ...record, status: 'queued' })
      records.restoreIn(batch, refused, { ...record, status: 'rejected', reason: 'no' })
      await batch.commit()
      await from.close()
      await upgraded(url)
      const into = await openStore(url)
      const rebuilt = new BroadcastRecords(into)
      expect(await rebuilt.get(waiting)).toEqual({ ...record, status: 'queued' })
      expect(await rebuilt.counts()).toEqual({ queued: 1, sent: 0, seen: 0, rejected: 1 })
      const { items } = await into.queueAt(broadcasts.collections.outbox, []).list('due')
      expect(items.map(({ item }) => item)).toEqual([waiting])
      await into.close()
    })

    it('is rebuilt from its transactions without their records', async () => {
      const { url } = await tampered(fixture, 'outputs', 'spends')
      expect(await upgraded(url)).toMatchObject({ rebuild: { refused: [] } })
      expect(await differencesIn(url)).toEqual([])
      const { answers, lookup } = expectedOf(fixture)
      const found = await answersOf(url, { answers, lookup })
      for (const path of Object.keys(answers).filter(each => /beef|supply|holders|height/.test(each)))
        expect([path, found.answers[path]]).toMatchObject([path, answers[path]])
    })

    it('reports the transactions of topics whose plug-in is not named', async () => {
      const { url } = await tampered(fixture, 'outputs', 'topicOutputs')
      const { rebuild } = await upgraded(url, { plugins: [] })
      expect(rebuild!.refused).not.toEqual([])
      for (const refusal of rebuild!.refused) {
        expect(refusal).toMatchObject({
          code: 'ERR_TOPIC_UNKNOWN',
          reason: expect.stringContaining('tm_hello')
        })
      }
    })

    it('is refused when its transactions cannot be read', async () => {
      const { url } = await tampered(fixture, 'chain', 'transaction')
      await expect(upgraded(url)).rejects.toMatchObject({ code: 'ERR_STORE_UPGRADE' })
    })
  }
)

describe('a store on a server', () => {
  it('is upgraded in place when that is asked for, and never by itself', async () => {
    const redis = await startRedis()
    try {
      const store = await openStore(redis.url)
      const txid = new Uint8Array(32).fill(7) as Txid
      const key = (text: string, rest = ''): Uint8Array =>
        Buffer.concat([Buffer.from(text), txid, Buffer.from(rest)])
      await store.set(key('p:'), Buffer.from('proof'))
      await store.set(key('j:'), Buffer.from('{}'))
      await store.set(key('j:', ':gone'), Buffer.from('[1]'))
      // A later build wrote this one.
      await store.set(key('t:', ':judged'), Buffer.from('{"tm_hello":{}}'))
      await expect(upgraded(redis.url)).rejects.toMatchObject({
        code: 'ERR_USAGE',
        message: expect.stringContaining('--in-place')
      })
      expect(await store.get(key('p:'))).toBeDefined()
      expect(await upgraded(redis.url, { inPlace: true })).toMatchObject({
        steps: [
          'move proofs and judgements beside their transactions',
          MEMBERSHIP,
          FACTS,
          ADMISSIONS,
          'record the key layouts'
        ]
      })
      const text = async (at: Uint8Array) => Buffer.from((await store.get(at)) ?? []).toString()
      expect(await text(key('t:', ':proof'))).toBe('proof')
      expect(await text(key('t:', ':gone'))).toBe('')
      expect(await store.use(overlay.collections.judgements).get(txid)).toEqual({
        tm_hello: { outputsToAdmit: [], coinsToRetain: [], coinsRemoved: [], previousCoins: [] }
      })
      expect(await store.range(Buffer.from('p:'))).toEqual([])
      expect(await store.range(Buffer.from('j:'))).toEqual([])
      await store.close()
    } finally {
      await redis.stop()
    }
  })
})
