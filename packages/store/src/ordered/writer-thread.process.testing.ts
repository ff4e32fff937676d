/**
 * A process whose writer thread is stopped: `inside` a transaction, or `between` two. Prints one line of JSON with the
 * codes of the commits under way, of a later commit, of a probe, of closing and of opening again.
 */
import { syncBuiltinESMExports } from 'node:module'
import threads, { Worker } from 'node:worker_threads'
import { bytes } from '../../../store-contract/src/steps.ts'
import type { ShutdownLatch } from './shutdown-latch.ts'

const [url = '', moment = 'between'] = process.argv.slice(2)

/** The thread is private to the store, so it is caught when it is made, with the memory by which it tells its state. */
let thread: Worker | undefined
let state: Int32Array = new Int32Array(2)
threads.Worker = class extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args)
    thread = this
    state = (args[1]!.workerData as ShutdownLatch).ending
  }
}
syncBuiltinESMExports()
const IS_AT_WORK = 1

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code
  )

const { openStore } = await import('../store.ts')
const store = await openStore(url)
await store.set(bytes('first'), bytes('1'))
const commits: Promise<string>[] = []
const write = (n: number): void => {
  commits.push(codeOf(store.set(bytes(`k${n}`), new Uint8Array(300))))
}
if (moment === 'inside') {
  // One group of batches that keeps the thread busy for a while.
  for (let n = 0; n < 20_000; n++) write(n)
  await new Promise(resolve => setImmediate(resolve))
  while (Atomics.load(state, IS_AT_WORK) === 0);
  void thread!.terminate()
} else {
  await thread!.terminate()
  write(0)
}
const underWay = [...new Set(await Promise.all(commits))]
const later = await codeOf(store.set(bytes('later'), bytes('1')))
const probed = await codeOf(store.probe())
const read = Buffer.from((await store.get(bytes('first')))!).toString()
const closed = await codeOf(store.close())
const reopened = await codeOf(
  openStore(url).then(async again => {
    await again.set(bytes('again'), bytes('1'))
    await again.close()
  })
)
process.stdout.write(`${JSON.stringify({ underWay, later, probed, read, closed, reopened })}\n`, () =>
  process.exit(0)
)
