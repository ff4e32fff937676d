import { describe, expect, it } from 'vitest'
import { txid } from '../../chain/src/components.ts'
import {
  type AnyKeyspace,
  canonicalLayout,
  collection,
  hash,
  json,
  keyspace,
  rawValue,
  sortedSetOf,
  text,
  u32,
  u64,
  word
} from './index.ts'

const canonical = (space: AnyKeyspace): string => canonicalLayout(space.all[0]!)
const declared = (declaration: object): string =>
  canonical(keyspace('space', { one: collection(declaration as never) }))

describe('the canonical layout of a collection', () => {
  const value = rawValue('bytes')

  it('is the same whatever its components, scans and prose are called', () => {
    expect(
      declared({ key: ['a:', u64('left'), ':', text('right')], scans: [['left']], value, about: 'One.' })
    ).toBe(declared({ key: ['a:', u64('pool'), ':', text('name')], value, about: 'Another.' }))
  })

  it.each([
    ['another literal', { key: ['b:', u64('id')], value }],
    ['a literal at another place', { key: [u64('id'), 'a:'], value }],
    ['a codec of the same width', { key: ['a:', txid('id')], value }],
    ['another width', { key: ['a:', u32('id')], value }],
    ['a further component', { key: ['a:', u64('id'), ':', u64('other')], value }],
    ['another form of the value', { key: ['a:', u64('id')], value: json() }],
    ['members instead of a value', { key: ['a:', u64('id')], value: sortedSetOf(txid('txid')) }]
  ])('differs with %s', (_, declaration) => {
    expect(declared(declaration)).not.toBe(declared({ key: ['a:', u64('id')], value }))
  })

  it('differs with the words of a component, not with their order', () => {
    const words = (...all: string[]): string =>
      declared({ key: ['a:', word('kind', ...(all as ['x']))], value })
    expect(words('one', 'two')).toBe(words('two', 'one'))
    expect(words('one', 'two')).not.toBe(words('one', 'two', 'three'))
  })

  it('covers the fields of a hash', () => {
    const fields = (of: AnyKeyspace): string => declared({ key: ['h:', u64('id')], value: hash(of) })
    const named = (name: string, key: string) =>
      keyspace('fields', { [name]: collection({ key: [key], value }) })
    expect(fields(named('a', 'x'))).toBe(fields(named('a', 'x')))
    expect(fields(named('a', 'x'))).not.toBe(fields(named('a', 'y')))
  })
})
