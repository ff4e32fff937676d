import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesKey, bytesOfKey, compareBytes } from './bytes.ts'

it('a key gives its bytes back, and sorts as they do', () => {
  const bytes = fc.uint8Array({ maxLength: 40 })
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(bytesOfKey(bytesKey(a))).toEqual(a)
      const [x, y] = [bytesKey(a), bytesKey(b)]
      expect(x < y ? -1 : x > y ? 1 : 0).toBe(Math.sign(compareBytes(a, b)))
    })
  )
})
