import { createRequire } from 'node:module'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { sha256 } from '../hash.ts'
import { readChecks, type SignatureCheck, Signatures, SignatureThread, writeChecks } from './signatures.ts'

const library: typeof import('secp256k1') = createRequire(import.meta.url)('secp256k1')
const text = new TextEncoder()

/** Every third is of something else, and every other has a key of 65 bytes. */
const checkNumber = (number: number): SignatureCheck => {
  const secret = sha256(text.encode(`secret ${number % 7}`))
  const digest = sha256(text.encode(`digest ${number}`))
  const { signature } = library.ecdsaSign(digest, secret)
  return {
    signature: { compact: signature, isHigh: false },
    digest: number % 3 === 0 ? sha256(digest) : digest,
    key: library.publicKeyCreate(secret, number % 2 === 0)
  }
}
const checks = Array.from({ length: 300 }, (_, i) => checkNumber(i))
const expected = checks.map((_, i) => i % 3 !== 0)

const threads: SignatureThread[] = []
const newThread = (entry?: string): SignatureThread => {
  const thread = new SignatureThread(entry)
  threads.push(thread)
  return thread
}
afterAll(() => Promise.all(threads.map(thread => thread.close())))

/** Sets of them, all asked in one turn. */
const askAll = async (signatures: Signatures, sizes: readonly number[]): Promise<void> => {
  let end = 0
  const asked = sizes.map(size => {
    end += size
    return {
      verdicts: signatures.check(checks.slice(end - size, end)),
      expected: expected.slice(end - size, end)
    }
  })
  for (const each of asked) expect(await each.verdicts).toEqual(each.expected)
}

describe('signatures of many transactions', () => {
  test('are told apart here', () => askAll(new Signatures(), [1, 2, 0, 50, 7]))

  test('are told apart by a thread, each asker told of its own', async () => {
    const thread = newThread()
    const signatures = new Signatures({ thread, worthAThread: 0 })
    await askAll(signatures, [1, 2, 0, 50, 7])
    await askAll(signatures, [100, 100, 100])
  })

  test('are checked here when they are few or of one asker, while the thread is busy, and before it is worth it', async () => {
    const asked: number[] = []
    class Watched extends SignatureThread {
      override check(given: readonly SignatureCheck[]) {
        asked.push(given.length)
        return super.check(given)
      }
    }
    const thread = new Watched()
    threads.push(thread)
    const signatures = new Signatures({ thread, worthAThread: 100 })
    await askAll(signatures, [99])
    expect(asked).toEqual([])
    await askAll(signatures, [1, 2])
    expect(asked).toEqual([])
    await askAll(signatures, [3, 1])
    expect(asked).toEqual([4])
    await askAll(signatures, [100])
    expect(asked).toEqual([4])
    const busy = Array.from({ length: 3 }, () => signatures.check([...checks, ...checks]))
    await new Promise(resolve => setImmediate(resolve))
    expect(thread.hasTime).toBe(false)
    await askAll(signatures, [5, 5])
    expect(asked).toEqual([4, 1800])
    for (const verdicts of busy) expect(await verdicts).toEqual([...expected, ...expected])
    expect(thread.hasTime).toBe(true)
  })

  test('are checked here when the thread fails, also those that it was asked for', async () => {
    const thread = newThread('data:text/javascript,throw new Error("no")')
    const signatures = new Signatures({ thread, worthAThread: 0 })
    await askAll(signatures, [20, 30])
    expect(thread.hasTime).toBe(false)
    await askAll(signatures, [20, 30])
  })

  test('are checked here when the thread ends while it is asked', async () => {
    const thread = newThread()
    const signatures = new Signatures({ thread, worthAThread: 0 })
    await askAll(signatures, [5, 5])
    const asked = [checks, checks].map(each => signatures.check(each))
    await new Promise(resolve => setImmediate(resolve))
    await thread.close()
    for (const verdicts of asked) expect(await verdicts).toEqual(expected)
  })

  test('arrive in the thread as they are', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            signature: fc.record({
              compact: fc.uint8Array({ minLength: 64, maxLength: 64 }),
              isHigh: fc.boolean()
            }),
            digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
            key: fc.oneof(
              fc.uint8Array({ minLength: 33, maxLength: 33 }),
              fc.uint8Array({ minLength: 65, maxLength: 65 })
            )
          })
        ),
        given => {
          expect(readChecks(writeChecks(given))).toEqual(given)
        }
      )
    )
  })
})
