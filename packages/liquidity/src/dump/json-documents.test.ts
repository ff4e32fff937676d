/** Objects one after the other, however they are written and cut. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonDocument, jsonDocuments } from './json-documents.ts'

const read = async (text: string, size: number): Promise<JsonDocument[]> => {
  const whole = new TextEncoder().encode(text)
  const found: JsonDocument[] = []
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size)
  }
  for await (const each of jsonDocuments(chunks())) found.push(each)
  return found
}

describe('objects one after the other', () => {
  it('are found with the lines they begin in', async () => {
    const text = '\n{"a": 1}\n\n{\n  "b": "}\\"{"\n}{"c": {"d": "ä€😀"}}\n'
    for (let size = 1; size < 20; size++) {
      const found = await read(text, size)
      expect(found.map(({ line, text: each }) => [line, JSON.parse(each)])).toEqual([
        [2, { a: 1 }],
        [4, { b: '}"{' }],
        [6, { c: { d: 'ä€😀' } }]
      ])
    }
  })

  it('are what JSON.parse makes of them', async () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(
        fc.array(object),
        fc.constantFrom(0, 2),
        fc.integer({ min: 1, max: 50 }),
        async (objects, indent, size) => {
          const text = objects.map(each => JSON.stringify(each, null, indent)).join('\n')
          const found = await read(text, size)
          expect(found.map(each => JSON.parse(each.text))).toEqual(JSON.parse(JSON.stringify(objects)))
        }
      )
    )
  })

  it.each([
    ['something else', '{}\n[1]', 2],
    ['an object without end', '{"a": {', 1],
    ['a text without end', '\n\n{"a', 3],
    ['a bracket too many', '{}}', 1]
  ])('are refused: %s', async (_, text, line) => {
    await expect(read(text, 3)).rejects.toMatchObject({ code: 'ERR_LIQUIDITY_IMPORT', details: { line } })
  })
})
