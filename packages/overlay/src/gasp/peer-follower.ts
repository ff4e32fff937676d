/** Follows the changes of topics at one peer, so that they are synced when the peer commits them, and not at the interval. */
import { type Health, hasCode, QuoinError, sleep, Task, type TaskGate, unref } from '@quoin/primitives'
import type { Peer } from './peer.ts'

export interface PeerFollowerOptions {
  readonly peer: Peer
  readonly topics: readonly string[]
  /** Called for topics that may have changes. */
  readonly onChange: (topics: readonly string[]) => void
  readonly gate?: TaskGate | undefined
  readonly onHealthChange?: (health: Health) => void
  /** Milliseconds between two calls of `onChange` at least, 100 unless given. */
  readonly pause?: number | undefined
}

const PAUSE_MS = 100
const BACKOFF = { first: 500, limit: 30_000 }
/** Milliseconds between questions to a peer without streams. */
const UNSERVED_MS = 600_000
const UNSERVED = [404, 405, 501]

export class PeerFollower {
  readonly task: Task
  readonly #options: PeerFollowerOptions
  /** Topics with changes since the last call of `onChange`. */
  readonly #changed = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOpen = false

  constructor(options: PeerFollowerOptions) {
    this.#options = options
    this.task = new Task({
      name: `changes of ${options.peer.name}`,
      backoff: BACKOFF,
      gate: options.gate,
      work: signal => this.#follow(signal),
      ...(options.onHealthChange && { onHealthChange: options.onHealthChange })
    })
  }

  /** Whether the stream is open. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { peer, topics } = this.#options
    while (!signal.aborted) {
      try {
        for await (const changed of peer.changes!(topics, signal)) {
          this.#isOpen = true
          this.task.stepSucceeded()
          for (const topic of changed) this.#changed.add(topic)
          this.#tell()
        }
        throw new QuoinError('ERR_SYNC_UNAVAILABLE', `${peer.name} ended the stream of its changes`)
      } catch (error) {
        signal.throwIfAborted()
        if (!isUnserved(error)) throw error
        await sleep(UNSERVED_MS, { signal, ref: false })
      } finally {
        this.#isOpen = false
      }
    }
  }

  /** A peer that sends changes without end causes a sync at each pause, and no more memory. */
  #tell(): void {
    if (this.#timer || this.#changed.size === 0) return
    const { onChange, pause = PAUSE_MS } = this.#options
    const changed = [...this.#changed]
    this.#changed.clear()
    onChange(changed)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tell()
    }, pause)
    unref(this.#timer)
  }
}

const isUnserved = (error: unknown): boolean =>
  hasCode(error, 'ERR_SOURCE_REFUSED') && UNSERVED.includes(Number(error.details['code']))
