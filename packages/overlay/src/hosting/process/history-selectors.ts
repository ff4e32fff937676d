/**
 * History selectors of lookup answers: functions that the node calls while it assembles an answer. The node gets the
 * number of a function. A function is kept for a minute after the last answer with it, and a bounded number of them.
 */
import { toNumbers } from './numbers.ts'

const KEPT_MS = 60_000
const MOST = 10_000

export type Selector = (beef: number[], outputIndex: number, currentDepth: number) => Promise<boolean>

export class HistorySelectors {
  readonly #ids = new Map<Selector, string>()
  readonly #byId = new Map<string, { readonly selector: Selector; usedAt: number }>()
  #last = 0

  add(selector: Selector): string {
    const now = performance.now()
    let id = this.#ids.get(selector)
    if (id === undefined) {
      // The number of the process keeps selectors of an ended process apart.
      id = `${process.pid}.${++this.#last}`
      this.#ids.set(selector, id)
    }
    // The longest unused selectors come first.
    this.#byId.delete(id)
    this.#byId.set(id, { selector, usedAt: now })
    for (const [old, { selector: unused, usedAt }] of this.#byId) {
      if (this.#byId.size <= MOST && now - usedAt < KEPT_MS) break
      this.#byId.delete(old)
      this.#ids.delete(unused)
    }
    return id
  }

  async call(id: string, [beef, outputIndex, depth]: readonly unknown[]): Promise<unknown> {
    const found = this.#byId.get(id)
    if (!found) throw new Error('unknown history selector: the process restarted; repeat the lookup')
    found.usedAt = performance.now()
    return Boolean(
      await found.selector(toNumbers(beef as Uint8Array), outputIndex as number, depth as number)
    )
  }
}
