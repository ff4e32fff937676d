/**
 * A process that appends: `tsx log.writer.testing.ts URL KEY NAME COUNT`. It says `ready`, waits for its input, and
 * commits so many batches, eight at a time, each with an entry of its own and one that all writers append.
 */
import { once } from 'node:events'
import { bytes } from '../../store-contract/src/steps.ts'
import { openStore } from './store.ts'

const [url, key, name, count] = process.argv.slice(2) as [string, string, string, string]
const store = await openStore(url)

process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()

let next = 0
const work = async (): Promise<void> => {
  for (let i = next++; i < Number(count); i = next++) {
    await store
      .batch()
      .append(bytes(key), bytes(`${name} ${i}`))
      .append(bytes(key), bytes(`common ${i}`))
      .set(bytes(`${name} ${i}`), bytes(''))
      .commit()
  }
}
await Promise.all(Array.from({ length: 8 }, work))
await store.close()
