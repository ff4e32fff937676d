/** Where the index under test lives, and how it runs several things at once: in this process, on any engine. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, Store } from '@quoin/store'
import { openEngine } from '../../../store/src/open.ts'
import { startRedis } from '../../../store/src/redis/server.testing.ts'
import type { OutputStore } from '../output-store.ts'
import type { Happened } from './explain.testing.ts'
import { jittery } from './jitter.testing.ts'
import { IndexNode } from './node.testing.ts'
import type { Operation } from './operation.testing.ts'
import type { Random } from './random.testing.ts'

export interface Target {
  /** To read from, and to follow. */
  readonly outputs: OutputStore
  /** Runs the lanes at once, and each from its beginning to its end. */
  perform(lanes: readonly (readonly Operation[])[]): Promise<Performed>
  /** Ends what there is above the store, and the store where that is possible, and begins again. */
  restart(): Promise<void>
  close(): Promise<void>
}

export interface Performed {
  readonly lanes: readonly (readonly Happened[])[]
  /** What was done again after a crash, one after the other. */
  readonly after: readonly Happened[]
  readonly isCrash: boolean
}

/** An engine in this process. */
export interface Home {
  open(): Promise<Engine>
  /** The engine of the same data; the one before is closed. */
  reopen(engine: Engine): Promise<Engine>
  end(): Promise<void>
}

export const inMemory = (): Home => ({
  open: () => openEngine('memory:'),
  reopen: async engine => engine,
  end: async () => {}
})

export const inFolder = async (scheme: 'lmdb' | 'level'): Promise<Home> => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-simulation-'))
  const open = (): Promise<Engine> => openEngine(`${scheme}:${folder}`)
  return {
    open,
    reopen: async engine => {
      await engine.close()
      return open()
    },
    end: async () => rmSync(folder, { recursive: true, force: true })
  }
}

export const onRedis = async (): Promise<Home> => {
  const server = await startRedis()
  const open = (): Promise<Engine> => openEngine(server.url)
  return {
    open,
    reopen: async engine => {
      await engine.close()
      return open()
    },
    end: () => server.stop()
  }
}

export class LocalTarget implements Target {
  readonly #home: Home
  readonly #random: Random
  readonly #now: () => number
  #engine: Engine
  #node: IndexNode
  #isJittery = false

  private constructor(home: Home, random: Random, now: () => number, engine: Engine) {
    this.#home = home
    this.#random = random
    this.#now = now
    this.#engine = engine
    this.#node = undefined as unknown as IndexNode
  }

  static async open(home: Home, random: Random, now: () => number): Promise<LocalTarget> {
    const target = new LocalTarget(home, random, now, await home.open())
    await target.#begin()
    return target
  }

  async #begin(): Promise<void> {
    const store = new Store(jittery(this.#engine, this.#random, () => this.#isJittery))
    this.#node = await IndexNode.open(store, this.#now)
  }

  get outputs(): OutputStore {
    return this.#node.outputs
  }

  async perform(lanes: readonly (readonly Operation[])[]): Promise<Performed> {
    this.#isJittery = lanes.length > 1
    const happened = await Promise.all(
      lanes.map(async lane => {
        const row: Happened[] = []
        for (const operation of lane) row.push({ operation, outcome: await this.#node.perform(operation) })
        return row
      })
    )
    this.#isJittery = false
    return { lanes: happened, after: [], isCrash: false }
  }

  async restart(): Promise<void> {
    this.#engine = await this.#home.reopen(this.#engine)
    await this.#begin()
  }

  async close(): Promise<void> {
    await this.#engine.close()
    await this.#home.end()
  }
}
