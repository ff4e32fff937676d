/** A process that reads an LMDB store at random for a number of milliseconds, and reports its gets per second. */
import { setImmediate as turn } from 'node:timers/promises'
import { openStore } from '@quoin/store'
import { FIELD, mix, outpointOf, outputKey } from './workload.ts'

const [path, transactions] = process.argv.slice(2) as [string, string]
const store = await openStore(`lmdb:${path}?read-only`)
const keys = Array.from({ length: 4096 }, (_, i) =>
  outputKey(outpointOf(mix(process.pid + i) % Number(transactions), 1))
)

const readFor = async (milliseconds: number): Promise<number> => {
  const begin = performance.now()
  let gets = 0
  let found = 0
  while (performance.now() - begin < milliseconds) {
    for (let i = 0; i < 1000; i++) {
      if (await store.hget(keys[gets++ % keys.length]!, FIELD.events)) found++
    }
    // Releases the snapshot, as a server does between requests.
    await turn()
  }
  if (found !== gets) throw new Error(`${gets - found} of ${gets} outputs were not found`)
  return gets / ((performance.now() - begin) / 1000)
}

process.on('message', async (milliseconds: number) => {
  const rate = await readFor(milliseconds)
  if (process.connected) process.send!(rate)
})
process.on('disconnect', () => process.exit())
await readFor(100)
process.send!('ready')
