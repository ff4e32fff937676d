/**
 * A process that holds leases: `tsx queue.holder.testing.ts URL QUEUE COUNT SECONDS`. It says `leased` and how many items
 * it has. Told anything, it acknowledges them, and says `done` or the code of the error.
 */
import { once } from 'node:events'
import { QuoinError } from '@quoin/primitives'
import { bytes } from '../../store-contract/src/steps.ts'
import { openStore } from './store.ts'

const [url, queueKey, count, seconds] = process.argv.slice(2) as [string, string, string, string]
const store = await openStore(url)
const queue = store.queue(bytes(queueKey))
const leases = await queue.lease(Number(count), Number(seconds))
process.stdout.write(`leased ${leases.length}\n`)
await once(process.stdin, 'data')
process.stdin.destroy()
try {
  for (const lease of leases) await queue.acknowledge(lease)
  process.stdout.write('done\n')
} catch (error) {
  if (!(error instanceof QuoinError)) throw error
  process.stdout.write(`${error.code}\n`)
}
await store.close()
