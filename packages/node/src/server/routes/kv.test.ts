/** The key-value store over HTTP: for people, live, and for the clients of `@bsv/sdk`. */
import {
  HTTPSOverlayBroadcastFacilitator,
  HTTPSOverlayLookupFacilitator,
  LookupResolver,
  Transaction as SdkTransaction
} from '@bsv/sdk'
import { kvStoreInterpreter } from '@bsv/sdk/kvstore/kvStoreInterpreter'
import { Historian } from '@bsv/sdk/overlay-tools/Historian'
import { formatOutpoint, formatTxid } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Author, type Entry, KvNode, PROTOCOL, write } from '../../../../kvstore/src/author.testing.ts'
import { createServer, type Server } from '../index.ts'
import { Generator, operationsByTag } from '../malformed.testing.ts'
import { said } from '../node.testing.ts'
import { describe as describeRoutes } from '../openapi.ts'

const ann = new Author('ann')
const bob = new Author('bob')
let node: KvNode
let server: Server
let url: string
beforeEach(async () => {
  node = await KvNode.open()
  server = createServer({ engine: node.engine, options: { heartbeat: 50 } })
  url = (await server.listen()).url
})
afterEach(async () => {
  await server.close()
  await node.close()
})

const get = (path: string, query: [string, string][] = []) =>
  fetch(`${url}${path}?${new URLSearchParams(query)}`)
const text = ({ outpoint }: Entry): string => formatOutpoint(outpoint)

describe('GET /kv', () => {
  beforeEach(async () => {
    await node.set(ann, { key: 'name', value: 'Ann', tags: ['profile', 'public'] })
    await node.mine()
    await node.set(bob, { key: 'name', value: 'Bob', tags: ['profile'] })
  })

  it('§3.5 finds entries by each selector, with value, tags, height and outpoint', async () => {
    const { entries, cursor } = await said(get('/kv', [['key', 'name']]))
    expect(cursor).toBeNull()
    expect(entries).toMatchObject([
      { value: 'Bob', height: null, tags: ['profile'], ambiguous: false },
      { value: 'Ann', height: node.chain.height, tags: ['profile', 'public'], controller: ann.controller }
    ])
    expect(entries[0].outpoint).toMatch(/^[0-9a-f]{64}\.0$/)
    const valuesBy = async (...query: [string, string][]): Promise<string[]> =>
      (await said(get('/kv', query))).entries.map(({ value }: { value: string }) => value)
    expect(await valuesBy(['controller', bob.controller])).toEqual(['Bob'])
    expect(await valuesBy(['protocolID', JSON.stringify(PROTOCOL)], ['sort', 'asc'])).toEqual(['Ann', 'Bob'])
    expect(await valuesBy(['tag', 'profile'], ['tag', 'public'])).toEqual(['Ann'])
    expect(await valuesBy(['tag', 'profile'], ['tag', 'public'], ['mode', 'any'])).toEqual(['Bob', 'Ann'])
  })

  it('pages with a cursor', async () => {
    const first = await said(
      get('/kv', [
        ['key', 'name'],
        ['limit', '1']
      ])
    )
    const second = await said(
      get('/kv', [
        ['key', 'name'],
        ['limit', '1'],
        ['cursor', first.cursor]
      ])
    )
    expect([first, second].map(({ entries }) => entries[0].value)).toEqual(['Bob', 'Ann'])
  })

  it('§3.5 refuses a question without a selector, and one that is wrong', async () => {
    for (const query of [[], [['limit', '5']], [['protocolID', '[9]']], [['controller', 'me']]] as [
      string,
      string
    ][][]) {
      const response = await get('/kv', query)
      expect([response.status, (await said(response)).code]).toEqual([400, 'ERR_REQUEST'])
    }
  })
})

describe('GET /kv/{controller}/{key}', () => {
  it('§3.4 §6.3 answers every live entry of the key, and says which are ambiguous', async () => {
    const key = 'a/b ?é'
    await node.set(ann, { key, value: 'one' })
    await node.set(ann, { key, value: 'other', protocolID: [2, 'kvstore'] })
    await node.set(ann, { key, value: 'two' })
    const path = `/kv/${ann.controller}/${encodeURIComponent(key)}`
    const { entries } = await said(get(path))
    expect(entries.map(({ value, ambiguous }: Record<string, unknown>) => [value, ambiguous]).sort()).toEqual(
      [
        ['one', true],
        ['other', false],
        ['two', true]
      ]
    )
    const exact = await said(get(path, [['protocolID', '[2,"kvstore"]']]))
    expect(exact.entries).toMatchObject([{ value: 'other', key }])
  })

  it('is 404 where there is none, or no longer one', async () => {
    const entry = await node.set(ann)
    const path = `/kv/${ann.controller}/greeting`
    expect((await get(path)).status).toBe(200)
    await node.remove(entry)
    for (const each of [path, `${path}/history`]) expect((await get(each)).status).toBe(404)
  })

  it('§3.6 has the history, from the oldest to the newest, in pages', async () => {
    let last: Entry | undefined
    const outpoints: string[] = []
    for (let i = 0; i < 5; i++) {
      last = await node.set(ann, { value: `v${i}` }, ...(last ? [last] : []))
      outpoints.push(text(last))
      await node.mine()
    }
    const path = `/kv/${ann.controller}/greeting/history`
    const { histories } = await said(get(path))
    expect(histories).toHaveLength(1)
    expect(histories[0].outpoint).toBe(text(last!))
    expect(histories[0].before).toEqual([])
    expect(histories[0].entries.map(({ value }: { value: string }) => value)).toEqual([
      'v0',
      'v1',
      'v2',
      'v3',
      'v4'
    ])
    expect(histories[0].entries.map(({ outpoint }: { outpoint: string }) => outpoint)).toEqual(outpoints)
    const page = await said(get(path, [['limit', '2']]))
    expect(page.histories[0].entries.map(({ value }: { value: string }) => value)).toEqual(['v3', 'v4'])
    const earlier = await said(
      get(path, [
        ['limit', '2'],
        ['before', page.histories[0].before[0]]
      ])
    )
    expect(earlier.histories[0].entries.map(({ value }: { value: string }) => value)).toEqual(['v1', 'v2'])
  })

  it('§3.6 has the rest of a history that the context of a lookup says is cut', async () => {
    const values = Array.from({ length: 12 }, (_, i) => `${i} ${'v'.repeat(50_000)}`)
    let last: Entry | undefined
    for (const value of values) last = await node.set(ann, { value }, ...(last ? [last] : []))
    await node.mine()
    const [found] = await node.lookup({ key: 'greeting', controller: ann.controller })
    const { shown, rest } = found!.context!['history'] as { shown: number; rest: string }
    const { histories } = await said(fetch(`${url}${rest}`))
    expect(histories[0].before).toEqual([])
    expect(histories[0].entries.map(({ value }: { value: string }) => value)).toEqual(
      values.slice(0, values.length - shown)
    )
    expect(shown).toBeGreaterThan(5)
    expect(shown).toBeLessThan(values.length)
  })

  it('§3.6 does not take an outpoint of another tuple for a page of this one', async () => {
    await node.set(ann)
    const other = await node.set(bob)
    const { histories } = await said(get(`/kv/${ann.controller}/greeting/history`, [['before', text(other)]]))
    expect(histories).toMatchObject([{ entries: [], before: [] }])
  })
})

describe('GET /kv/live', () => {
  /** The data of the next events of a stream. */
  const events = async function* (response: Response) {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body!) {
      rest += decoder.decode(chunk, { stream: true })
      const parts = rest.split('\n\n')
      rest = parts.pop()!
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1]
        if (data !== undefined) yield JSON.parse(data)
      }
    }
  }

  it('tells of entries that are set, updated, mined and removed, and of no others', async () => {
    const stream = events(await get('/kv/live', [['controller', ann.controller]]))
    const next = async () => (await stream.next()).value
    await node.set(bob, { value: 'not this' })
    const first = await node.set(ann, { value: 'one' })
    expect(await next()).toMatchObject({ kind: 'saved', entries: [{ value: 'one', height: null }], gone: [] })
    const second = await node.set(ann, { value: 'two' }, first)
    expect(await next()).toMatchObject({ kind: 'saved', entries: [{ value: 'two' }], gone: [text(first)] })
    await node.mine()
    expect(await next()).toMatchObject({
      kind: 'moved',
      entries: [{ value: 'two', height: node.chain.height }]
    })
    await node.remove(second)
    expect(await next()).toMatchObject({ kind: 'saved', entries: [], gone: [text(second)] })
    await node.engine.outputs.rollback((await node.engine.outputs.spends([second.outpoint]))[0]!)
    expect(await next()).toMatchObject({ kind: 'removed', entries: [{ value: 'two' }], gone: [] })
    await stream.return(undefined)
  })

  it('goes on after a position', async () => {
    await node.set(ann, { value: 'one' })
    await node.set(ann, { value: 'two' })
    const stream = events(
      await get('/kv/live', [
        ['key', 'greeting'],
        ['after', '0']
      ])
    )
    const { value: one } = await stream.next()
    expect(one).toMatchObject({ entries: [{ value: 'one' }] })
    await stream.return(undefined)
    const again = events(
      await get('/kv/live', [
        ['key', 'greeting'],
        ['after', `${one.position}`]
      ])
    )
    expect((await again.next()).value).toMatchObject({ entries: [{ value: 'two' }] })
    await again.return(undefined)
  })

  it('§3.5 needs a selector', async () => {
    expect((await get('/kv/live')).status).toBe(400)
  })
})

describe('requests of strangers', () => {
  it('are answered or refused, and fail in no other way', async () => {
    const { transaction } = await node.set(ann, { tags: ['public'] })
    const real = {
      txids: [formatTxid(transaction.txid)],
      texts: [ann.controller, 'greeting', 'public', '[1,"kvstore"]', 'any'],
      beefs: []
    }
    const generator = new Generator(35, real)
    const operations = operationsByTag(describeRoutes(server.routes)).get('kv')!
    expect(operations).toHaveLength(4)
    const statuses = new Set<number>()
    for (let i = 0; i < 600; i++) {
      const { path, method, operation } = operations[i % operations.length]!
      const asked = generator.request(path, method, operation, '')
      const response = await fetch(`${url}${asked.path}`, { method: 'GET', headers: { ...asked.headers } })
      await response.body?.cancel()
      expect(response.status, asked.path).toBeLessThan(500)
      statuses.add(response.status)
    }
    for (const status of [200, 400, 404]) expect(statuses).toContain(status)
  }, 30_000)
})

describe('with the clients of @bsv/sdk', () => {
  const resolver = (): LookupResolver =>
    new LookupResolver({
      networkPreset: 'local',
      hostOverrides: { ls_kvstore: [url] },
      facilitator: new HTTPSOverlayLookupFacilitator(fetch, true),
      reputationStorage: { get: () => undefined, set: () => undefined }
    })

  it('§3.1 §3.6 §E submits to tm_kvstore, asks ls_kvstore and walks the history of what is mined', async () => {
    const facilitator = new HTTPSOverlayBroadcastFacilitator(fetch, true)
    let entries: Entry[] = []
    for (let i = 0; i < 4; i++) {
      const written = await write(node.chain, [[ann, { value: `v${i}` }]], entries)
      entries = written.entries
      const beef = [...node.chain.beef(written.transaction.txid)]
      const steak = await facilitator.send(url, { beef, topics: ['tm_kvstore'] })
      expect(steak['tm_kvstore']).toMatchObject({ outputsToAdmit: [0], coinsToRetain: i > 0 ? [0] : [] })
      node.chain.mine()
      const proof = await node.chain.proof(written.transaction.txid)
      if (proof.status === 'mined')
        await node.engine.handleNewMerkleProof(written.transaction.txid, proof.bump)
    }
    const query = { key: 'greeting', controller: ann.controller }
    const { outputs } = await resolver().query({ service: 'ls_kvstore', query })
    expect(outputs).toHaveLength(1)
    const transaction = SdkTransaction.fromBEEF(outputs[0]!.beef)
    expect(await transaction.verify(node.chain)).toBe(true)
    const history = await new Historian(kvStoreInterpreter).buildHistory(transaction, {
      key: 'greeting',
      protocolID: [...PROTOCOL]
    })
    expect(history).toEqual(['v0', 'v1', 'v2', 'v3'])
  })
})
