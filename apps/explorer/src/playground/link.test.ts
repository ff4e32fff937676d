import { auditLayout, parseLayout } from '@quoin/keyspace'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asText, EXAMPLES } from './examples.ts'
import { fromFragment, toFragment } from './link.ts'

describe('a layout in a link', () => {
  it('comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), text => {
        expect(fromFragment(toFragment(text)!)).toBe(text)
      })
    )
  })

  it('that is too long is not in it, and a link that is none is nothing', () => {
    expect(toFragment('x'.repeat(6001))).toBe(undefined)
    for (const fragment of ['', '*', '%', 'gA', 'a'.repeat(12_001)])
      expect(fromFragment(fragment)).toBe(undefined)
  })
})

describe('the examples', () => {
  it('are what they are called', () => {
    const verdicts = Object.values(EXAMPLES).map(each => auditLayout(parseLayout(asText(each))))
    expect(verdicts.map(({ sound }) => sound)).toEqual([true, false, false, false])
    expect(verdicts.slice(1).map(({ findings }) => findings[0]!.property)).toEqual(['P2', 'P3', 'P1'])
  })

  it('are the same when they are written out', () => {
    for (const each of Object.values(EXAMPLES)) expect(JSON.parse(asText(each))).toEqual(each)
  })
})
