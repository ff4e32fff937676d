import { describe, expect, it } from 'vitest'
import { andThen, inOrder, isPending, together } from './awaitable.ts'

const later = <T>(value: T): Promise<T> => new Promise(resolve => setImmediate(resolve, value))
/** As promises of other libraries are. */
const foreign = <T>(value: T): Promise<T> =>
  // biome-ignore lint/suspicious/noThenProperty: this is what makes it one.
  ({ then: (next: (value: T) => unknown) => later(value).then(next) }) as Promise<T>

describe('what is at hand', () => {
  it('is gone on with at once', () => {
    expect(andThen(2, value => value + 1)).toBe(3)
    expect(andThen(undefined, () => 'next')).toBe('next')
    expect(together([1, 'two', undefined])).toEqual([1, 'two', undefined])
  })

  it('is no promise: bytes, arrays, null, texts', () => {
    for (const value of [new Uint8Array(1), [], null, 'then', 0]) expect(isPending(value)).toBe(false)
  })

  it('fails at once', () => {
    const fail = (): never => {
      throw new Error('no')
    }
    expect(() => andThen(1, fail)).toThrow('no')
  })
})

describe.each([
  ['a promise', later],
  ['a promise of another kind', foreign]
])('%s', (_, wait) => {
  it('is waited for', async () => {
    const next = andThen(wait(2), value => value + 1)
    expect(isPending(next)).toBe(true)
    expect(await next).toBe(3)
  })

  it('makes all wait that are asked for with it', async () => {
    const all = together([1, wait(2)])
    expect(isPending(all)).toBe(true)
    expect(await all).toEqual([1, 2])
  })
})

it('work is done in order, and waited for where it has to be', async () => {
  const done: number[] = []
  const note = (item: number): void => void done.push(item)
  expect(inOrder([1, 2], note)).toBeUndefined()
  expect(done).toEqual([1, 2])
  const working = inOrder([3, 4, 5], item => (item === 4 ? later(item).then(note) : note(item)))
  expect(done).toEqual([1, 2, 3])
  await working
  expect(done).toEqual([1, 2, 3, 4, 5])
})

it('a promise that fails makes all fail', async () => {
  await expect(together([1, Promise.reject(new Error('no'))])).rejects.toThrow('no')
  await expect(andThen(Promise.reject(new Error('no')), () => 1)).rejects.toThrow('no')
})
