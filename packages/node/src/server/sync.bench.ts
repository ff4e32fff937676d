/**
 * The sync of a topic from a node in a process of its own, over HTTP, into an engine on durable LMDB in this process: with
 * batches of transactions, as `quoin bootstrap` and the sync with peers fetch them, and with the requests of GASP alone.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Engine, httpPeer, type Peer, TopicSync } from '@quoin/overlay'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { suite } from '../../../../bench/harness.ts'
import { makeCase } from '../../../chain/src/verify/sets.testing.ts'
import { TestChain } from '../../../chain/src/verify/test-chain.testing.ts'
import { serve } from './served.testing.ts'

const TOPIC = 'tm_all'
const about = {
  getDocumentation: async () => '',
  getMetaData: async () => ({ name: '', shortDescription: '' })
}

export default suite(({ sheet, after, scale, progress }) => {
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(path, { recursive: true, force: true }))
    return path
  }
  const openEngine = async (): Promise<Engine> => {
    const outputs = new OutputStore(await openStore(`lmdb:${await folder()}`))
    const admit = ({ transaction }: { transaction: { outputs: readonly unknown[] } }) => ({
      outputs: [...transaction.outputs.keys()]
    })
    const engine = new Engine({ outputs, tracker: 'scripts only', topics: { [TOPIC]: { ...about, admit } } })
    after(async () => {
      await engine.close()
      await outputs.store.close()
    })
    return engine
  }

  sheet('sync of submissions', async () => {
    const count = { quick: 500, normal: 3000, full: 30_000 }[scale]
    progress(`making ${count} transactions`)
    const chain = new TestChain()
    const beefs: Uint8Array[] = []
    for (let seed = 0; seed < count; seed++) {
      beefs.push(chain.beef((await makeCase('a', seed, chain)).transactions))
    }
    const node = await serve(await folder())
    after(() => node.close())
    await node.submit(beefs)
    const peer = httpPeer(node.url)
    const gasp: Peer = {
      name: peer.name,
      syncResponse: (...request) => peer.syncResponse(...request),
      node: (...request) => peer.node(...request)
    }
    const measured = async (way: string, from: Peer): Promise<[string, number, number, number]> => {
      progress(way)
      const sync = new TopicSync(await openEngine(), TOPIC, from)
      const [since, used] = [performance.now(), process.cpuUsage()]
      const { submitted } = await sync.run()
      const seconds = (performance.now() - since) / 1000
      const { user, system } = process.cpuUsage(used)
      if (submitted !== count) throw new Error(`${submitted} of ${count} transactions were synced`)
      return [way, Number(seconds.toFixed(2)), us(seconds * 1e6), us(user + system)]
    }
    const us = (total: number): number => Math.round(total / count)
    return {
      columns: [`${count} submissions`, 's', 'us each', 'processor us each'],
      rows: [await measured('in batches', peer), await measured('by GASP', gasp)]
    }
  })
})
