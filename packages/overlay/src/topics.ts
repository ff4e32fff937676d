/**
 * The topics of an engine by their names: those that it was given, and families of topics (one for each token, say), of
 * which each is made when somebody asks for it.
 */
import { QuoinError } from '@quoin/primitives'
import type { AnyTopic } from './types.ts'

export interface TopicFamily {
  /** The topic of this name, if it is one of the family. */
  find(name: string): AnyTopic | undefined
  /** Throws when a topic of the family takes no transactions. What it has judged before, it judges again all the same. */
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

  /** Throws unless there is a topic of this name that takes transactions. */
  open(name: string): Promise<void> | undefined {
    if (this.#named.has(name)) return undefined
    const family = this.#families.find(each => each.find(name))
    if (!family) throw new QuoinError('ERR_TOPIC_UNKNOWN', `no topic is called ${name}`, { topic: name })
    return family.open?.(name)
  }

  /** Of those that have names of their own; of a family there are too many. */
  keys(): Iterable<string> & Iterator<string> {
    return this.#named.keys()
  }

  [Symbol.iterator](): Iterator<[string, AnyTopic]> {
    return this.#named[Symbol.iterator]()
  }
}
