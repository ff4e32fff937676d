/**
 * A process that reads a store, over and over, while another makes it larger. It ends when it has seen the last row,
 * and fails on a row that is not as it was written.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const [url = '', last = ''] = process.argv.slice(2)
const store = await openStore(url)
process.stdout.write('ready\n')

let reads = 0
let newest = 0
while (newest < Number(last)) {
  await store.snapshot(async reads => {
    const value = await reads.get(bytes('newest'))
    newest = value ? Number(Buffer.from(value).toString()) : 0
    if (newest === 0) return
    for (const i of [newest, 1 + Math.floor(Math.random() * newest)]) {
      const row = await reads.get(bytes(`row ${i}`))
      const whole = row && row.length > 0 && row.every(byte => byte === i % 251)
      if (!whole)
        throw new Error(`row ${i} of ${newest} is ${row?.length} bytes, or others than were written`)
    }
  })
  reads++
  await nextTurn()
}
await store.close()
process.stdout.write(`${reads}\n`)
