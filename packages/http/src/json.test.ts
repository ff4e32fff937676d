/** JSON as it is sent, and how deep it is. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { depthOf, toJson } from './json.ts'

const nesting = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((most: number, each) => Math.max(most, nesting(each)), 0)
    : 0

it('the depth of a text is that of what it says, whatever its strings hold', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: fc.constantFrom('[', '{', '"', '\\', ']', '}', 'a', 'é') }), text => {
      expect(depthOf(Buffer.from(text))).toBe(nesting(JSON.parse(text)))
    })
  )
})

it('what is no JSON has some depth too', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      expect(depthOf(bytes)).toBeLessThanOrEqual(bytes.length)
    })
  )
})

it('great numbers are texts, bytes are hexadecimal, and nothing is null', () => {
  expect(toJson({ great: 2n ** 64n, bytes: Uint8Array.of(1, 255), list: [] })).toBe(
    '{"great":"18446744073709551616","bytes":"01ff","list":[]}'
  )
  expect(toJson(undefined)).toBe('null')
})
