/**
 * The index in a process of its own, which is killed in the middle of what it does (SIGKILL). What was not acknowledged
 * is done again once it is back. This process reads beside it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore, type Store } from '@quoin/store'
import { OutputStore } from '../output-store.ts'
import type { Happened } from './explain.testing.ts'
import { EVENTS } from './marks.testing.ts'
import type { Reply, Request } from './node.process.testing.ts'
import type { Operation } from './operation.testing.ts'
import type { Random } from './random.testing.ts'
import type { Performed, Target } from './target.testing.ts'

const PROGRAM = fileURLToPath(new URL('./node.process.testing.ts', import.meta.url))
const CRASHES = 0.06
/** It takes a second to come back. */
const MOST_CRASHES = 5
/** The longest that it lives on once it is asked something; most is done after a few. */
const MOST_MS = 12

export class CrashTarget implements Target {
  readonly #folder: string
  readonly #random: Random
  readonly #now: () => number
  /** To read beside the process, also when it is down. */
  readonly outputs: OutputStore
  #process: IndexProcess
  #crashes = 0

  private constructor(
    folder: string,
    random: Random,
    now: () => number,
    process: IndexProcess,
    store: Store
  ) {
    this.#folder = folder
    this.#random = random
    this.#now = now
    this.#process = process
    this.outputs = new OutputStore(store, { events: EVENTS })
  }

  static async open(random: Random, now: () => number): Promise<CrashTarget> {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-simulation-'))
    const process = await IndexProcess.start(folder)
    return new CrashTarget(folder, random, now, process, await openStore(`lmdb:${folder}?read-only`))
  }

  async perform(lanes: readonly (readonly Operation[])[]): Promise<Performed> {
    const isDoomed = this.#crashes < MOST_CRASHES && this.#random.chance(CRASHES)
    if (isDoomed) this.#crashes++
    const [delay, asked] = [this.#random.between(0, MOST_MS), this.#process]
    const running = Promise.all(lanes.map(lane => this.#run(asked, lane)))
    if (isDoomed) {
      await Promise.race([sleep(delay), running])
      await asked.kill()
    }
    const happened = await running
    if (!isDoomed) return { lanes: happened, after: [], isCrash: false }
    this.#process = await IndexProcess.start(this.#folder)
    const after: Happened[] = []
    for (const [i, lane] of lanes.entries()) {
      const done = happened[i]!.filter(({ outcome }) => outcome !== undefined).length
      after.push(...(await this.#run(this.#process, lane.slice(done))))
    }
    return { lanes: happened, after, isCrash: true }
  }

  /** One after the other, until one is not answered. */
  async #run(process: IndexProcess, lane: readonly Operation[]): Promise<Happened[]> {
    const row: Happened[] = []
    for (const operation of lane) {
      const outcome = await process.ask(operation, this.#now())
      row.push({ operation, outcome })
      if (outcome === undefined) break
    }
    return row
  }

  async restart(): Promise<void> {
    await this.#process.close()
    this.#process = await IndexProcess.start(this.#folder)
  }

  async close(): Promise<void> {
    await this.#process.close()
    await this.outputs.store.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

class IndexProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #waiting = new Map<number, (outcome: string | undefined) => void>()
  #last = 0

  private constructor(folder: string) {
    this.#child = spawn(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), PROGRAM, `lmdb:${folder}`],
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' }
    )
    this.#ended = once(this.#child, 'exit').then(() => {
      for (const answer of this.#waiting.values()) answer(undefined)
    })
    this.#child.on('message', ({ id, outcome }: Reply) => {
      this.#waiting.get(id)?.(outcome)
      this.#waiting.delete(id)
    })
  }

  static async start(folder: string): Promise<IndexProcess> {
    const started = new IndexProcess(folder)
    const ready = await new Promise<string | undefined>(resolve => started.#waiting.set(0, resolve))
    if (ready === undefined) throw new Error('the process of the index ended before it began')
    return started
  }

  /** What came of it; undefined when it ended before it answered. */
  ask(operation: Operation | 'close', now: number): Promise<string | undefined> {
    const id = ++this.#last
    return new Promise(resolve => {
      if (!this.#child.connected) return resolve(undefined)
      this.#waiting.set(id, resolve)
      this.#child.send({ id, now, operation } satisfies Request, error => {
        if (error) resolve(undefined)
      })
    })
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  async close(): Promise<void> {
    void this.ask('close', 0)
    await this.#ended
  }
}
