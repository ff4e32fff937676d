/** JSON fields: the same as `JSON.parse` has, of any text, in time that its length bounds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJsonFields } from './json-fields.ts'
import { utf8 } from './scripts.testing.ts'

const NAMES = ['p', 'op', 'amt']

const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return new Map(
      NAMES.filter(name => Object.hasOwn(value, name)).map(name => {
        const field = (value as Record<string, unknown>)[name]
        return [name, typeof field === 'string' ? field : undefined]
      })
    )
  } catch {
    return undefined
  }
}

const expectParsed = (text: string): void => {
  const fields = readJsonFields(utf8(text), NAMES)
  expect(fields && new Map([...fields].sort())).toEqual(
    parsed(text) && new Map([...(parsed(text) as Map<string, unknown>)].sort())
  )
}

/** JSON, and JSON with a character inserted, replaced or removed. */
const texts = fc
  .tuple(
    fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.dictionary(fc.constantFrom(...NAMES, 'x'), fc.jsonValue()).map(each => JSON.stringify(each, null, 1))
    ),
    fc.nat(),
    fc.constantFrom(
      '',
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      ':',
      '0',
      '-',
      'e',
      '.',
      'u',
      ' ',
      '\n',
      '\u0001',
      'é'
    ),
    fc.nat(1)
  )
  .map(([text, at, inserted, removed]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + inserted + text.slice(place + removed)
  })

describe('readJsonFields', () => {
  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    fc.assert(
      fc.property(texts, text => expectParsed(/\p{Surrogate}/u.test(text) ? '' : text)),
      { numRuns: 3000 }
    )
  })

  it.each([
    '{}',
    ' {"p" : "a" , "op":\n"b"}\t',
    '{"p":"a","p":"b"}',
    '{"p":"a","p":1}',
    '{"\\u0070":"escaped name"}',
    '{"p":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"}',
    '{"p":"\\x"}',
    '{"p":"\\u12g4"}',
    '{"p":-}',
    '{"p":01}',
    '{"p":1.}',
    '{"p":1e}',
    '{"p":-0.5e+7,"op":[true,false,null,{}],"amt":{"p":"inner"}}',
    '{"p":"a",}',
    '{,}',
    '{"p"}',
    '{"p":}',
    '{"p":"a"}}',
    '{"p":[1,]}',
    '{"p":tru}',
    '{"p":"a',
    '{"p":"a\u0001"}',
    '',
    '[]',
    '"p"',
    'null'
  ])('%j', expectParsed)

  it('has U+FFFD for bytes that are not UTF-8, within strings alone', () => {
    const bytes = utf8('{"p":"a~b"}')
    bytes[bytes.indexOf(0x7e)] = 0xff
    expect(readJsonFields(bytes, NAMES)).toEqual(new Map([['p', 'a\ufffdb']]))
    const outside = utf8('{~"p":"ab"}')
    outside[1] = 0xff
    expect(readJsonFields(outside, NAMES)).toBeUndefined()
    expect(readJsonFields(utf8('\ufeff{}'), NAMES)).toBeUndefined()
  })

  it('nests 10,000 deep and no deeper', () => {
    const nested = (depth: number): string => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},"p":"a"}`
    expect(readJsonFields(utf8(nested(10_000)), NAMES)).toEqual(new Map([['p', 'a']]))
    expect(readJsonFields(utf8(nested(10_001)), NAMES)).toBeUndefined()
  })

  it('does not read a name that is longer than any name that is wanted', () => {
    expect(readJsonFields(utf8(`{"${'x'.repeat(100_000)}":1,"p":"a"}`), NAMES)).toEqual(new Map([['p', 'a']]))
  })
})
