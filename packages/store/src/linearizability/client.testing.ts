/**
 * A process that calls a store: `tsx client.testing.ts URL`. It says `ready`; each line of its input is the requests of
 * its clients, which send them at the same time, each client one after the other. It says when each begins and ends, by
 * the clock that the processes of a machine share, and `done`.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Subject } from '../../../store-contract/src/subject.ts'
import { openEngine } from '../open.ts'
import { send } from './requests.testing.ts'
import type { Request } from './store-specification.testing.ts'

const [url] = process.argv.slice(2) as [string]
const store = new Subject(await openEngine(url))
/** Microseconds. */
const now = (): number => Number(process.hrtime.bigint() / 1000n)
/** Written before the process goes on: a line that is lost with the process would hide a call. */
const say = (...line: unknown[]): void => {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const run = async (client: number, requests: readonly Request[]): Promise<void> => {
  for (const [index, request] of requests.entries()) {
    if (Math.random() < 0.3) await sleep(Math.random() * 4)
    say('invoked', client, index, now())
    const result = await send(store, request)
    say('replied', client, index, now(), result)
  }
}

say('ready')
for await (const line of createInterface(process.stdin)) {
  const clients = JSON.parse(line) as Request[][]
  await Promise.all(clients.map((requests, client) => run(client, requests)))
  say('done')
}
await store.engine.close()
