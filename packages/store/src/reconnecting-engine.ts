/**
 * An engine that waits for its server: a call that loses the connection is made again until there is one. Of a commit it
 * is not known then whether it was written, so this is for batches with conditions, or that say the same twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff, hasCode, type QuoinError } from '@quoin/primitives'
import type { Engine } from './engine.ts'

export interface ReconnectOptions {
  /** Called when a connection is lost, once for each loss. */
  readonly onLost: (error: QuoinError) => void
  /** Milliseconds after which it is given up; ten minutes unless given. */
  readonly limit?: number
}

/** Milliseconds between calls. */
const RETRY = { first: 50, limit: 2000, jitter: 0 }
const LIMIT_MS = 600_000
const ONCE: ReadonlySet<PropertyKey> = new Set(['close', 'snapshot', 'backup'])

export const reconnecting = (engine: Engine, { onLost, limit = LIMIT_MS }: ReconnectOptions): Engine => {
  /** Calls at once lose the same connection: it is said once. */
  let isLost = false
  const again = async (call: () => unknown): Promise<unknown> => {
    const since = performance.now()
    const backoff = new Backoff(RETRY)
    for (;;) {
      try {
        const answer = await call()
        isLost = false
        return answer
      } catch (error) {
        if (!hasCode(error, 'ERR_STORE_CONNECTION')) throw error
        if (performance.now() - since > limit) throw error
        if (!isLost) onLost(error)
        isLost = true
        await sleep(backoff.next())
      }
    }
  }
  const retried = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        const call = (...args: unknown[]) => Reflect.apply(member, target, args)
        return ONCE.has(name) ? call : (...args: unknown[]) => again(() => call(...args))
      }
    })
  const reads = retried(engine.reads)
  return new Proxy(retried(engine), {
    get: (target, name) => (name === 'reads' ? reads : Reflect.get(target, name))
  })
}
