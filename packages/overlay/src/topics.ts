/** The topics of an engine by name: single ones, and families, such as one topic per token, made at the first request. */
import { QuoinError } from '@quoin/primitives'
import { type AnyTopic, isQuoinTopic } from './types.ts'

export interface TopicFamily {
  /** The topic of this name; undefined if it is not of the family. */
  find(name: string): AnyTopic | undefined
  /** Throws when a topic of the family accepts no submissions. Re-evaluations do not ask. */
  open?(name: string): Promise<void> | undefined
}

export class Topics {
  readonly #named: ReadonlyMap<string, AnyTopic>
  readonly #families: readonly TopicFamily[]

  constructor(named: Readonly<Record<string, AnyTopic>>, families: readonly TopicFamily[]) {
    this.#named = new Map(Object.entries(named))
    this.#families = families
  }

  get(name: string): AnyTopic | undefined {
    const named = this.#named.get(name)
    if (named) return named
    for (const family of this.#families) {
      const found = family.find(name)
      if (found) return found
    }
    return undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  /** The height from which on a topic declares to be anchored. */
  startOf(name: string): number | undefined {
    const topic = this.get(name)
    return topic && isQuoinTopic(topic) ? topic.anchoredFrom : undefined
  }

  /** Throws unless there is a topic of this name that accepts submissions. */
  open(name: string): Promise<void> | undefined {
    if (this.#named.has(name)) return undefined
    const family = this.#families.find(each => each.find(name))
    if (!family) throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
    return family.open?.(name)
  }

  /** The names of single topics; the topics of a family are not listed. */
  keys(): Iterable<string> & Iterator<string> {
    return this.#named.keys()
  }

  [Symbol.iterator](): Iterator<[string, AnyTopic]> {
    return this.#named[Symbol.iterator]()
  }
}
