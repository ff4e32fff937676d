import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from './strange.tsx'

const shown = (text: string, keepLines = false): string =>
  runsOf(text, keepLines)
    .map(run => (run.unseen ? `[${run.text}]` : run.text))
    .join('')

describe('text of strangers', () => {
  it('is shown as it is where it can be seen', () => {
    expect(shown('GOLD <b>&amp;</b> 金 é 🜚')).toBe('GOLD <b>&amp;</b> 金 é 🜚')
  })

  it('what reorders or hides is shown by its number', () => {
    expect(shown('a\u202eb\u0000c\u200bd\u2028e')).toBe('a[U+202E]b[U+0000]c[U+200B]d[U+2028]e')
    expect(shown('\ud800x')).toBe('[U+D800]x')
  })

  it('lines stay where lines belong', () => {
    expect(shown('a\nb', true)).toBe('a\nb')
    expect(shown('a\nb')).toBe('a[U+000A]b')
  })

  it('marks do not pile up on a letter', () => {
    expect(shown('e\u0301')).toBe('e\u0301')
    expect(shown(`z${'\u0335'.repeat(50)}`)).toBe(`z${'\u0335'.repeat(2)}${'[U+0335]'.repeat(48)}`)
  })

  it('no text leaves a character unseen, or loses one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const runs = runsOf(text, false)
        expect(runs.filter(run => !run.unseen).some(run => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(run.text))).toBe(
          false
        )
        const back = runs.map(run =>
          run.unseen ? String.fromCodePoint(Number.parseInt(run.text.slice(2), 16)) : run.text
        )
        expect(back.join('')).toBe(text)
      })
    )
  })
})
