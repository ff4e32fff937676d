/** Parts of a document, however it is cut into chunks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Decision, type Taken, takeJson } from './json-stream.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
async function* chunks(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}
const cut = (whole: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.subarray(i * size, (i + 1) * size))
const taken = async (
  text: string,
  decide: (path: readonly string[]) => Decision,
  size = 7
): Promise<Taken[]> => {
  const found: Taken[] = []
  for await (const each of takeJson(chunks(cut(bytes(text), size)), decide)) found.push(each)
  return found
}
const DOCUMENT =
  '{ "skip": {"a": [1, {"b": "}]\\""}]}, "list": [ {"x": "ä€😀"}, 12 ,-3.5e2, "t\\\\", [], null ], "deep": {"in": true} }'
const decide = (path: readonly string[]): Decision =>
  path.length === 0 || path.join() === 'list' || path.join() === 'deep'
    ? 'enter'
    : path[0] === 'skip'
      ? 'skip'
      : 'take'

describe('parts of a document', () => {
  it.each([1, 2, 3, 5, 1000])('are taken from chunks of %i bytes', async size => {
    expect(await taken(DOCUMENT, decide, size)).toEqual([
      ...[{ x: 'ä€😀' }, 12, -350, 't\\', [], null].map(value => ({ path: ['list', '*'], value })),
      { path: ['deep', 'in'], value: true }
    ])
  })

  it('are what JSON.parse makes of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (value, size, indent) => {
          const text = JSON.stringify(value, null, indent ? 2 : 0)
          const whole = JSON.parse(text) as unknown
          expect(await taken(text, () => 'take', size)).toEqual([{ path: [], value: whole }])
          const top = await taken(text, path => (path.length === 0 ? 'enter' : 'take'), size)
          const values = typeof whole === 'object' && whole !== null ? Object.values(whole) : []
          expect(top.map(each => each.value)).toEqual(values)
        }
      )
    )
  })

  it.each([
    ['nothing', ''],
    ['a document that is cut off', '{"a": [1, 2'],
    ['a text that is cut off', '"abc'],
    ['the wrong bracket', '{"a": [1}]'],
    ['no comma', '[1 2]'],
    ['a comma too many', '[1,]'],
    ['a key that is none', '{a: 1}'],
    ['no colon', '{"a" 1}'],
    ['no value', '{"a": }'],
    ['more behind it', '{} {}'],
    ['a word that is none', '[nul]'],
    ['an array nested too deep', '['.repeat(100)]
  ])('are refused of %s', async (_, text) => {
    await expect(
      taken(text, path =>
        path.at(-1) === 'a' || text.startsWith('[[') || path.length === 0 ? 'enter' : 'take'
      )
    ).rejects.toMatchObject({
      code: 'ERR_LIQUIDITY_IMPORT'
    })
  })

  it('never fail without a code', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'{}[]",:1a \\'), maxLength: 30 }), async text => {
        const result = await taken(text, path => (path.length < 3 ? 'enter' : 'take')).catch(error => {
          expect(error).toMatchObject({ code: 'ERR_LIQUIDITY_IMPORT' })
        })
        if (result) expect(() => JSON.parse(text)).not.toThrow()
      }),
      { numRuns: 1000 }
    )
  })
})
