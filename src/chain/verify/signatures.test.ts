import { execFile } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { sha256 } from '../hash.ts'
import { withHighS } from './mutations.testing.ts'
import { type Check, readSignature } from './secp256k1.ts'
import { Signatures } from './signatures.ts'
import { makeKey, signDigest } from './signed.testing.ts'

const digests = Array.from({ length: 8 }, (_, i) => sha256(Uint8Array.of(i)))
/** With keys of both lengths, and every other one with a high s. */
const good = digests.map((digest, i): Check => {
  const key = makeKey(i)
  const signature = signDigest(digest, key)
  return {
    signature: readSignature(i % 2 ? withHighS(signature) : signature)!,
    digest,
    key: i % 3 ? key.publicKey : key.uncompressed
  }
})
const bad = good.map((check, i): Check => ({ ...check, digest: digests[(i + 1) % digests.length]! }))

const signatures = new Signatures()
afterAll(() => signatures.close())

/** Beside so many others that all of them go to the thread, once it has started. */
const OTHERS = Array.from({ length: 64 }, (_, i) => good[i % good.length]!)
const asked = async (lists: readonly (readonly Check[])[]): Promise<number[]> => {
  const answers = await Promise.all([...lists, OTHERS].map(each => signatures.firstFailing(each)))
  expect(answers.pop()).toBe(-1)
  return answers
}

describe('signatures', () => {
  test('hold or not, each as it is, however they are mixed and grouped', async () => {
    const check = fc.tuple(fc.nat(good.length - 1), fc.boolean())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(check, { maxLength: 6 }), { maxLength: 6 }), async lists => {
        const expected = lists.map(list => list.findIndex(([, isGood]) => !isGood))
        const checks = lists.map(list => list.map(([i, isGood]) => (isGood ? good : bad)[i]!))
        expect(await asked(checks)).toEqual(expected)
      }),
      { numRuns: 200 }
    )
  })

  test('are checked all the same when the thread ends under them', async () => {
    await expect.poll(() => signatures.isThreaded).toBe(true)
    const answers = asked([good, bad, good])
    // The group leaves at the end of this turn, and the thread ends before it has answered.
    await new Promise(resolve => setImmediate(resolve))
    await signatures.close()
    expect(await answers).toEqual([-1, 0, -1])
    expect(await asked([bad, good])).toEqual([0, -1])
  })

  test('do not keep a process from ending, whether the thread was used or not', async () => {
    const module = new URL('../../../dist/chain/verify/signatures.js', import.meta.url).href
    for (const rounds of [1, 2]) {
      const script = `
        import { Signatures } from ${JSON.stringify(module)}
        const signatures = new Signatures()
        const check = { signature: { compact: new Uint8Array(64), isHigh: false }, digest: new Uint8Array(32), key: new Uint8Array(33) }
        for (let round = 0; round < ${rounds}; round++) {
          if (round > 0) while (!signatures.isThreaded) await new Promise(resolve => setTimeout(resolve, 5))
          console.log(await signatures.firstFailing(Array(80).fill(check)))
        }`
      const child = execFile(process.execPath, ['--input-type=module', '--eval', script], { timeout: 30_000 })
      const [code] = await once(child, 'exit')
      expect(code).toBe(0)
    }
  })
})
