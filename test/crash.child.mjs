/**
 * Writes batches to a store until it is killed, and prints the number of each once it is acknowledged:
 * `node crash.child.mjs URL FIRST IN_FLIGHT`.
 */
import { writeSync } from 'node:fs'
import { openStore } from '../dist/store/index.js'
import { numberedBatch } from './crash.workload.mjs'

const [url, first, inFlight] = process.argv.slice(2)
const store = await openStore(url)
let next = Number(first)
const write = async () => {
  for (;;) {
    const n = next++
    await numberedBatch(store, n).commit()
    // In one call, past any buffer: what the reader has seen was acknowledged.
    writeSync(1, `${n}\n`)
  }
}
for (let i = 0; i < Number(inFlight); i++) write()
