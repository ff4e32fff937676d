/** Reads per second of several processes on an LMDB store that another one writes. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Store } from '@quoin/store'
import type { Sheet } from '../case.ts'
import { embedded, fill, IN_FLIGHT, takeInBulk } from './contestant.ts'
import type { Resources } from './files.ts'

const READER = fileURLToPath(new URL('./reader.ts', import.meta.url))
/** Leaves most of a core to the readers. */
const PACE = 1000

export interface ReaderSizes {
  readonly transactions: number
  readonly milliseconds: number
  readonly readers: readonly number[]
  readonly writing: readonly WriteLoad[]
}

/** The load of the process that writes. */
export type WriteLoad = 'nothing' | 'paced' | 'all it can'

export const readersSheet = async (
  { transactions, milliseconds, readers, writing: kinds }: ReaderSizes,
  resources: Resources,
  progress: (text: string) => void
): Promise<Sheet> => {
  progress(`loading ${transactions.toLocaleString('en-US')} transactions`)
  const { store, path } = await embedded('lmdb', 'bulk', resources)
  await takeInBulk(store, 0, transactions)
  let next = transactions
  const rows: (string | number)[][] = []
  for (const writing of kinds) {
    let single = 0
    for (const count of readers) {
      progress(`readers: ${count}, writer: ${writing}`)
      const processes = await Promise.all(
        Array.from({ length: count }, () => startReader(path, transactions, resources))
      )
      const writer = new Writer(store, next, writing)
      await sleep(writing === 'nothing' ? 0 : 100)
      const written = writer.written
      const begin = performance.now()
      const gets = await Promise.all(processes.map(each => readFor(each, milliseconds)))
      const rate = (writer.written - written) / ((performance.now() - begin) / 1000)
      next = await writer.stop()
      const total = gets.reduce((sum, each) => sum + each, 0)
      single ||= total / count
      rows.push([
        writing === 'paced' ? `${PACE} tx/s` : writing,
        count,
        Math.round(total),
        Math.round(total / count),
        Number((total / single).toFixed(2)),
        Math.round(rate)
      ])
    }
  }
  return {
    columns: ['writer does', 'readers', 'gets/s', 'gets/s each', 'times one reader', 'tx/s written'],
    rows
  }
}

const startReader = async (
  path: string,
  transactions: number,
  resources: Resources
): Promise<ChildProcess> => {
  const child = fork(READER, [path, String(transactions)], { execArgv: process.execArgv })
  resources.add(() => child.kill())
  await message(child)
  return child
}

/** Gets a second. */
const readFor = async (child: ChildProcess, milliseconds: number): Promise<number> => {
  const answer = message(child)
  child.send(milliseconds)
  const rate = (await answer) as number
  child.disconnect()
  return rate
}

const message = async (child: ChildProcess): Promise<unknown> => {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a reader ended with ${code}`)
  })
  const [answer] = await Promise.race([once(child, 'message'), ended])
  // It may end at any time from here.
  ended.catch(() => {})
  return answer
}

/** Commits transactions until it is stopped. */
class Writer {
  readonly #store: Store
  readonly #running: Promise<unknown>
  #next: number
  #stopped = false
  written = 0

  constructor(store: Store, first: number, writing: WriteLoad) {
    this.#store = store
    this.#next = first
    if (writing === 'all it can') {
      this.#running = Promise.all(Array.from({ length: IN_FLIGHT }, () => this.#commitOn()))
    } else this.#running = writing === 'paced' ? this.#commitPaced() : Promise.resolve()
  }

  /** The number of the next transaction. */
  async stop(): Promise<number> {
    this.#stopped = true
    await this.#running
    return this.#next
  }

  async #commit(): Promise<void> {
    await fill(this.#store.batch(), this.#next++).commit()
    this.written++
  }

  async #commitOn(): Promise<void> {
    while (!this.#stopped) await this.#commit()
  }

  async #commitPaced(): Promise<void> {
    const begin = performance.now()
    while (!this.#stopped) {
      const due = Math.floor(((performance.now() - begin) / 1000) * PACE) - this.written
      await Promise.all(Array.from({ length: due }, () => this.#commit()))
      await sleep(50)
    }
  }
}
