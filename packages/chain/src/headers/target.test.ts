/** Targets: the compact form and work. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bitsOf, targetOf, targetOfWork, workOf, workOfTarget } from './target.ts'

describe('the compact form of a target', () => {
  it.each([
    ['the lowest difficulty of the main network', 0x1d00ffff, 0xffffn << 208n],
    ['that of the regression test network', 0x207fffff, 0x7fffffn << 232n],
    ['a difficulty of 2021', 0x18015ddc, 0x15ddcn << 168n],
    ['a number of one byte', 0x01120000, 0x12n],
    ['a number of two bytes', 0x02123400, 0x1234n],
    ['a number of three bytes', 0x03123456, 0x123456n],
    ['a number of four bytes', 0x04123456, 0x12345600n],
    ['with zeros before it, which is another form of the same', 0x05009234, 0x92340000n],
    ['two bytes at the top', 0x2100ffff, 0xffffn << 240n],
    ['one byte at the top', 0x220000ff, 0xffn << 248n]
  ])('%s', (_, bits, target) => {
    expect(targetOf(bits)).toBe(target)
  })

  it.each([
    ['zero', 0],
    ['zero of any length', 0x20000000],
    ['a number whose digits all fall out', 0x00123456],
    ['one whose only digits fall out', 0x01003456],
    ['a negative number', 0x04923456],
    ['a negative number at the lowest difficulty', 0x1d80ffff],
    ['three bytes where two fit', 0x21010000],
    ['two bytes where one fits', 0x22000100],
    ['anything longer', 0x23000001],
    ['the longest', 0xff7fffff]
  ])('%s is no target', (_, bits) => {
    expect(targetOf(bits)).toBeUndefined()
    expect(workOf(bits)).toBe(0n)
  })

  it('is undone by its inverse, and keeps at least the first two bytes of any number', () => {
    const target = fc.bigInt({ min: 1n, max: (1n << 256n) - 1n })
    fc.assert(
      fc.property(target, value => {
        const read = targetOf(bitsOf(value))!
        expect(bitsOf(read)).toBe(bitsOf(value))
        expect(read <= value).toBe(true)
        expect(value - read < value >> 7n || value - read === 0n).toBe(true)
      })
    )
  })

  it('never throws, and is read as nothing but a positive number of 256 bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), bits => {
        const target = targetOf(bits)
        expect(target === undefined || (target > 0n && target < 1n << 256n)).toBe(true)
      }),
      { numRuns: 1000 }
    )
  })
})

describe('work', () => {
  it('is the number of hashes that a header takes', () => {
    expect(workOf(0x1d00ffff)).toBe(0x100010001n)
    expect(workOf(0x207fffff)).toBe(2n)
    expect(workOfTarget((1n << 256n) - 1n)).toBe(1n)
  })

  it('grows as the target falls, and leads back to it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 1n << 224n }),
        fc.bigInt({ min: 1n, max: 1n << 224n }),
        (a, b) => {
          if (a < b) expect(workOfTarget(a) >= workOfTarget(b)).toBe(true)
          const work = workOfTarget(a)
          expect(workOfTarget(targetOfWork(work))).toBe(work)
        }
      )
    )
  })
})
