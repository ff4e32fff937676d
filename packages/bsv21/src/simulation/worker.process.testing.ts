/**
 * A process that runs the token pipeline: `tsx worker.process.testing.ts URL CHAIN BEEFS [queues]`. It believes the chain in a
 * file, and takes what is in a file of BEEF, one a line in hexadecimal, unless that is `-`. With
 * `queues` all transactions go through the queues. It says `ready` when it has
 * begun, and `done` when there is nothing left to do.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Beef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { openStore, type Store } from '@quoin/store'
import { outputs as outputKeys, progressFields } from '@quoin/txo'
import { bsv21 } from '../keys.ts'
import { TokenNode } from '../node.testing.ts'
import { discoveryQueue } from '../pipeline/queues.ts'
import type { Delivery, Source } from '../source/source.ts'

const [url, chainFile, beefFile, way] = process.argv.slice(2) as [string, string, string, string?]
const { file } = progressFields.collections
const { progress } = outputKeys.collections
const PLACE: [Uint8Array] = [new Uint8Array(32)]

const lines = beefFile === '-' ? [] : readFileSync(beefFile, 'utf8').trim().split('\n')
const FEW = 7

/** How many of the lines have been taken. */
const taken = async (store: Store): Promise<number> =>
  (
    await store
      .use(progress)
      .at()
      .get(file, ...PLACE)
  )?.bytes ?? 0

/** The lines, a few at a time, from the place that the store has. */
const listed: Source = {
  name: beefFile,
  status: { state: 'reading', at: undefined, end: undefined, transactions: 0, lastError: undefined },
  async *deliveries(store: Store): AsyncGenerator<Delivery, void, undefined> {
    for (let from = await taken(store); from < lines.length; from += FEW) {
      const end = from + FEW
      const beefs = lines.slice(from, end).map(line => Beef.parse(Uint8Array.from(Buffer.from(line, 'hex'))))
      yield {
        transactions: beefs.map(beef => ({ txid: beef.subject, beef, mined: undefined })),
        reorgFrom: undefined,
        mark: batch => batch.use(progress).at().set(file, PLACE, { bytes: end, head: '' })
      }
    }
  }
}

const store = await openStore(url)
const node = new TokenNode(store, {
  chain: DevChain.from(JSON.parse(readFileSync(chainFile, 'utf8'))),
  activation: 'all',
  sources: lines.length > 0 ? [listed] : [],
  isShared: url.startsWith('redis') || way === 'queues'
})
node.engine.start()
node.pipeline.start()
process.stdout.write('ready\n')

const isIdle = async (): Promise<boolean> => {
  const { due, leased } = await discoveryQueue(store).stats()
  if ((await taken(store)) < lines.length || due + leased > 0) return false
  return (await store.use(bsv21.collections.ready).at().count()) === 0
}
while (!(await isIdle())) await sleep(50)
await node.close()
await store.close()
process.stdout.write('done\n')
