/** The checks of `quoin doctor` and `quoin init`, against services on this machine that are well, wrong, late and gone. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chain as chainKeys } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { collection, keyspace, u64 } from '@quoin/keyspace'
import { SILENT } from '@quoin/overlay'
import { claimLayouts, openStore } from '@quoin/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { oneSat, serve, type TestService } from '../../../../chain/src/headers/services.testing.ts'
import { ProcessorServer } from '../../../../overlay/src/broadcast/processor-server.testing.ts'
import { loadConfig } from '../../server/config.ts'
import { type Node, startNode } from '../../server/node.ts'
import { BROADCAST_CHECKS } from './check-broadcast.ts'
import { filesDiagnosis, MACHINE_CHECKS, portState } from './check-machine.ts'
import { NETWORK_CHECKS } from './check-network.ts'
import { NODE_CHECKS } from './check-node.ts'
import { STORE_CHECKS } from './check-store.ts'
import { type Check, type Diagnosis, runChecks } from './diagnosis.ts'
import { doctor } from './doctor.ts'
import { type Ask, initWith } from './init.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-operate-'))
const chain = new DevChain()
let headers: TestService
let node: Node
beforeAll(async () => {
  chain.mine()
  headers = await serve(oneSat(chain))
  const options = { store: 'memory:', port: '0', blockTime: '0', logLevel: 'silent' }
  node = await startNode(loadConfig({ options }).config, { logger: SILENT })
})
afterAll(async () => {
  await node.close()
  await headers.close()
  rmSync(folder, { recursive: true })
})

const printed: string[] = []
const quiet = () =>
  vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    printed.push(String(text))
    return true
  })
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  printed.length = 0
})

const checked = (
  checks: readonly Check[],
  options: Readonly<Record<string, string>>,
  uri?: string
): Promise<Diagnosis[]> => runChecks(checks, { config: loadConfig({ options }).config, uri })
const named = (found: readonly Diagnosis[], check: string): Diagnosis | undefined =>
  found.find(each => each.check.startsWith(check))

describe('the services of a configuration', () => {
  it('are well where they answer as they should', async () => {
    const found = await checked(NETWORK_CHECKS, {
      chain: `headers:${headers.url}`,
      network: 'regtest',
      proofs: headers.url,
      peers: `tm_kvstore=${node.url}`,
      'bsv21.peers': node.url,
      'broadcast.processors': `arc:${headers.url}`,
      'broadcast.callback': 'https://node.example/arc-ingest',
      arcToken: 'correct-horse-battery'
    })
    expect(found.map(({ status }) => status)).toEqual(found.map(() => 'ok'))
    expect(found.map(({ check }) => check.split(' ')[0])).toEqual([
      'headers',
      'proofs',
      'source',
      'broadcaster',
      'peer',
      'clock'
    ])
    expect(found[0]!.message).toContain(`height ${chain.height}`)
  })

  it('are errors where they are gone or something else, each with what to do', async () => {
    const gone = await serve(() => undefined)
    await gone.close()
    const found = await checked(NETWORK_CHECKS, {
      chain: `headers:${gone.url}`,
      proofs: gone.url,
      peers: `tm_kvstore=${headers.url},tm_ship=${gone.url},tm_unknown=${node.url}`,
      'broadcast.processors': `arcade:${gone.url}`
    })
    const errors = found.filter(({ status }) => status === 'error')
    expect(errors.map(({ check }) => check)).toEqual([
      `headers ${gone.url}`,
      `proofs ${gone.url}`,
      `broadcaster ${gone.url}`,
      `peer tm_kvstore ${headers.url}`,
      `peer tm_ship ${gone.url}`,
      `peer tm_unknown ${node.url}`
    ])
    for (const { remedy } of errors) expect(remedy).toBeDefined()
    expect(errors[3]!.message).toContain('status 404')
    expect(errors[5]!.message).toBe('does not have tm_unknown')
    expect(found).toContainEqual(expect.objectContaining({ check: 'broadcaster', status: 'warning' }))
  })

  it('are transaction processors that take their tokens', async () => {
    const arc = await ProcessorServer.start('arc', chain, 'secret-of-the-processor')
    const settings = { chain: `headers:${headers.url}`, 'broadcast.processors': `arc:${arc.url}` }
    const check = `broadcast arc ${arc.url}`
    const found = await checked(BROADCAST_CHECKS, {
      ...settings,
      'broadcast.tokens': 'secret-of-the-processor'
    })
    expect(found).toEqual([{ check, status: 'ok', message: 'states its policy' }])
    const [wrong] = await checked(BROADCAST_CHECKS, settings)
    expect(wrong).toMatchObject({ check, status: 'error', message: expect.stringContaining('401') })
    expect(wrong!.remedy).toContain('broadcast.tokens')
    await arc.close()
  })

  it('compare the clock by their answers', async () => {
    const late = await serve((url, response, request) => {
      response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
      return oneSat(chain)(url, response, request)
    })
    const found = await checked(NETWORK_CHECKS, { chain: `headers:${late.url}`, network: 'regtest' })
    expect(named(found, 'clock')).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/^(599|600) s ahead of the services$/)
    })
    await late.close()
  })

  it('stand still where the last block is old', async () => {
    const found = await checked(NETWORK_CHECKS, { chain: `headers:${headers.url}`, network: 'main' })
    // Blocks of the development chain have times of their own.
    const age = Date.now() / 1000 - chain.header(chain.height)!.header.time
    expect(named(found, 'headers')?.status).toBe(age > 3 * 3600 ? 'warning' : 'ok')
  })

  it('are none for a development chain, and nothing is asked', async () => {
    const before = headers.asked.length
    const found = await checked(NETWORK_CHECKS, {})
    expect(found.map(({ check, status }) => [check, status])).toEqual([
      ['headers', 'ok'],
      ['clock', 'ok']
    ])
    expect(headers.asked.length).toBe(before)
  })

  it('have a public address that is https', async () => {
    expect(named(await checked(NETWORK_CHECKS, {}, node.url), 'address')).toMatchObject({
      status: 'error',
      message: expect.stringContaining('only https')
    })
    const advertised = await checked(NETWORK_CHECKS, {
      'advertise.uri': 'https://127.0.0.1:9',
      'advertise.wallet': 'http://127.0.0.1:9'
    })
    expect(named(advertised, 'address https://127.0.0.1:9')?.status).toBe('error')
  })
})

describe('the store', () => {
  const store = async (url: string, more: Readonly<Record<string, string>> = {}) =>
    checked(STORE_CHECKS, { store: url, port: '0', chain: `headers:${headers.url}`, ...more })

  it('is of this version, or not there yet', async () => {
    const url = `lmdb:${folder}/good`
    expect(named(await store(url), 'store')?.message).toContain('will be created')
    const options = { store: url, port: '0', blockTime: '0', logLevel: 'silent' }
    await (await startNode(loadConfig({ options }).config, { logger: SILENT })).close()
    expect(named(await store(url), 'store')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('of this version')
    })
    expect(named(await store('memory:'), 'store')?.status).toBe('warning')
  })

  it('is refused, with the command that mends it, where it is another', async () => {
    const url = `lmdb:${folder}/odd`
    const odd = await openStore(url)
    const [name] = Object.keys(chainKeys.collections)
    await claimLayouts(odd, [
      keyspace(chainKeys.name, { [name!]: collection({ key: ['another-layout:', u64('id')] }) })
    ])
    await odd.close()
    expect(named(await store(url), 'store')).toMatchObject({
      status: 'error',
      remedy: `end the node, then run quoin upgrade ${url}`
    })
    writeFileSync(`${folder}/a-file`, 'no store')
    expect(named(await store(`lmdb:${folder}/a-file`), 'store')).toMatchObject({
      status: 'error',
      message: expect.stringContaining('cannot be opened')
    })
  })

  it('has a backup of the last day', async () => {
    const url = `lmdb:${folder}/kept`
    expect(named(await store(url), 'backups')).toMatchObject({
      status: 'warning',
      message: 'no directory is set'
    })
    const backups = `${folder}/backups`
    expect(named(await store(url, { backups }), 'backups')?.message).toBe(`none in ${backups}`)
    const kept = await openStore(url)
    await kept.backup(`${backups}/first`)
    await kept.close()
    expect(named(await store(url, { backups }), 'backups')).toMatchObject({ status: 'ok' })
    const manifest = `${backups}/first/backup.json`
    const old = { ...JSON.parse(readFileSync(manifest, 'utf8')), time: '2020-01-01T00:00:00.000Z' }
    writeFileSync(manifest, JSON.stringify(old))
    expect(named(await store(url, { backups }), 'backups')?.status).toBe('warning')
  })
})

describe('the machine', () => {
  it('has signatures, files, memory and disk', async () => {
    const found = await checked(MACHINE_CHECKS, { store: `lmdb:${folder}/x/y`, port: '0' })
    expect(found.map(({ check }) => check)).toEqual([
      'signatures',
      'open files',
      'memory',
      'disk of the store',
      'port'
    ])
    expect(named(found, 'signatures')?.status).toBe('ok')
  })

  it('needs as many open files as there may be streams', () => {
    const { config } = loadConfig({ options: { 'limits.streams': '5000' } })
    expect(filesDiagnosis(1024, config)).toMatchObject({
      status: 'warning',
      remedy: expect.stringContaining('LimitNOFILE=6024')
    })
    for (const limit of [6024, Number.POSITIVE_INFINITY, undefined])
      expect(filesDiagnosis(limit, config).status).toBe('ok')
  })

  it('tells a port that a node has from one that another program has', async () => {
    expect(await portState('127.0.0.1', node.port)).toBe('node')
    const other = await serve((_, response) => response.end('{}'))
    const port = Number(new URL(other.url).port)
    const found = await checked(MACHINE_CHECKS, { store: 'memory:', port: String(port) })
    expect(named(found, 'port')).toMatchObject({
      status: 'error',
      message: `another program listens on 127.0.0.1 port ${port}`
    })
    await other.close()
    expect(await portState('127.0.0.1', port)).toBe('free')
    expect(await portState('192.0.2.1', 8080)).toBeInstanceOf(Error)
  })

  it('says what a running node says of its parts, and how strangers reach it', async () => {
    const port = String(node.port)
    expect(await checked(NODE_CHECKS, { port })).toEqual([
      { check: 'node', status: 'ok', message: `the node at ${node.url} is ready` }
    ])
    const open = await checked(NODE_CHECKS, { port: '0', host: '0.0.0.0' })
    expect(open).toMatchObject([{ check: 'proxy', status: 'warning' }])
    expect(await checked(NODE_CHECKS, { port: '0', host: '0.0.0.0', trustProxy: 'private' })).toMatchObject([
      { check: 'proxy', status: 'ok' }
    ])
  })
})

describe('a check', () => {
  it('that throws is an error by its name', async () => {
    const broken: Check = { name: 'broken', run: async () => Promise.reject(new Error('no luck')) }
    expect(await checked([broken], {})).toEqual([{ check: 'broken', status: 'error', message: 'no luck' }])
  })
})

describe('quoin init', () => {
  const options = (file: string, more: object = {}) => ({
    file: join(folder, file),
    check: true,
    json: true,
    ...more
  })

  it('writes a file that only its owner reads, with a token, and checks it', async () => {
    quiet()
    const chainOf = { chain: `headers:${headers.url}`, port: '0' }
    expect(await initWith('testnet', options('test.yaml', chainOf), undefined)).toBe(0)
    const { next, diagnoses } = JSON.parse(printed.join(''))
    expect(next).toBe(`quoin serve ${folder}/test.yaml`)
    expect(named(diagnoses, 'headers')).toBeDefined()
    expect(statSync(`${folder}/test.yaml`).mode & 0o777).toBe(0o600)
    const { config } = loadConfig({ file: `${folder}/test.yaml` })
    expect(config).toMatchObject({
      network: 'test',
      chain: `headers:${headers.url}`,
      store: `lmdb:${folder}/quoin-data`,
      backups: `${folder}/quoin-backups`,
      host: '127.0.0.1',
      port: 0,
      trustProxy: ['loopback']
    })
    expect(config.adminToken).toMatch(/^[\w-]{43}$/)
  })

  it('asks on a terminal, and takes what is proposed for an empty answer', async () => {
    quiet()
    const answers: Record<string, string> = { 'URL of': headers.url, 'address to': '0.0.0.0' }
    const asked: string[] = []
    const ask: Ask = async (question, proposed) => {
      asked.push(question)
      return Object.entries(answers).find(([start]) => question.startsWith(start))?.[1] ?? proposed
    }
    await initWith(undefined, options('asked.yaml', { check: false, json: false }), ask)
    expect(asked).toHaveLength(5)
    expect(loadConfig({ file: `${folder}/asked.yaml` }).config).toMatchObject({
      network: 'main',
      chain: `headers:${headers.url}`,
      host: '0.0.0.0'
    })
    expect(printed.join('')).toContain(`next: quoin serve ${folder}/asked.yaml`)
  })

  it('replaces no file, and refuses what it cannot write settings for', async () => {
    quiet()
    writeFileSync(`${folder}/mine.yaml`, 'port: 9000\n')
    const refused = (network: string | undefined, more: object = {}) =>
      expect(initWith(network, options('mine.yaml', { check: false, ...more }), undefined)).rejects
    await refused('development').toMatchObject({
      code: 'ERR_FILE',
      message: expect.stringContaining('--force')
    })
    await refused('mainnet').toMatchObject({
      code: 'ERR_USAGE',
      message: expect.stringContaining('--chain headers:URL')
    })
    await refused('moon').toMatchObject({
      code: 'ERR_USAGE',
      message: expect.stringContaining('mainnet | testnet')
    })
    await refused(undefined).toMatchObject({ code: 'ERR_USAGE' })
    await refused('development', { port: 'many' }).toMatchObject({ code: 'ERR_CONFIG' })
    expect(readFileSync(`${folder}/mine.yaml`, 'utf8')).toBe('port: 9000\n')
    expect(
      await initWith('development', options('mine.yaml', { check: false, force: true }), undefined)
    ).toBe(0)
    expect(loadConfig({ file: `${folder}/mine.yaml` }).config.chain).toBe('dev')
    expect(existsSync(`${folder}/quoin-data`)).toBe(false)
  })
})

describe('quoin doctor', () => {
  beforeEach(() => {
    // Variables that the tests are run with are no settings.
    for (const name of Object.keys(process.env)) if (name.startsWith('QUOIN_')) vi.stubEnv(name, undefined)
  })

  it('exits 1 for an error, a wrong file among them', async () => {
    quiet()
    writeFileSync(`${folder}/wrong.yaml`, 'prot: 1\n')
    expect(await doctor(`${folder}/wrong.yaml`, {}, true)).toBe(1)
    expect(JSON.parse(printed.join(''))).toMatchObject({
      healthy: false,
      errors: 1,
      diagnoses: [
        { check: 'configuration', status: 'error', message: expect.stringContaining('did you mean port?') }
      ]
    })
  })

  it('exits 0 beside warnings', async () => {
    quiet()
    const store = `lmdb:${folder}/none`
    const options = { store, port: '0', chain: `headers:${headers.url}`, network: 'regtest' }
    const status = await doctor(undefined, options, false)
    expect(printed.join('')).not.toMatch(/^error/m)
    expect(status).toBe(0)
    expect(printed.join('')).toMatch(/warning {2}backups: no directory is set\n {9}set backups/)
    expect(printed.join('')).toMatch(/0 errors, 3 warnings\n$/)
  })
})
