/** `quoin verify` and `quoin repair` on Redis, through a connection that is cut again and again. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { encodeText, type Txid } from '@quoin/primitives'
import { claimLayouts, openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../../../store/src/redis/server.testing.ts'
import { nodeStore } from '../../keyspaces.ts'
import { repair } from './repair.ts'
import { verify } from './verify.ts'

const CUT_EVERY_BYTES = 200_000
/** Longer than the store itself asks again. */
const OUTAGE_MS = 12_000
const TRANSACTIONS = 1500

let redis: RedisServer
let cuts = 0
let downUntil = 0
/** A proxy that ends a connection after so many bytes of answers, which is more than any one page. */
const proxy = createServer(client => {
  if (performance.now() < downUntil) {
    client.destroy()
    return
  }
  const server = connect(redis.port, '127.0.0.1')
  let bytes = 0
  const end = (...sockets: Socket[]): void => {
    for (const socket of sockets) socket.destroy()
  }
  client.on('data', data => server.write(data))
  server.on('data', data => {
    bytes += data.length
    if (bytes <= CUT_EVERY_BYTES) {
      client.write(data)
      return
    }
    if (++cuts === 1) downUntil = performance.now() + OUTAGE_MS
    end(client, server)
  })
  for (const socket of [client, server]) {
    socket.on('error', () => end(client, server)).on('close', () => end(client, server))
  }
})

beforeAll(async () => {
  redis = await startRedis()
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const store = await openStore(redis.url)
  await claimLayouts(store, nodeStore().members)
  const outputs = new OutputStore(store)
  for (let i = 0; i < TRANSACTIONS; i++) {
    const txid = new Uint8Array(32).fill(i % 251) as Txid
    new DataView(txid.buffer).setUint32(0, i)
    await outputs.saveOutputs(txid, [{ vout: 0, satoshis: 1, data: { note: 'x'.repeat(20) } }], {
      seen: 1_700_000_000 + i
    })
  }
  await store.zadd(encodeText('z:tp:tm_x'), { member: new Uint8Array(32).fill(1), score: 1 })
  await store.close()
})
afterAll(async () => {
  proxy.close()
  await redis.stop()
})

const asked = async (run: () => Promise<number>) => {
  let [out, said] = ['', '']
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
      out += String(chunk)
      return true
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation(chunk => {
      said += String(chunk)
      return true
    })
  ]
  try {
    const code = await run()
    return { code, said, json: JSON.parse(out) }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

it('go on from where they were, with a message', { timeout: 90_000 }, async () => {
  const url = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const options = { limit: '1000', json: true } as const
  const found = await asked(() => verify(url, options))
  expect(found.json).toMatchObject({ transactions: TRANSACTIONS, counts: { 'index-unexpected': 1 } })
  expect(found.said).toContain('it goes on from here when the server is back')
  const mended = await asked(() => repair(url, options))
  expect(mended).toMatchObject({ code: 0, json: { mended: { 'index-unexpected': 1 }, left: [] } })
  expect(cuts).toBeGreaterThan(2)
  expect((await asked(() => verify(redis.url, options))).json.findings).toEqual([])
})
