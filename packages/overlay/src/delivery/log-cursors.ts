/**
 * The cursors of a lookup service: for each topic, the position in its membership log up to which no entry needs
 * delivery. A replay sets them back and counts itself, so that a delivery under way does not move them on.
 */
import type { Topic } from '@quoin/primitives'
import type { Batch } from '@quoin/store'
import type { OutputStore } from '@quoin/txo'
import { cursorFields, overlay } from '../keys.ts'

const { cursors, initialCursors, replays } = overlay.collections
const { cursor } = cursorFields.collections

export class LogCursors {
  readonly #store: OutputStore['store']
  readonly #service: string
  #positions: Map<Topic, number> | undefined
  #replays: number | undefined
  #epoch = 0

  constructor({ store }: OutputStore, service: string) {
    this.#store = store
    this.#service = service
  }

  /** Whether the cursors are in memory. */
  get areKnown(): boolean {
    return this.#positions !== undefined
  }

  /** Counts the calls of `forget`: state that was read before one is stale. */
  get epoch(): number {
    return this.#epoch
  }

  /** The position of a topic; 0 until the cursors are read. */
  of(topic: Topic): number {
    return this.#positions?.get(topic) ?? 0
  }

  /** Reads them into memory. The replays are read first: a replay between the two reads fails the next commit. */
  async read(): Promise<ReadonlyMap<Topic, number>> {
    for (;;) {
      const epoch = this.#epoch
      const count = await this.#storedReplays()
      const stored = await this.stored()
      if (epoch !== this.#epoch) continue
      this.#replays = count
      this.#positions = stored
      return stored
    }
  }

  /** The cursors of the store. */
  async stored(): Promise<Map<Topic, number>> {
    const positionsOf = (fields: {
      entries(of: typeof cursor): { key: readonly [Topic]; value: number }[]
    }) => fields.entries(cursor).map(({ key: [topic], value }) => [topic, value] as const)
    const initial = await this.#store.use(initialCursors).at().all()
    const own = await this.#store.use(cursors).at(this.#service).all()
    return new Map([...positionsOf(initial), ...positionsOf(own)])
  }

  /** The cursors in memory are read again before they are used. */
  forget(): void {
    this.#epoch++
    this.#positions = undefined
    this.#replays = undefined
  }

  /** Part of a commit that fails when a replay set the cursors back since they were read. */
  moveIn(batch: Batch, reached: ReadonlyMap<Topic, number>): void {
    const fields = batch.use(cursors).at(this.#service)
    for (const [topic, position] of reached) fields.set(cursor, [topic], position)
    const count = this.#replays === 0 ? undefined : this.#replays
    batch.use(replays).at(this.#service).expect(count)
  }

  moved(reached: ReadonlyMap<Topic, number>): void {
    for (const [topic, position] of reached) this.#positions?.set(topic, position)
  }

  /** Begins a replay after a position of each of the topics. */
  async setBack(topics: readonly Topic[], after: number): Promise<void> {
    const count = await this.#storedReplays()
    const batch = this.#store.batch()
    const fields = batch.use(cursors).at(this.#service)
    for (const topic of topics) fields.set(cursor, [topic], after)
    batch
      .use(replays)
      .at(this.#service)
      .set(count + 1)
    await batch.commit()
    this.forget()
  }

  /** Whether another process began a replay since the cursors were read. */
  async areStale(): Promise<boolean> {
    const [known, count] = [this.#replays, await this.#storedReplays()]
    return known !== undefined && known === this.#replays && count !== known
  }

  async #storedReplays(): Promise<number> {
    return (await this.#store.use(replays).get(this.#service)) ?? 0
  }
}
