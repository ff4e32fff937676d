/**
 * Events are what outputs are found by: `own:{address}`, `sym:{symbol}`. An event is not any text. Each type of
 * event is declared, with components whose bytes make the proof go through, and stands for two sorted sets: the
 * outputs that have it, `z:{event}`, and the spent ones among them, `z:{event}:spnd`.
 */
import {
  type AnyKeyspace,
  address,
  type Collection,
  type Component,
  collection,
  type KeyOf,
  type KeyspaceGroup,
  keyspace,
  type Members,
  type Outpoint,
  outpoint,
  QuoinError,
  sortedSetOf,
  txidHex
} from '../keyspace/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: components of any value types; each is inferred.
type Components = readonly Component<string, any>[]
type OutpointSet = Members<'sorted set', Outpoint>

export interface EventDeclaration<P extends Components = Components> {
  readonly prefix: string
  readonly components: P
  readonly about: string
}

/** Declares a type of event: `event('p2pkh', 'Tokens by holder.', address('holder'), tokenId('token'))`. */
export const event = <const P extends Components>(
  prefix: string,
  about: string,
  ...components: P
): EventDeclaration<P> => ({ prefix, components, about })

export class EventType<P extends Components = Components> {
  readonly name: string
  /** Outputs with the event. */
  readonly index: Collection<P, readonly [], OutpointSet>
  /** Outputs with the event that are spent. */
  readonly spent: Collection<P, readonly [], OutpointSet>

  /** @internal */
  constructor(
    name: string,
    index: Collection<P, readonly [], OutpointSet>,
    spent: Collection<P, readonly [], OutpointSet>
  ) {
    this.name = name
    this.index = index
    this.spent = spent
  }

  /** The event as text: `own:1A1zP1…`. */
  text(...components: KeyOf<P>): string {
    const bytes = this.index.encode(...components).subarray(KEY_PREFIX.length)
    try {
      return decoder.decode(bytes)
    } catch {
      throw new QuoinError('ERR_KEY_VALUE', `event ${this.name} has components that are not text`, {
        event: this.name
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
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Defines and proves the event types of one owner. */
export const events = <const E extends Readonly<Record<string, EventDeclaration>>>(
  owner: string,
  declared: E
): Events<E> => {
  for (const name of Object.keys(declared)) {
    if (Object.hasOwn(declared, `${name}Spent`)) {
      throw new QuoinError(
        'ERR_KEYSPACE_DECLARATION',
        `an event type cannot be called ${name}Spent beside ${name}`,
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
            key: [...separated(each), ':spnd'],
            value: sortedSetOf(outpoint('outpoint')),
            about: `${each.about} Spent.`
          })
        ]
      ])
    ),
    { about: `Events of ${owner}.` }
  )
  const types = Object.fromEntries(
    Object.keys(declared).map(name => [
      name,
      new EventType(name, space.collections[name] as never, space.collections[`${name}Spent`] as never)
    ])
  )
  return { keyspace: space, types: types as EventTypesOf<E> }
}

/**
 * Defines the event types of a plug-in, under its own name (`weather:city:{city}`), and lets them into a store's
 * group of keyspaces; refused with a witness when they collide with anything that is there.
 */
export const registerEvents = <const E extends Readonly<Record<string, EventDeclaration>>>(
  group: KeyspaceGroup,
  plugin: string,
  declared: E
): Events<E> => {
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(plugin)) {
    throw new QuoinError(
      'ERR_KEYSPACE_DECLARATION',
      `a plug-in's name is lower-case letters, digits, _ and -: ${plugin}`
    )
  }
  const named = Object.fromEntries(
    Object.entries(declared).map(([name, each]) => [name, { ...each, prefix: `${plugin}:${each.prefix}` }])
  ) as unknown as E
  const defined = events(plugin, named)
  group.add(defined.keyspace)
  return defined
}

/** The events that every output has. */
export const outputEvents = events('output', {
  own: event('own', 'Outputs by owner.', address('address')),
  txid: event('txid', 'Outputs by transaction.', txidHex('txid'))
})
