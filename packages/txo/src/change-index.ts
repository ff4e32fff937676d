/**
 * Followers of changes by the events and topics of their filters, so that the cost of a change depends on the followers that
 * it touches and not on all.
 */
import type { LiveChange } from './journal-changes.ts'

/** Changes that touch one of the events or one of the topics. */
export interface ChangeFilter {
  readonly events: ReadonlySet<string>
  readonly topics: ReadonlySet<string>
}

/** Undefined for a filter that every change passes. */
export const filterOf = (
  events: Iterable<string> | undefined,
  topics: Iterable<string> | undefined
): ChangeFilter | undefined =>
  events || topics ? { events: new Set(events), topics: new Set(topics) } : undefined

export const passes = ({ outputs, spends }: LiveChange, filter: ChangeFilter | undefined): boolean => {
  if (!filter) return true
  const isEvent = (text: string): boolean => filter.events.has(text)
  const isTopic = (text: string): boolean => filter.topics.has(text)
  return (
    outputs.some(
      ({ events, topics, left }) => events.some(isEvent) || topics.some(isTopic) || left?.some(isTopic)
    ) || spends.some(({ events, topics }) => events.some(isEvent) || topics.some(isTopic))
  )
}

type Followers<T> = Map<string, Set<T>>

export class ChangeIndex<T> {
  readonly #all = new Set<T>()
  readonly #unfiltered = new Set<T>()
  readonly #byEvent: Followers<T> = new Map()
  readonly #byTopic: Followers<T> = new Map()

  get size(): number {
    return this.#all.size
  }

  all(): T[] {
    return [...this.#all]
  }

  add(follower: T, filter: ChangeFilter | undefined): void {
    this.#all.add(follower)
    if (!filter) {
      this.#unfiltered.add(follower)
      return
    }
    for (const event of filter.events) insert(this.#byEvent, event, follower)
    for (const topic of filter.topics) insert(this.#byTopic, topic, follower)
  }

  /** Returns whether it was there. */
  delete(follower: T, filter: ChangeFilter | undefined): boolean {
    this.#unfiltered.delete(follower)
    for (const event of filter?.events ?? []) remove(this.#byEvent, event, follower)
    for (const topic of filter?.topics ?? []) remove(this.#byTopic, topic, follower)
    return this.#all.delete(follower)
  }

  /** Followers whose filters a change passes, each once; a copy, since they leave while it is read. */
  touchedBy({ outputs, spends }: LiveChange): Iterable<T> {
    const touched = new Set(this.#unfiltered)
    if (touched.size === this.#all.size) return touched
    const addAll = (followers: Followers<T>, names: readonly string[]): void => {
      if (followers.size === 0) return
      for (const name of names) for (const each of followers.get(name) ?? []) touched.add(each)
    }
    for (const { events, topics, left = [] } of outputs) {
      addAll(this.#byEvent, events)
      addAll(this.#byTopic, topics)
      addAll(this.#byTopic, left)
    }
    for (const { events, topics } of spends) {
      addAll(this.#byEvent, events)
      addAll(this.#byTopic, topics)
    }
    return touched
  }
}

const insert = <T>(followers: Followers<T>, name: string, follower: T): void => {
  const known = followers.get(name)
  if (known) known.add(follower)
  else followers.set(name, new Set([follower]))
}

const remove = <T>(followers: Followers<T>, name: string, follower: T): void => {
  const known = followers.get(name)
  if (known?.delete(follower) && known.size === 0) followers.delete(name)
}
