/**
 * `quoin serve --read-only` beside the process that writes an LMDB store: it answers every write with one code, sees new
 * commits, and outlives kills and restarts of the writer, backups and repairs; of an upgrade it says that it is not current.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatTxid, parseTxid, toHex } from '@quoin/primitives'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { oneSat, serve, type TestService } from '../packages/chain/src/headers/services.testing.ts'
import { Commands, type RunningNode } from './node.testing.ts'
import { SpendingChain } from './spending-chain.testing.ts'

const TOPIC = 'tm_first'
const ADMIN = 'token-of-the-operator'
const ARC = 'token-of-the-miner---'
/** Of the poll of readers, with the time of a process under load. */
const POLL_MS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'quoin-readers-'))
const STORE = `lmdb:${join(folder, 'store')}`
const PLUGIN = join(folder, 'plugin.mjs')
writeFileSync(
  PLUGIN,
  `const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: 'x', shortDescription: 'x' }) }
export const topics = { ${TOPIC}: { ...about, admit: () => ({ outputs: [0] }) } }
export const lookups = { ls_first: {
  ...about, admissionMode: 'locking-script', spendNotificationMode: 'none',
  outputAdmittedByTopic: async () => {}, outputEvicted: async () => {}, lookup: async () => []
} }`
)
const commands = new Commands(folder)
const chain = new SpendingChain('readers', 12)

let source: TestService
let writer: RunningNode
let reader: RunningNode
const start = (...args: readonly string[]): Promise<RunningNode> =>
  commands.serve([
    ...['serve', '--store', STORE, '--port', '0', '--plugins', PLUGIN, '--chain', `headers:${source.url}`],
    ...['--network', 'regtest', '--admin-token', ADMIN, '--arc-token', ARC, '--log-level', 'warn', ...args]
  ])
beforeAll(async () => {
  source = await serve(oneSat(chain.chain))
  writer = await start()
  reader = await start('--read-only')
})
afterAll(async () => {
  await commands.close()
  await source?.close()
  rmSync(folder, { recursive: true })
})

const submit = async ({ url }: RunningNode, beef: Uint8Array): Promise<number> => {
  const { status } = await fetch(`${url}/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) },
    body: Buffer.from(beef)
  })
  return status
}
const submitted = async (): Promise<string> => {
  const [submission] = await chain.descendants(1)
  expect(await submit(writer, submission!.beef)).toBe(200)
  return formatTxid(submission!.txid)
}
const outputOf = async ({ url }: RunningNode, txid: string) => {
  const response = await fetch(`${url}/txo/outpoint/${txid}.0?topics=true`)
  return [response.status, await response.json()]
}
const isKnown = async ({ url }: RunningNode, txid: string): Promise<boolean> =>
  (await fetch(`${url}/txo/outpoint/${txid}.0`)).status === 200
const sees = (txid: string) => expect.poll(() => isKnown(reader, txid), { timeout: POLL_MS }).toBe(true)
const readiness = async ({ url }: RunningNode): Promise<[number, unknown]> => {
  const response = await fetch(`${url}/health/ready`)
  const { checks } = (await response.json()) as {
    checks: { name: string; status: string; message?: string }[]
  }
  return [response.status, checks.find(({ name }) => name === 'store')]
}
const READY = [200, { name: 'store', status: 'ok', message: 'read-only: submissions are refused' }]

it('refuses every write with ERR_STORE_READ_ONLY, and answers every read', async () => {
  const [first] = await chain.descendants(1)
  expect(await submit(writer, first!.beef)).toBe(200)
  const txid = formatTxid(first!.txid)
  await sees(txid)
  expect(await outputOf(reader, txid)).toEqual(await outputOf(writer, txid))
  // A submission that is stored already needs no write.
  expect(await submit(reader, first!.beef)).toBe(200)
  const [next] = await chain.descendants(1)
  await chain.mine()
  const proof = await chain.chain.proof(parseTxid(txid))
  if (proof.status !== 'mined') throw new Error('the transaction is not mined')
  const header = chain.chain.header(chain.chain.height)!.header.raw
  const headers = (node: RunningNode) =>
    fetch(`${node.url}/admin/headers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/octet-stream' },
      body: Buffer.from(header)
    })
  const refusedHeaders = await headers(reader)
  expect([refusedHeaders.status, await refusedHeaders.json()]).toMatchObject([
    503,
    { code: 'ERR_STORE_READ_ONLY' }
  ])
  // The proof of the next requests is checked against them.
  expect((await headers(writer)).status).toBe(200)
  const token = `${txid}_0`
  const admin = { authorization: `Bearer ${ADMIN}` }
  const octets = { 'content-type': 'application/octet-stream', 'x-topics': JSON.stringify([TOPIC]) }
  type Body = Uint8Array | object | undefined
  const writes: Readonly<
    Record<string, readonly [path: string, body: Body, headers?: Record<string, string>]>
  > = {
    'POST /submit': ['/submit', next!.beef, octets],
    'POST /1sat/overlay/submit': ['/1sat/overlay/submit', next!.beef, octets],
    'POST /arc-ingest': [
      '/arc-ingest',
      { txid, merklePath: toHex(proof.bump.toBytes()) },
      { authorization: `Bearer ${ARC}` }
    ],
    'POST /1sat/admin/api/whitelist': ['/1sat/admin/api/whitelist', { topic: token }, admin],
    'DELETE /1sat/admin/api/whitelist/{token}': [`/1sat/admin/api/whitelist/${token}`, undefined, admin],
    'POST /1sat/admin/api/blacklist': ['/1sat/admin/api/blacklist', { topic: token }, admin],
    'DELETE /1sat/admin/api/blacklist/{token}': [`/1sat/admin/api/blacklist/${token}`, undefined, admin],
    'POST /admin/evict': ['/admin/evict', { outpoint: `${txid}.0` }, admin],
    'POST /admin/evictOutpoint': ['/admin/evictOutpoint', { txid, outputIndex: 0 }, admin],
    'POST /admin/queues/{queue}/retry': ['/admin/queues/again:judge/retry', { item: txid }, admin],
    'DELETE /admin/queues/{queue}/items/{item}': [
      `/admin/queues/again:judge/items/${txid}`,
      undefined,
      admin
    ],
    'POST /admin/ban': ['/admin/ban', { type: 'domain', value: 'https://example.org' }, admin],
    'POST /admin/lookups/{service}/replay': ['/admin/lookups/ls_first/replay', {}, admin]
  }
  const reads: Readonly<Record<string, readonly [path: string, body: Body]>> = {
    'POST /lookup': ['/lookup', { service: 'ls_first', query: {} }],
    'POST /1sat/overlay/lookup': ['/1sat/overlay/lookup', { service: 'ls_first', query: {} }],
    'POST /requestRawTransactions': ['/requestRawTransactions', { txids: [txid] }],
    'POST /1sat/ordfs/metadata': ['/1sat/ordfs/metadata', { outpoints: [`${txid}_0`] }],
    'POST /1sat/ordfs/preview': ['/1sat/ordfs/preview', {}],
    'POST /1sat/txo/outpoints': ['/1sat/txo/outpoints', [`${txid}_0`]],
    'POST /1sat/txo/spends': ['/1sat/txo/spends', [`${txid}_0`]]
  }
  /** Reads with a test of their own, which need a token or a peer; and the write above. */
  const others = [
    /requestSyncResponse$/,
    /requestForeignGASPNode$/,
    /requestTransactions$/,
    /requestTopicAnchor(Tip|Range)$/,
    /request(AdmittedList|CompoundMerklePath)$/,
    /\/1sat\/bsv21\//,
    // Without a ban to lift, a host to check, or a password to set they write nothing.
    /\/admin\/(unban|janitor|api\/setup)$/,
    /\/admin\/headers$/
  ]
  const { paths } = (await (await fetch(`${reader.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter(method => method !== 'get')
      .map(method => `${method.toUpperCase()} ${path}`)
  )
  const known = [...Object.keys(writes), ...Object.keys(reads)]
  expect(routes.filter(each => !known.includes(each) && !others.some(other => other.test(each)))).toEqual([])
  expect(known.filter(each => !routes.includes(each))).toEqual([])

  const answerOf = async (name: string, path: string, body: Body, more: Record<string, string> = {}) => {
    const response = await fetch(`${reader.url}${path}`, {
      method: name.split(' ')[0]!,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...more },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body)
      })
    })
    const answer = (await response.json()) as { code?: string }
    return [name, response.status, answer.code]
  }
  for (const [name, [path, body, more]] of Object.entries(writes))
    expect(await answerOf(name, path, body, more)).toEqual([name, 503, 'ERR_STORE_READ_ONLY'])
  for (const [name, [path, body]] of Object.entries(reads))
    expect(await answerOf(name, path, body)).toEqual([name, 200, undefined])
})

it('reads no store that has no readers', async () => {
  const { stderr } = await commands.run(['serve', '--store', 'memory:', '--read-only'])
  expect(stderr).toContain('only lmdb:PATH is read beside its writer')
})

it('follows the writer through a kill, a restart and a backup, without an error in its log', async () => {
  await sees(await submitted())
  writer.child.kill('SIGKILL')
  await writer.ended
  expect(await readiness(reader)).toEqual(READY)
  const before = await submitted().catch(error => error)
  expect(before).toBeInstanceOf(TypeError)
  writer = await start()
  await sees(await submitted())
  const [backup, after] = await Promise.all([
    commands.run(['store', 'backup', STORE, join(folder, 'backup')]),
    submitted()
  ])
  expect(backup).toMatchObject({ status: 0 })
  await sees(after)
  expect(await readiness(reader)).toEqual(READY)
  expect(reader.stderr()).not.toContain('"level":"error"')
})

it('streams the commits of the writer', async () => {
  const ending = new AbortController()
  const response = await fetch(`${reader.url}/live`, { signal: ending.signal })
  const stream = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const txid = await submitted()
  let text = ''
  while (!text.includes(txid)) text += (await stream.read()).value ?? expect.fail('the stream has ended')
  ending.abort()
})

it('is not ready when another store has taken the place of the one that it reads', async () => {
  await commands.stop(writer)
  const upgrade = await commands.run([
    ...['upgrade', STORE, '--rebuild', '--plugins', PLUGIN, '--chain', 'headers', '--network', 'regtest']
  ])
  expect(upgrade).toMatchObject({ status: 0 })
  const [status, store] = await readiness(reader)
  expect([status, store]).toMatchObject([
    503,
    { status: 'error', message: expect.stringContaining('Start it again') }
  ])
})
