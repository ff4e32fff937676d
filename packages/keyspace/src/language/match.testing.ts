/** For tests: an independent way to read patterns, and random ones. */
import fc from 'fast-check'
import { alt, chars, empty, type Pattern, repeat, seq } from './pattern.ts'

/** The independent reading of a pattern: every end a match of `pattern` from `at` can have. */
export const matchEnds = (pattern: Pattern, text: Uint8Array, at: number): Set<number> => {
  switch (pattern.kind) {
    case 'set':
      return new Set(at < text.length && pattern.set.has(text[at]!) ? [at + 1] : [])
    case 'seq': {
      let ends = new Set([at])
      for (const part of pattern.parts)
        ends = new Set([...ends].flatMap(end => [...matchEnds(part, text, end)]))
      return ends
    }
    case 'alt':
      return new Set(pattern.options.flatMap(option => [...matchEnds(option, text, at)]))
    case 'repeat': {
      const all = new Set<number>()
      let ends = new Set([at])
      for (let i = 0; i <= Math.min(pattern.max, pattern.min + text.length); i++) {
        if (i >= pattern.min) for (const end of ends) all.add(end)
        ends = new Set([...ends].flatMap(end => [...matchEnds(pattern.of, text, end)]))
      }
      return all
    }
    case 'language': {
      const { matcher } = pattern.language
      const ends = Array.from({ length: text.length - at + 1 }, (_, i) => at + i)
      return new Set(ends.filter(end => matcher.departs(text, at, end) === -1))
    }
  }
}

/** Random patterns over a few letters. */
export const patternsOver = (letters: string, maxDepth = 4): fc.Arbitrary<Pattern> =>
  fc.letrec<{ pattern: Pattern }>(tie => ({
    pattern: fc.oneof(
      { maxDepth, withCrossShrink: true },
      fc.subarray([...letters], { minLength: 1 }).map(some => chars(some.join(''))),
      fc.constant(empty),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map(parts => seq(...parts)),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map(options => alt(...options)),
      fc
        .tuple(tie('pattern'), fc.nat(2), fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY))
        .map(([of, min, more]) => repeat(of, min, min + more))
    )
  })).pattern
