/** Following changes: nothing is lost or repeated across a reconnect. */

import { formatTxid } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { said, startNode, type TestNode } from '../node.testing.ts'
import { LiveClient } from './live-client.testing.ts'

/** On a busy machine. */
const SOON = { timeout: 20_000 }

let node: TestNode
beforeAll(async () => {
  node = await startNode('memory:', { heartbeat: 50 }, { outputs: { journal: 20 } })
})
afterAll(() => node.close())

const one = async (): Promise<string> => {
  const transaction = await node.minted()
  await node.submit(transaction, 'tm_ones')
  return formatTxid(transaction.txid)
}

describe('GET /live', () => {
  it('tells what is committed, and goes on where a client left off', async () => {
    const first = new LiveClient(`${node.url}/live`)
    await expect.poll(() => first.lastId, SOON).toBeDefined()
    const before = await one()
    await expect.poll(() => first.txids, SOON).toContain(before)
    const last = first.told.at(-1)!
    expect(last).toMatchObject({ event: 'saved', id: String(JSON.parse(last.data!).position) })
    first.close()
    const missed = [await one(), await one()]
    const again = new LiveClient(`${node.url}/live`, { 'last-event-id': first.lastId! })
    await expect.poll(() => again.txids.filter(txid => missed.includes(txid)), SOON).toEqual(missed)
    expect(again.txids).not.toContain(before)
    const ids = [...first.told, ...again.told].map(({ id }) => Number(id))
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
    again.close()
  })

  it('passes over what a client does not want, and moves it on all the same', async () => {
    const client = new LiveClient(`${node.url}/live?topics=tm_nobody&events=txid:${'00'.repeat(32)}`)
    const wanting = new LiveClient(`${node.url}/live?topics=tm_ones`)
    await expect.poll(() => [client.lastId, wanting.lastId], SOON).not.toContain(undefined)
    const txid = await one()
    await expect.poll(() => wanting.txids, SOON).toEqual([txid])
    const { journal } = await said(node.get('/status'))
    await expect.poll(() => client.lastId, SOON).toBe(String(journal.position))
    expect(client.told).toEqual([])
    client.close()
    wanting.close()
  })

  it('tells who wants a topic of what spends its outputs', async () => {
    const minted = await node.minted()
    await node.submit(minted, 'tm_ones')
    const client = new LiveClient(`${node.url}/live?topics=tm_ones`)
    await expect.poll(() => client.lastId, SOON).toBeDefined()
    const spending = await node.spent(minted, 0, [0])
    await node.submit(spending, 'tm_ones')
    await expect.poll(() => client.txids, SOON).toContain(formatTxid(spending.txid))
    client.close()
  })

  it('a position that is gone, or that never was, is 410', async () => {
    for (let i = 0; i < 25; i++) await one()
    await node.engine.outputs.journal.trim()
    for (const position of ['0', '999999999']) {
      const response = await node.get('/live', { 'last-event-id': position })
      expect([response.status, (await said(response)).code]).toEqual([410, 'ERR_TXO_POSITION'])
    }
    expect((await node.get('/live?after=nonsense')).status).toBe(400)
  })

  it('a stream that falls behind what is kept is told so', async () => {
    const { outputs } = node.engine
    const start = await outputs.journal.last()
    const original = outputs.follow.bind(outputs)
    // As if the client had not read while the journal was trimmed.
    outputs.follow = subscription => original({ ...subscription, after: 0 })
    const client = new LiveClient(`${node.url}/live?after=${start}`)
    await expect.poll(() => client.told.map(({ event }) => event), SOON).toEqual(['gone'])
    await expect.poll(() => client.ended, SOON).toBe(true)
    outputs.follow = original
  })

  it('HEAD is no stream, though nobody ever reads or ends its body', async () => {
    const response = await fetch(`${node.url}/live`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    await expect.poll(async () => (await said(node.get('/status'))).streams, SOON).toBe(0)
  })

  it('has no more streams than it should, and counts those that left', async () => {
    const small = await startNode('memory:', { limits: { streams: 1 }, heartbeat: 20 })
    const client = new LiveClient(`${small.url}/live`)
    await expect.poll(() => client.lastId, SOON).toBeDefined()
    const refused = await small.get('/live')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
    client.close()
    await expect.poll(async () => (await said(small.get('/status'))).streams, SOON).toBe(0)
    const next = new LiveClient(`${small.url}/live`)
    await expect.poll(() => next.lastId, SOON).toBeDefined()
    await small.close()
    await expect.poll(() => next.ended, SOON).toBe(true)
  })
})
