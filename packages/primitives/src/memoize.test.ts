import { expect, it } from 'vitest'
import { memoize } from './memoize.ts'

it('computes once for a key, until the cache is full; undefined is not cached', () => {
  const computed: string[] = []
  const lengthOf = memoize(2, (key: string) => {
    computed.push(key)
    return key === 'x' ? undefined : key.length
  })
  expect([lengthOf('ab'), lengthOf('ab'), lengthOf('x'), lengthOf('x'), lengthOf('abc')]).toEqual([
    2,
    2,
    undefined,
    undefined,
    3
  ])
  expect(computed).toEqual(['ab', 'x', 'x', 'abc'])
  expect([lengthOf('d'), lengthOf('d'), lengthOf('ab')]).toEqual([1, 1, 2])
  expect(computed.slice(4)).toEqual(['d', 'ab'])
})
