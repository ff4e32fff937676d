/** One queue, several processes, one of them killed: each item is done exactly once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import { startPostgres } from './postgres/server.testing.ts'
import { startRedis } from './redis/server.testing.ts'
import { openStore } from './store.ts'

const ITEMS = 2000
const LEASE_SECONDS = '0.4'
const [QUEUE, COUNTERS] = ['queue', 'counters']
const WORKER = fileURLToPath(new URL('./queue.worker.testing.ts', import.meta.url))

/** A process, and how often it said what. */
interface Worker {
  readonly process: ChildProcess
  readonly exit: Promise<unknown[]>
  readonly said: Record<string, number>
  /** Resolves when it has said something so often. Fails if it ends before. */
  says(what: string, count: number): Promise<void>
}

const SERVERS = { redis: startRedis, postgres: startPostgres }

const startWorker = (url: string, late: 'late' | 'in time'): Worker => {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), WORKER, url, QUEUE, COUNTERS, LEASE_SECONDS, late],
    { stdio: ['pipe', 'pipe', 'inherit'] }
  )
  const exit = once(child, 'exit')
  const said: Record<string, number> = { done: 0, lost: 0 }
  const lines = createInterface(child.stdout)
  lines.on('line', line => {
    said[line] = (said[line] ?? 0) + 1
  })
  const says = async (what: string, count: number): Promise<void> => {
    const ended = exit.then(() => 'ended')
    while ((said[what] ?? 0) < count) {
      if ((await Promise.race([once(lines, 'line'), ended])) === 'ended')
        throw new Error(`it ended: ${JSON.stringify(said)}`)
    }
  }
  return { process: child, exit, said, says }
}

it.each(Object.entries(SERVERS))(
  '%s: several processes, one killed and one often late, drain a queue, each item once',
  async (_, start) => {
    const server = await start()
    const store = await openStore(server.url)
    const workers: Worker[] = []
    try {
      const queue = store.queue(bytes(QUEUE))
      const items = Array.from({ length: ITEMS }, (_, i) => `item ${String(i).padStart(4, '0')}`)
      const batch = store.batch()
      for (const item of items) queue.enqueueIn(batch, bytes(item), 0)
      await batch.commit()

      for (const late of ['in time', 'late', 'in time', 'in time'] as const)
        workers.push(startWorker(server.url, late))
      await Promise.all(workers.map(worker => worker.says('ready', 1)))
      for (const worker of workers) worker.process.stdin!.end('go')

      const [doomed, late] = workers as [Worker, Worker]
      await doomed.says('done', 20)
      doomed.process.kill('SIGKILL')
      expect(await doomed.exit).toStrictEqual([null, 'SIGKILL'])
      expect((await queue.stats()).due).toBeGreaterThan(0)

      for (const worker of workers.slice(1)) expect(await worker.exit).toStrictEqual([0, null])
      expect(await queue.stats()).toStrictEqual({ due: 0, leased: 0, waiting: 0, dead: 0, age: undefined })
      const counted = await store.zrange(bytes(COUNTERS))
      expect(counted.map(({ member }) => Buffer.from(member).toString())).toStrictEqual(items)
      expect(counted.filter(({ score }) => score !== 1)).toStrictEqual([])
      expect(late.said['lost']).toBeGreaterThan(0)
      for (const { said } of workers) expect(said['done']).toBeGreaterThan(0)
    } finally {
      for (const { process } of workers) process.kill('SIGKILL')
      await store.close()
      await server.stop()
    }
  }
)
