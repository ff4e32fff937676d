import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diff } from './diff.ts'

describe('the difference of two texts', () => {
  it('is word by word', () => {
    expect(diff('the quick fox', 'the slow fox')).toEqual([
      { kind: 'same', text: 'the ' },
      { kind: 'removed', text: 'quick' },
      { kind: 'added', text: 'slow' },
      { kind: 'same', text: ' fox' }
    ])
    expect(diff('', 'new')).toEqual([{ kind: 'added', text: 'new' }])
    expect(diff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }])
  })

  it('has both texts in it, whatever they are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 80 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changes = diff(before, after)!
        const without = (kind: string): string =>
          changes
            .filter(each => each.kind !== kind)
            .map(each => each.text)
            .join('')
        expect([without('added'), without('removed')]).toEqual([before, after])
      })
    )
  })

  it('of texts too long to compare is left out', () => {
    expect(diff('x'.repeat(1e6), '')).toBe(undefined)
    expect(diff('a '.repeat(400), 'b')).toBe(undefined)
  })
})
