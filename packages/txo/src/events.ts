/**
 * Events: the names under which outputs are found, such as `own:{address}` and `sym:{symbol}`. Each type of event is
 * declared, with components whose layout is proved, and stands for two sorted sets: the outputs with the event,
 * `z:{event}`, and the spent outputs among them, `z:{event}:spnd`.
 */
import { parseAddress } from '@quoin/chain'
import { address, outpoint, txidHex } from '@quoin/chain/components'
import {
  type AnyKeyspace,
  type Collection,
  type Component,
  collection,
  type KeyOf,
  type KeyspaceGroup,
  type KeyspaceOptions,
  keyspace,
  type Members,
  sortedSetOf
} from '@quoin/keyspace'
import { memoize, type Outpoint, QuoinError } from '@quoin/primitives'
import { PROVED } from './proved.ts'

// biome-ignore lint/suspicious/noExplicitAny: components of any value types; each is inferred.
type Components = readonly Component<string, any>[]
type OutpointSet = Members<'sorted set', Outpoint>

export interface EventDeclaration<P extends Components = Components> {
  readonly prefix: string
  readonly components: P
  readonly about: string
  /** Whether the index keeps the balance of each event: one read instead of a sum. */
  readonly balance?: boolean
  /** Whether spent outputs leave their events, without rows in `z:{event}:spnd`. */
  readonly live?: boolean
}

/**
 * Declares a type of event: `event('p2pkh', 'Tokens by holder.', address('holder'), tokenId('token'))`.
 *
 * @example
 * import { escaped } from '@quoin/keyspace'
 * const { types } = events('app-events', { note: event('note', 'Notes by their text.', escaped('text')) })
 * types.note.text('a:b') // 'note:a;0b'
 */
export const event = <const P extends Components>(
  prefix: string,
  about: string,
  ...components: P
): EventDeclaration<P> => ({ prefix, components, about })

/** `event`, with the balance of each event kept. */
export const balanced = <const P extends Components>(declared: EventDeclaration<P>): EventDeclaration<P> => ({
  ...declared,
  balance: true
})

/** `event`, for searches of unspent outputs only: they do not pass over spent ones. */
export const unspent = <const P extends Components>(declared: EventDeclaration<P>): EventDeclaration<P> => ({
  ...declared,
  live: true
})

/** The codec of all address components. */
const ADDRESS = address('address').codec

export class EventType<P extends Components = Components> {
  readonly name: string
  /** The literal before the components: `own`. */
  readonly prefix: string
  readonly balance: boolean
  readonly live: boolean
  /** Outputs with the event. */
  readonly index: Collection<P, readonly [], OutpointSet>
  /** Outputs with the event that are spent. */
  readonly spent: Collection<P, readonly [], OutpointSet>
  /** The positions of address components. */
  readonly #addresses: readonly number[]

  /** @internal */
  constructor(
    name: string,
    { prefix, components, balance = false, live = false }: EventDeclaration,
    index: Collection<P, readonly [], OutpointSet>,
    spent: Collection<P, readonly [], OutpointSet>
  ) {
    this.name = name
    this.prefix = prefix
    this.balance = balance
    this.live = live
    this.index = index
    this.spent = spent
    this.#addresses = components.flatMap(({ codec }, i) => (codec === ADDRESS ? [i] : []))
  }

  /** Refuses an address with a wrong checksum: the proof of a layout does not cover checksums. */
  checkAddresses(key: Uint8Array): void {
    if (this.#addresses.length === 0) return
    const components: readonly unknown[] = this.index.decode(key)
    for (const i of this.#addresses) parseAddress(components[i] as string)
  }

  /** The event as text: `own:1A1zP1…`. */
  text(...components: KeyOf<P>): string {
    const bytes = this.index.encode(...components).subarray(KEY_PREFIX.length)
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw new QuoinError('ERR_KEY_VALUE', `event ${this.name} has components that are not text`, {
        event: this.name,
        cause
      })
    }
  }
}

type EventTypesOf<E extends Readonly<Record<string, EventDeclaration>>> = {
  readonly [Name in keyof E]: E[Name] extends EventDeclaration<infer P> ? EventType<P> : never
}

export interface Events<
  E extends Readonly<Record<string, EventDeclaration>> = Readonly<Record<string, EventDeclaration>>
> {
  readonly keyspace: AnyKeyspace
  readonly types: EventTypesOf<E>
}

const KEY_PREFIX = 'z:'
const SPENT = ':spnd'
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Defines and proves the event types of one owner. */
export const events = <const E extends Readonly<Record<string, EventDeclaration>>>(
  owner: string,
  declared: E,
  { proved = [] }: Pick<KeyspaceOptions, 'proved'> = {}
): Events<E> => {
  for (const name of Object.keys(declared)) {
    if (Object.hasOwn(declared, `${name}Spent`)) {
      throw new QuoinError(
        'ERR_KEYSPACE_DECLARATION',
        `invalid name of an event type: ${name}Spent is the spent twin of ${name}`,
        { name }
      )
    }
  }
  const separated = ({ prefix, components }: EventDeclaration): (string | Component)[] => [
    KEY_PREFIX,
    prefix,
    ...components.flatMap(each => [':', each])
  ]
  const space = keyspace(
    `${owner}-events`,
    Object.fromEntries(
      Object.entries(declared).flatMap(([name, each]) => [
        [
          name,
          collection({ key: separated(each), value: sortedSetOf(outpoint('outpoint')), about: each.about })
        ],
        [
          `${name}Spent`,
          collection({
            key: [...separated(each), SPENT],
            value: sortedSetOf(outpoint('outpoint')),
            about: `${each.about} Spent.`
          })
        ]
      ])
    ),
    { about: `Events of ${owner}.`, proved }
  )
  const types = Object.fromEntries(
    Object.entries(declared).map(([name, each]) => [
      name,
      new EventType(name, each, space.collections[name] as never, space.collections[`${name}Spent`] as never)
    ])
  )
  return { keyspace: space, types: types as EventTypesOf<E> }
}

/**
 * Defines the event types of a plug-in, under its name (`weather:city:{city}`), in a store's group of keyspaces;
 * refused with a witness when their keys collide with a registered layout.
 */
export const registerEvents = <const E extends Readonly<Record<string, EventDeclaration>>>(
  group: KeyspaceGroup,
  plugin: string,
  declared: E
): Events<E> => {
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(plugin)) {
    throw new QuoinError(
      'ERR_KEYSPACE_DECLARATION',
      `invalid name of a plug-in, expected lower-case letters, digits, _ and -: ${plugin}`
    )
  }
  const named = Object.fromEntries(
    Object.entries(declared).map(([name, each]) => [name, { ...each, prefix: `${plugin}:${each.prefix}` }])
  ) as unknown as E
  const defined = events(plugin, named)
  group.add(defined.keyspace)
  return defined
}

/** The text of an event, and the keys of its two sorted sets. */
export interface EventKeys {
  readonly text: string
  readonly index: Uint8Array
  readonly spent: Uint8Array
  readonly balance: boolean
  readonly live: boolean
}

/** Parses the texts of events. */
export interface EventTypes {
  /** The event of a text; refused for an undeclared type. */
  parse(text: string): EventKeys
  /** The event of a text; undefined for an undeclared type. */
  find(text: string): EventKeys | undefined
  /** The event of a query: as `parse`, and with checksums of addresses checked. */
  parseQuery(text: string): EventKeys
}

const REMEMBERED = 10_000

/** Declared types of events. */
export class EventRegistry implements EventTypes {
  /** Types by the first word of their prefix. */
  readonly #types = new Map<string, EventType[]>()
  /** Parsed events by their texts, memoized. */
  #found = this.#memoized()

  constructor(...declared: readonly Events[]) {
    for (const each of declared) this.add(each)
  }

  add({ types }: Events): void {
    for (const type of Object.values(types)) {
      const word = firstWord(type.prefix)
      this.#types.set(word, [...(this.#types.get(word) ?? []), type as EventType])
    }
    this.#found = this.#memoized()
  }

  #memoized(): (text: string) => EventKeys | undefined {
    return memoize(REMEMBERED, text => {
      const keys = keysOf(text)
      const type = this.#typeOf(keys)
      return type && { ...keys, balance: type.balance, live: type.live }
    })
  }

  parse(text: string): EventKeys {
    const found = this.find(text)
    if (!found) throw new QuoinError('ERR_TXO_EVENT', `undeclared type of event: ${text}`, { event: text })
    return found
  }

  find(text: string): EventKeys | undefined {
    return this.#found(text)
  }

  parseQuery(text: string): EventKeys {
    const found = this.parse(text)
    this.#typeOf(found)!.checkAddresses(found.index)
    return found
  }

  #typeOf({ text, index }: EventKeys): EventType | undefined {
    return this.#types.get(firstWord(text))?.find(type => type.index.owns(index))
  }
}

/** Accepts stored events of undeclared types too: the plug-in that declared them may not be loaded. */
export const withStored = (types: EventTypes): EventTypes => ({
  parse: text => types.find(text) ?? keysOf(text),
  find: text => types.find(text),
  parseQuery: text => (types.find(text) ? types.parseQuery(text) : keysOf(text))
})

const keysOf = (text: string): EventKeys => ({
  text,
  index: encoder.encode(KEY_PREFIX + text),
  spent: encoder.encode(`${KEY_PREFIX}${text}${SPENT}`),
  balance: false,
  live: false
})

const firstWord = (text: string): string => {
  const end = text.indexOf(':')
  return end === -1 ? text : text.slice(0, end)
}

/** The events of every output. */
export const outputEvents = events(
  'output',
  {
    own: balanced(event('own', 'Outputs by owner.', address('address'))),
    txid: event('txid', 'Outputs by transaction.', txidHex('txid'))
  },
  { proved: PROVED }
)
