/**
 * Commits numbered batches and prints the number of each when it is acknowledged: `node writer.mjs URL FIRST COUNT
 * IN_FLIGHT`.
 */
import { writeSync } from 'node:fs'
import { openStore } from '@quoin/store'
import { numberedBatch } from '../crash.workload.mjs'

const [url, first, count, inFlight] = process.argv.slice(2)
const store = await openStore(url)
const end = Number(first) + Number(count)
let next = Number(first)
const write = async () => {
  while (next < end) {
    const n = next++
    await numberedBatch(store, n).commit()
    writeSync(1, `${n}\n`)
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, write))
await store.close()
