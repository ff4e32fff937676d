/**
 * Writes batches to a store until it is killed, or told to end, which it does at once. Prints the number of each
 * acknowledged batch: `node crash.child.mjs URL FIRST IN_FLIGHT`.
 */
import { writeSync } from 'node:fs'
import { openStore } from '@quoin/store'
import { numberedBatch } from './crash.workload.mjs'

process.on('SIGTERM', () => process.exit())
const [url, first, inFlight] = process.argv.slice(2)
const store = await openStore(url)
let next = Number(first)
/** One synchronous write, past any buffer: a printed batch is acknowledged. It waits for a slow reader. */
const say = line => {
  for (;;) {
    try {
      return writeSync(1, line)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
      Atomics.wait(nothing, 0, 0, 1)
    }
  }
}
const nothing = new Int32Array(new SharedArrayBuffer(4))
const write = async () => {
  for (;;) {
    const n = next++
    await numberedBatch(store, n).commit()
    say(`${n}\n`)
  }
}
for (let i = 0; i < Number(inFlight); i++) write()
