/**
 * A worker process: `tsx queue.worker.testing.ts URL QUEUE COUNTERS SECONDS_OF_LEASE LATE`. It says `ready`, waits for
 * its input, and drains the queue. It counts each item in the commit that acknowledges it, and says `done`, or `lost`
 * if it had lost the lease. If it is `late` it lets every other lease end before it acts on it.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '@quoin/primitives'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Lease } from './queue.ts'
import { openStore } from './store.ts'

const [url, queueKey, counters, leaseSeconds, late] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string
]
const seconds = Number(leaseSeconds)
const store = await openStore(url)
const queue = store.queue(bytes(queueKey), { attempts: 1000 })

const work = async (lease: Lease): Promise<void> => {
  const batch = store.batch().zincrby(bytes(counters), lease.item, 1)
  queue.acknowledgeIn(batch, lease)
  try {
    await batch.commit()
    process.stdout.write('done\n')
  } catch (error) {
    if (!hasCode(error, 'ERR_STORE_LEASE_LOST')) throw error
    process.stdout.write('lost\n')
  }
}

process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()

for (let turn = 1; ; turn++) {
  const leases = await queue.lease(8, seconds)
  if (late === 'late' && turn % 2 === 0) await sleep(seconds * 1500)
  for (const lease of leases) await work(lease)
  if (leases.length > 0) continue
  const { due, leased } = await queue.stats()
  if (due + leased === 0) break
  await sleep(20)
}
await store.close()
