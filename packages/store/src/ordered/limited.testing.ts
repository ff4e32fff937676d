/**
 * A process that writes to a store until it is full, and again when there is room. Its files are limited by whoever
 * starts it (`ulimit -S -f`). Says what happened in one line of JSON.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { bytes } from '../../../store-contract/src/steps.ts'
import { openStore } from '../store.ts'

const [url = ''] = process.argv.slice(2)
let store = await openStore(url)

/** Two rows that must be there together; what it says is `ok` or the code of the error. */
const write = async (i: number | string): Promise<string> => {
  try {
    const batch = store.batch().set(bytes(`a${i}`), randomBytes(40_000))
    await batch.hset(bytes(`b${i}`), bytes('f'), randomBytes(10)).commit()
    return 'ok'
  } catch (error) {
    return (error as { code: string }).code
  }
}

let written = 0
let failure = await write(written)
while (failure === 'ok') failure = await write(++written)
const again = await write(written)
const readable = (await store.get(bytes(`a${written - 1}`)))?.length

execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
const withRoom = await write('with room')
await store.close()
store = await openStore(url)
const reopened = await write('reopened')
await store.close()
process.stdout.write(`${JSON.stringify({ written, failure, again, readable, withRoom, reopened })}\n`)
