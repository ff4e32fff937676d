/** A process that reads a snapshot of the store at a URL, and says so, until it is killed. */
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const [url] = process.argv.slice(2) as [string]
const store = await openStore(url)
await store.snapshot(async reads => {
  await reads.get(bytes('v'))
  process.stdout.write('reading\n')
  await new Promise(() => setInterval(() => {}, 1000))
})
