import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Author, PROTOCOL } from './author.testing.ts'
import { anyEventOf, selects } from './find.ts'
import { eventOf, eventsOf } from './keys.ts'

const authors = ['alice', 'bob'].map(name => new Author(name))
const controller = fc.constantFrom(...authors.map(each => each.controller))
const key = fc.constantFrom('a', 'b')
const tags = fc.subarray(['x', 'y', 'z'])
const protocolID = fc.constant(PROTOCOL)
const content = fc.record({ controller, key, tags, value: fc.constant(''), protocolID })
const ALL = { tags: [], tagQueryMode: 'all', limit: 10, skip: 0, sortOrder: 'asc' } as const
const query = fc
  .record(
    { controller, key, tags, tagQueryMode: fc.constantFrom('any', 'all'), protocolID },
    { requiredKeys: [] }
  )
  .map(selectors => ({ ...ALL, ...selectors }))

describe('the events of a query', () => {
  it('are such that every selected entry has one of them', () => {
    fc.assert(
      fc.property(query, content, (asked, entry) => {
        const [events, any] = [eventsOf(entry), anyEventOf(asked)]
        const hasOne = any === undefined || any.some(event => events.includes(event))
        expect(hasOne || !selects(asked)(events)).toBe(true)
      })
    )
  })

  it('are few: one of a query with a key, a tag of a query for all of several, none of a query for all entries', () => {
    expect(anyEventOf({ ...ALL, key: 'a', tags: ['x', 'y'] })).toEqual([eventOf.key('a')])
    expect(anyEventOf({ ...ALL, tags: ['x', 'y'] })).toEqual([eventOf.tag('x')])
    expect(anyEventOf({ ...ALL, tags: ['x', 'y'], tagQueryMode: 'any' })).toEqual(['x', 'y'].map(eventOf.tag))
    expect(anyEventOf(ALL)).toBeUndefined()
  })
})
