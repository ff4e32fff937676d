/** Text that matches a regular expression of the common subset: classes, groups, `|`, `* + ?`, `{m,n}`, `.` and escapes. */
import { QuoinError } from '@quoin/primitives'
import { ByteSet } from '../language/byteset.ts'
import { alt, empty, type Pattern, repeat, seq, set, utf8, word } from '../language/pattern.ts'

const ASCII = ByteSet.range(0x00, 0x7f)
const CLASSES: Readonly<Record<string, ByteSet>> = {
  d: ByteSet.chars('0123456789'),
  w: ByteSet.chars('0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_'),
  s: ByteSet.chars(' \t\r\n\f\v')
}
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b, 0: 0x00 }
const MAX_REPEAT = 512

/** The pattern of an anchored regular expression over text. */
export const patternOf = (source: string): Pattern => {
  const chars = [...source]
  let at = 0
  const refuse = (reason: string): never => {
    throw new QuoinError(
      'ERR_KEYSPACE_DECLARATION',
      `invalid pattern ${JSON.stringify(source)} at ${at}: ${reason}`,
      { source, offset: at }
    )
  }
  const alternatives = (): Pattern => {
    const options = [sequence()]
    while (chars[at] === '|') {
      at++
      options.push(sequence())
    }
    return options.length === 1 ? options[0]! : alt(...options)
  }
  const sequence = (): Pattern => {
    const parts: Pattern[] = []
    while (at < chars.length && chars[at] !== '|' && chars[at] !== ')') parts.push(quantified())
    return parts.length === 0 ? empty : seq(...parts)
  }
  const quantified = (): Pattern => {
    let of = atom()
    for (;;) {
      const [min, max] = quantity() ?? []
      if (min === undefined || max === undefined) return of
      of = repeat(of, min, max)
    }
  }
  const quantity = (): readonly [number, number] | undefined => {
    const char = chars[at]
    if (char === '*' || char === '+' || char === '?') {
      at++
      if (chars[at] === '?' || chars[at] === '+')
        refuse('lazy and possessive quantifiers change no word; leave them out')
      return char === '?' ? [0, 1] : [char === '+' ? 1 : 0, Number.POSITIVE_INFINITY]
    }
    if (char !== '{') return undefined
    const [all, low, comma, high] =
      /^\{(\d+)(,?)(\d*)\}/.exec(chars.slice(at).join('')) ?? refuse('a quantity is {m}, {m,} or {m,n}')
    at += all!.length
    const min = Number(low)
    const max = comma ? (high ? Number(high) : Number.POSITIVE_INFINITY) : min
    if (min > MAX_REPEAT || (Number.isFinite(max) && max > MAX_REPEAT))
      refuse(`a quantity is at most ${MAX_REPEAT}`)
    if (min > max) refuse(`a quantity counts up, not from ${min} to ${max}`)
    return [min, max]
  }
  const atom = (): Pattern => {
    const char = chars[at++]!
    switch (char) {
      case '(': {
        if (chars[at] === '?') {
          if (chars[at + 1] !== ':') refuse('only (…) and (?:…) are groups')
          at += 2
        }
        const inner = alternatives()
        if (chars[at++] !== ')') refuse('a group has no end')
        return inner
      }
      case '[':
        return bracket()
      case '.':
        return anyBut(ByteSet.chars('\n'))
      case '\\':
        return set(escaped())
      case '^':
      case '$':
        return refuse('the whole text is matched; leave anchors out')
      case '*':
      case '+':
      case '?':
      case '{':
        at--
        return refuse(`nothing before ${char}`)
      default:
        return word(new TextEncoder().encode(char))
    }
  }
  const escaped = (): ByteSet => {
    const char = chars[at++]
    if (char === undefined) return refuse('a backslash at the end')
    if (char === 'x') {
      const digits = chars.slice(at, at + 2).join('')
      if (!/^[0-7][0-9a-fA-F]$/.test(digits)) refuse('\\x needs two digits, of at most 7f')
      at += 2
      return ByteSet.of(Number.parseInt(digits, 16))
    }
    const known = CLASSES[char]
    if (known) return known
    const negated = CLASSES[char.toLowerCase()]
    if (negated) return ASCII.minus(negated)
    if (char in CONTROLS) return ByteSet.of(CONTROLS[char]!)
    if (/[0-9A-Za-z]/.test(char) || char > '\x7f') refuse(`unknown escape \\${char}`)
    return ByteSet.chars(char)
  }
  const bracket = (): Pattern => {
    const negated = chars[at] === '^'
    if (negated) at++
    let members = ByteSet.of()
    for (let first = true; chars[at] !== ']' || first; first = false) {
      const low = member()
      if (chars[at] === '-' && chars[at + 1] !== ']' && at + 1 < chars.length) {
        at++
        const high = member()
        if (low.min !== low.max || high.min !== high.max || low.min > high.min)
          refuse('a range has two characters, in order')
        members = members.union(ByteSet.range(low.min, high.min))
      } else members = members.union(low)
    }
    at++
    return negated ? anyBut(members) : set(members)
  }
  const member = (): ByteSet => {
    const char = chars[at++]
    if (char === undefined) return refuse('a class has no end')
    if (char === '\\') return escaped()
    if (char > '\x7f') refuse(`a class has ASCII characters only, not ${char}`)
    return ByteSet.chars(char)
  }
  const pattern = alternatives()
  if (at < chars.length) refuse('a group ends that has no beginning')
  return pattern
}

/** One character of UTF-8 that is not in the set. */
const anyBut = (excluded: ByteSet): Pattern => {
  const text = utf8(excluded)
  return text.kind === 'repeat' ? text.of : text
}
