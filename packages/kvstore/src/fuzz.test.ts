/**
 * Mutated tokens: none makes the reader throw, and none is an entry unless the arithmetic of @bsv/sdk verifies it too.
 * `npm run fuzz` runs a million.
 */
import { isRefusal } from '@quoin/kvstore-client/token'
import { equalBytes } from '@quoin/primitives'
import { expect, it } from 'vitest'
import { randomFrom } from '../../chain/src/verify/test-chain.testing.ts'
import { verifyScript } from '../../kvstore-client/src/verify.ts'
import { FORMS } from './forms.testing.ts'
import { verifyToken } from './verify.ts'

const RUNS = Number(process.env['QUOIN_FUZZ'] ?? 10_000)
/** Long values would take most of the time, and their bytes are all alike. */
const MAX_LENGTH = 2000
const BASES = FORMS.map(({ script }) => script).filter(({ length }) => length <= MAX_LENGTH)

const random = randomFrom(Number(process.env['QUOIN_SEED']))
const below = (limit: number): number => Math.floor(random() * limit)

const mutate = (script: Uint8Array): Uint8Array => {
  let bytes = [...script]
  for (let count = 1 + below(3); count > 0; count--) {
    const at = below(bytes.length)
    const kind = below(5)
    if (kind === 0) bytes[at]! ^= 1 << below(8)
    else if (kind === 1) bytes[at] = below(256)
    else if (kind === 2) bytes.splice(at, 1)
    else if (kind === 3) bytes.splice(at, 0, below(256))
    // A part of another token at the same place.
    else {
      const other = BASES[below(BASES.length)]!
      bytes = [...bytes.slice(0, at), ...other.subarray(at, at + below(80)), ...bytes.slice(at + 80)]
    }
    if (bytes.length === 0) bytes = [below(256)]
  }
  return Uint8Array.from(bytes)
}

it(`§2.3 §A of ${RUNS} mutated tokens none is an entry that does not verify`, () => {
  let entries = 0
  let wrong = 0
  for (let run = 0; run < RUNS; run++) {
    const base = BASES[below(BASES.length)]!
    const script = mutate(base)
    const read = verifyToken(script)
    // The slower reader judges what the faster admits, and a sample of the rest.
    if (isRefusal(read) && run % 500 !== 0) continue
    if (equalBytes(script, base)) continue
    const other = verifyScript(script)
    if (!isRefusal(read)) entries++
    if (isRefusal(read) !== isRefusal(other)) wrong++
    else if (!isRefusal(read)) expect(other).toEqual(read)
  }
  expect(wrong).toBe(0)
  // Another encoding of a push is among them: the verdict is not always the same.
  expect(entries).toBeGreaterThan(0)
}, 900_000)
