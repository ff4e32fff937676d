/**
 * Somebody who follows the journal, and now and then loses the connection. All that they know of the index is what they
 * were told; in the end that has to be what there is.
 */
import { formatOutpoint, formatTxid, makeOutpoint } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import type { LiveChange } from '../journal-changes.ts'
import { outputs, spendFields } from '../keys.ts'
import { outputState } from '../output-state.ts'
import type { OutputStore } from '../output-store.ts'
import { scoreOf } from '../position.ts'

interface View {
  score: number
  readonly outputs: Map<number, string>
  readonly spends: Set<string>
}

export class Follower {
  readonly events: readonly string[] | undefined
  readonly changes: LiveChange[] = []
  #connection: { readonly controller: AbortController; readonly done: Promise<void> } | undefined

  /** @param events To hear only of changes that touch one of these. */
  constructor(events?: readonly string[]) {
    this.events = events
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  get position(): number {
    return this.changes.at(-1)?.position ?? 0
  }

  connect(index: OutputStore): void {
    const controller = new AbortController()
    const done = this.#listen(index, controller.signal)
    // Whoever disconnects is told.
    done.catch(() => {})
    this.#connection = { controller, done }
  }

  async #listen(index: OutputStore, signal: AbortSignal): Promise<void> {
    for await (const change of index.follow({ after: this.position, events: this.events, signal })) {
      this.changes.push(change)
    }
  }

  async disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    connection?.controller.abort()
    await connection?.done
  }

  /** Waits for all that there is, up to a position of which they have to hear. */
  async catchUp(index: OutputStore, last: number): Promise<void> {
    await this.disconnect()
    if (this.position >= last) return
    for await (const change of index.follow({ after: this.position, events: this.events })) {
      this.changes.push(change)
      if (change.position >= last) return
    }
  }

  /**
   * The changes that another follower has to hear of: the last change of each transaction whose outputs touch its events.
   * Events are those of the time of reading, so followers may differ on earlier changes, and on events of spent outputs.
   */
  touching({ events = [] }: Follower): LiveChange[] {
    const wanted = new Set(events)
    const last = new Map<string, LiveChange>()
    for (const change of this.changes) {
      const isTouched = change.outputs.some(each => each.events.some(event => wanted.has(event)))
      if (isTouched) last.set(change.txid, change)
    }
    return [...last.values()].sort((a, b) => a.position - b.position)
  }

  /** What they know by now, as lines of text. */
  view(): Map<string, string> {
    const views = new Map<string, View>()
    for (const { kind, txid, score, outputs: changed, spends } of this.changes) {
      if (kind === 'removed') {
        views.delete(txid)
        continue
      }
      const view = views.get(txid) ?? { score, outputs: new Map(), spends: new Set() }
      view.score = score
      for (const { vout, events, topics } of changed) {
        view.outputs.set(vout, outputLine(txid, events, topics))
      }
      for (const { outpoint } of spends) view.spends.add(outpoint)
      views.set(txid, view)
    }
    const lines = new Map<string, string>()
    for (const [txid, view] of views) {
      lines.set(`transaction ${txid}`, transactionLine(view.score, view.spends))
      for (const [vout, text] of view.outputs) if (text) lines.set(`output ${txid}.${vout}`, text)
    }
    return lines
  }
}

const { output: outputHashes, spends: spendHash } = outputs.collections

/** The same as a store has it. */
export const viewOf = async (store: StoreReads): Promise<Map<string, string>> => {
  const lines = new Map<string, string>()
  const records = (await store.use(spendHash).at().all()).entries(spendFields.collections.transaction)
  for (const {
    key: [txid],
    value
  } of records) {
    const spent = value.spends.map(({ outpoint }) => formatOutpoint(outpoint))
    lines.set(`transaction ${formatTxid(txid)}`, transactionLine(scoreOf(value), spent))
    for (const { key, fields } of await store.hrange(outputHashes.scan(txid))) {
      const state = outputState(fields)
      const text = outputLine(formatTxid(txid), state.events, state.topics)
      if (text) lines.set(`output ${formatOutpoint(makeOutpoint(...outputHashes.decode(key)))}`, text)
    }
  }
  return lines
}

const transactionLine = (score: number, spends: Iterable<string>): string =>
  `${score} spends [${[...spends].sort()}]`
/** Nothing for one that only plug-ins know: once they let go of it, the last that is published is what it was. */
const outputLine = (txid: string, events: readonly string[], topics: readonly string[]): string =>
  events.includes(`txid:${txid}`) ? `[${events}] in [${[...topics].sort()}]` : ''
