/** Live lookups over HTTP: nothing that changes a topic is lost between the snapshot and the polls, nor by a restart. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Transaction } from '@quoin/chain'
import { Beef } from '@quoin/chain'
import { formatTxid, makeOutpoint } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startNode, type TestNode } from '../node.testing.ts'
import { RULES_DIGEST, SERVICE } from './live-lookups.ts'
import { canonicalJson, packetDigest } from './protocol.ts'

const PROVIDER = 'https://node.example.com'
const WIDE = { maxBytes: 4_194_304, maxObservations: 1024, waitMs: 0 }
const NARROW = { ...WIDE, maxObservations: 1 }
let node: TestNode
let directory: string
let url: string

const start = () => startNode(url, { liveLookups: { provider: PROVIDER } })
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-live-lookup-'))
  url = `lmdb:${directory}/store`
  node = await start()
})
afterEach(async () => {
  await node.close()
  await rm(directory, { recursive: true })
})

interface Observation {
  readonly id: string
  readonly kind: string
  readonly payload: {
    readonly evidence?: { readonly txid: string; readonly outputIndex: number; readonly beef: string }
    readonly outpoint?: { readonly txid: string; readonly outputIndex: number }
    readonly previous?: { readonly txid: string; readonly outputIndex: number }
    readonly spendingTxid?: string
    readonly reason?: string
  }
}
interface Batch {
  readonly session: string
  readonly scope: object
  readonly phase: string
  readonly cursor: string
  readonly snapshotComplete: boolean
  readonly through: string
  readonly highWater: string
  readonly groups: readonly {
    readonly id: string
    readonly sequence: string
    readonly observations: readonly Observation[]
  }[]
  readonly error?: { readonly code: string; readonly message: string; readonly limit?: object }
}

const post = async (path: string, body: object): Promise<Batch & { status: number }> => {
  const response = await node.post(`/overlay/v1/lookup/${path}`, body)
  return { ...((await response.json()) as Batch), status: response.status }
}
const newId = (): string => randomBytes(16).toString('base64url')
const opening = (more: object = {}) => ({
  version: 1,
  requestId: newId(),
  service: SERVICE,
  query: { topic: 'tm_ones' },
  limits: WIDE,
  ...more
})
const open = (more: object = {}) => post('open', opening(more))
const read = ({ session }: Batch, cursor: string, limits: object = WIDE) =>
  post('read', { version: 1, session, cursor, limits })
const admit = async (): Promise<Transaction> => {
  const transaction = await node.minted()
  await node.submit(transaction, 'tm_ones')
  return transaction
}
const nameOf = ({ payload }: Observation): string => {
  const { txid, outputIndex } = (payload.evidence ?? payload.outpoint ?? payload.previous)!
  return `${txid}.${outputIndex}`
}
const observed = ({ groups }: Batch) => groups.flatMap(({ observations }) => observations)
const summary = (batch: Batch): string[] => observed(batch).map(each => `${each.kind} ${nameOf(each)}`)
/** The members of a client after batches. */
const membersAfter = (batches: readonly Batch[]): string[] => {
  const members = new Set<string>()
  for (const each of batches.flatMap(observed)) {
    if (each.kind === 'output') members.add(nameOf(each))
    if (each.kind === 'withdraw') members.delete(nameOf(each))
  }
  return [...members].sort()
}
const name = ({ txid }: Transaction, vout = 0): string => `${formatTxid(txid)}.${vout}`

describe('a live lookup', () => {
  it('has a snapshot with evidence, in whole groups, then changes in the order of the log', async () => {
    const [first, second] = [await admit(), await admit()]
    const begun = await open({ limits: NARROW })
    expect(begun).toMatchObject({
      status: 200,
      phase: 'snapshot',
      snapshotComplete: false,
      through: '2',
      highWater: '2',
      scope: { provider: PROVIDER, service: SERVICE, rulesDigest: RULES_DIGEST, access: 'public' },
      limits: NARROW
    })
    const [output] = observed(begun)
    expect(Beef.parse(Buffer.from(output!.payload.evidence!.beef, 'base64')).subject).toBeDefined()
    // A change within the snapshot is not lost, and does not change the snapshot.
    const spender = await node.spent(first, 0, [1])
    await node.submit(spender, 'tm_ones')
    const rest = await read(begun, begun.cursor, WIDE)
    expect(rest).toMatchObject({ phase: 'snapshot', snapshotComplete: true, through: '2' })
    expect([...summary(begun), ...summary(rest)].sort()).toEqual(
      [`output ${name(first)}`, `output ${name(second)}`].sort()
    )
    const live = await read(begun, rest.cursor)
    expect(live).toMatchObject({ phase: 'live', snapshotComplete: true, through: live.highWater })
    expect(summary(live)).toEqual([
      `spend ${name(first)}`,
      `withdraw ${name(first)}`,
      `output ${name(spender)}`
    ])
    expect(observed(live)[0]!.payload.spendingTxid).toBe(formatTxid(spender.txid))
    expect(membersAfter([begun, rest, live])).toEqual([name(second), name(spender)].sort())
    const ids = [begun, rest, live].flatMap(observed).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    // Reads are repeatable.
    const again = await read(begun, rest.cursor)
    expect(again.groups).toEqual(live.groups)
    expect((await read(begun, begun.cursor, WIDE)).groups).toEqual(rest.groups)
  })

  it('of an empty topic has a complete snapshot; a poll ends with the first change, or empty', async () => {
    const begun = await open()
    expect(begun).toMatchObject({ phase: 'snapshot', snapshotComplete: true, groups: [], through: '0' })
    expect(await read(begun, begun.cursor)).toMatchObject({ phase: 'live', groups: [], through: '0' })
    const polling = read(begun, begun.cursor, { ...WIDE, waitMs: 25_000 })
    const transaction = await admit()
    expect(summary(await polling)).toEqual([`output ${name(transaction)}`])
  })

  it('passes over entries that change no membership, and tells of evictions', async () => {
    const transaction = await admit()
    const begun = await open()
    node.chain.mine()
    const proof = await node.chain.proof(transaction.txid)
    if (proof.status === 'mined') await node.engine.handleNewMerkleProof(transaction.txid, proof.bump)
    const proved = await read(begun, begun.cursor)
    expect(proved.groups).toEqual([])
    expect(Number(proved.through)).toBeGreaterThan(Number(begun.through))
    await node.engine.evict(makeOutpoint(transaction.txid, 0))
    const evicted = await read(begun, proved.cursor)
    expect(observed(evicted).map(({ kind, payload }) => [kind, payload.reason])).toEqual([
      ['withdraw', 'evicted']
    ])
  })

  it('goes on after a restart in its live phase, and says that a snapshot is lost', async () => {
    await admit()
    await admit()
    const [early, late] = [await open({ limits: NARROW }), await open()]
    await node.close()
    node = await start()
    // The chain of the test begins again with the same coins.
    for (let i = 0; i < 2; i++) await node.minted()
    const missed = await admit()
    const live = await read(late, late.cursor)
    expect(live.scope).toEqual(late.scope)
    expect(summary(live)).toEqual([`output ${name(missed)}`])
    expect(await read(early, early.cursor)).toMatchObject({ status: 409, error: { code: 'reset-required' } })
  })

  it('is opened once for a request id', async () => {
    await admit()
    const request = opening()
    const begun = await post('open', request)
    await admit()
    const retried = await post('open', request)
    expect([retried.session, retried.groups, retried.cursor]).toEqual([
      begun.session,
      begun.groups,
      begun.cursor
    ])
    expect(await post('open', { ...request, limits: NARROW })).toMatchObject({
      status: 409,
      error: { code: 'conflict' }
    })
    const racing = opening()
    const both = await Promise.all([post('open', racing), post('open', racing)])
    expect(both[0]!.session).toBe(both[1]!.session)
    await post('close', { version: 1, session: begun.session })
    expect(await post('open', request)).toMatchObject({ status: 410, error: { code: 'expired' } })
  })

  it('ends when it is closed, also during a poll; closing an unknown one answers the same', async () => {
    const begun = await open()
    const polling = read(begun, begun.cursor, { ...WIDE, waitMs: 25_000 })
    const closed = { version: 1, closed: true, status: 200 }
    expect(await post('close', { version: 1, session: begun.session })).toEqual(closed)
    await admit()
    expect(await polling).toMatchObject({ status: 410, error: { code: 'expired' } })
    expect(await read(begun, begun.cursor)).toMatchObject({ status: 410, error: { code: 'expired' } })
    expect(await post('close', { version: 1, session: begun.session })).toEqual(closed)
    expect(await post('close', { version: 1, session: 'f'.repeat(32) })).toEqual(closed)
  })

  it('refuses a group beyond its limits without moving on', async () => {
    const begun = await open()
    await admit()
    const small = await read(begun, begun.cursor, { ...WIDE, maxBytes: 1300 })
    expect(small).toMatchObject({
      status: 413,
      error: { code: 'limited', limit: { kind: 'group', minimumObservations: 1 } }
    })
    const { minimumBytes } = small.error!.limit as { minimumBytes: number }
    const enough = await read(begun, begun.cursor, { ...WIDE, maxBytes: minimumBytes })
    expect(enough.groups).toHaveLength(1)
    const response = await node.post('/overlay/v1/lookup/read', {
      version: 1,
      session: begun.session,
      cursor: begun.cursor,
      limits: { ...WIDE, maxBytes: minimumBytes }
    })
    expect((await response.text()).length).toBeLessThanOrEqual(minimumBytes)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(await read(begun, begun.cursor, { ...WIDE, maxBytes: 10 })).toMatchObject({
      status: 413,
      error: { limit: { kind: 'envelope' } }
    })
  })

  it.each<[string, object, number, string]>([
    ['another version', { version: 2 }, 422, 'unsupported'],
    ['no version', { version: undefined }, 400, 'invalid'],
    ['another service', { service: 'ls_ones' }, 404, 'not-found'],
    ['an unknown topic', { query: { topic: 'tm_nothing' } }, 404, 'not-found'],
    ['another query', { query: { topic: 'tm_ones', of: 'me' } }, 400, 'invalid'],
    ['a request id that can be guessed', { requestId: 'short' }, 400, 'invalid'],
    ['an undeclared property', { more: 1 }, 400, 'invalid'],
    ['a critical extension', { extensions: { 'https://x': 1 }, critical: ['https://x'] }, 422, 'unsupported'],
    ['other rules', { requiredRulesDigest: '00'.repeat(32) }, 422, 'unsupported'],
    ['a limit of nothing', { limits: { ...WIDE, maxBytes: 0 } }, 400, 'invalid']
  ])('with %s is refused', async (_, more, status, code) => {
    expect(await open(more)).toMatchObject({ status, version: 1, error: { code, retryable: false } })
  })

  it('does not take the cursor of another session, or one that it did not give', async () => {
    const [one, two] = [await open(), await open()]
    expect(await read(one, two.cursor)).toMatchObject({ status: 409, error: { code: 'reset-required' } })
    const [phase, , mark] = one.cursor.split('.')
    expect(await read(one, `${phase}.9.${mark}`)).toMatchObject({
      status: 409,
      error: { code: 'reset-required' }
    })
    expect(await read({ ...one, session: 'e'.repeat(32) }, one.cursor)).toMatchObject({
      status: 409,
      error: { code: 'reset-required' }
    })
  })
})

it('is not served unless it is turned on', async () => {
  const plain = await startNode()
  expect((await plain.post('/overlay/v1/lookup/open', opening())).status).toBe(404)
  await plain.close()
})

it('digests are of canonical JSON', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: 'ä' })).toBe('{"a":"ä","b":[1,{"c":"x","d":null}]}')
  expect(packetDigest('lookup-query', { service: 's', query: 1 })).toBe(
    packetDigest('lookup-query', { query: 1, service: 's' })
  )
  expect(packetDigest('a', 1)).not.toBe(packetDigest('b', 1))
})
