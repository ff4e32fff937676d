/** The metrics of a node's surroundings, read from a node with a peer, a source of tokens, a disk and a backup. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SILENT } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../package-files.ts'
import { loadConfig } from './config.ts'
import { diskPart, diskSpace, newestBackup } from './disk.ts'
import { type Node, startNode } from './node.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-metrics-'))
const TOKEN = 'correct-horse-battery-staple'
const base = { port: '0', blockTime: '0', logLevel: 'silent' }

let peer: Node
let node: Node
beforeAll(async () => {
  peer = await startNode(loadConfig({ options: { ...base, store: 'memory:' } }).config, { logger: SILENT })
  const options = {
    ...base,
    store: `lmdb:${folder}/store`,
    adminToken: TOKEN,
    backups: `${folder}/backups`,
    peers: `tm_kvstore=${peer.url}`,
    'bsv21.peers': peer.url
  }
  node = await startNode(loadConfig({ options }).config, { logger: SILENT })
})
afterAll(async () => {
  await node?.close()
  await peer?.close()
  rmSync(folder, { recursive: true })
})

const metrics = async (): Promise<string> => (await fetch(`${node.url}/metrics`)).text()
const sample = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find(each => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

describe('the metrics of an operator', () => {
  it('have the versions, the readiness, and the disk of the store', async () => {
    const text = await metrics()
    expect(sample(text, `quoin_build_info{version="${version}",node="${process.version}"}`)).toBe(1)
    expect(sample(text, 'quoin_ready')).toBe(1)
    const free = sample(text, 'quoin_store_disk_free_bytes{engine="lmdb"}')
    const total = sample(text, 'quoin_store_disk_total_bytes{engine="lmdb"}')
    expect(free).toBeGreaterThan(0)
    expect(total).toBeGreaterThan(free!)
  })

  it('have the state of peers, and how far sources are', async () => {
    const isUp = async (series: string) => sample(await metrics(), series)
    await expect
      .poll(() => isUp(`quoin_peer_up{topic="tm_kvstore",peer="${peer.url}"}`), { timeout: 30_000 })
      .toBe(1)
    await expect.poll(() => isUp(`quoin_source_up{source="node ${peer.url}"}`), { timeout: 30_000 }).toBe(1)
    const text = await metrics()
    const at = sample(text, `quoin_peer_last_success_seconds{topic="tm_kvstore",peer="${peer.url}"}`)
    expect(Math.abs(at! - Date.now() / 1000)).toBeLessThan(600)
    expect(sample(text, `quoin_source_lag{source="node ${peer.url}"}`)).toBe(0)
    expect(sample(text, `quoin_source_transactions{source="node ${peer.url}"}`)).toBe(0)
  })

  it('have the time of the newest finished backup', async () => {
    expect(sample(await metrics(), 'quoin_backup_last_seconds')).toBe(0)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`${node.url}/admin/backup`, {
      method: 'POST',
      headers,
      body: '{"name":"first"}'
    })
    expect(answer.status).toBe(200)
    // Cut off before its manifest, and a file.
    mkdirSync(`${folder}/backups/second`)
    writeFileSync(`${folder}/backups/notes.txt`, 'x')
    const newest = await newestBackup(`${folder}/backups`)
    expect(newest).toMatchObject({ name: 'first', engine: 'lmdb' })
    expect(sample(await metrics(), 'quoin_backup_last_seconds')).toBe(Date.parse(newest!.time) / 1000)
    expect(await newestBackup(`${folder}/none`)).toBeUndefined()
  })
})

describe('the disk of a store', () => {
  it('is that of the closest directory that exists', async () => {
    expect((await diskSpace(join(folder, 'not', 'yet'))).total).toBe((await diskSpace(folder)).total)
  })

  it('is degraded, and says what to do, when little is free', async () => {
    const state = (free: number) => diskPart(folder, async () => ({ free, total: 1e12 })).state()
    expect(await state(1e9)).toEqual({ status: 'ok' })
    expect(await state(9e8)).toEqual({
      status: 'degraded',
      message:
        '900 MB are free for the store, expected 1 GB: free some space, or move the store to a larger disk'
    })
  })

  it('is no metric of a store in memory', async () => {
    const store = await openStore('memory:')
    expect((await store.stats()).details['path']).toBeUndefined()
    expect(await (await fetch(`${peer.url}/metrics`)).text()).not.toMatch(/^quoin_store_disk_\w+\{/m)
    await store.close()
  })
})
