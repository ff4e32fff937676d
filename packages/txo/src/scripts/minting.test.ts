/** The two contracts that mint BSV21 tokens. */

import { buildScript, OP, writeScriptNumber } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { decodeLtm } from './ltm.ts'
import { decodePow20 } from './pow20.ts'
import { FIXTURES, foundIn, joined, scriptOf, utf8 } from './scripts.testing.ts'

/** The real script in its parts: what is before the parameters, the code, and the state. */
const parts = (
  script: Uint8Array,
  start: number,
  [parameters, code]: readonly [number, number]
): [Uint8Array, Uint8Array, Uint8Array] => [
  script.subarray(0, start),
  script.subarray(parameters, parameters + code),
  script.subarray(parameters + code)
]

const [ltmHead, ltmCode, ltmState] = parts(scriptOf('bamboo'), 257 + 2293, [2584, 29_209])
const [powHead, powCode, powState] = parts(scriptOf('buidl'), 285 + 2293, [2596, 27_489])
const number = writeScriptNumber
const zeros = new Array<number>(7).fill(OP.N0)

const ltm = (values: readonly (number | Uint8Array)[], places: readonly number[] = zeros): Uint8Array =>
  joined(ltmHead, buildScript([...places, ...values]), ltmCode, ltmState)
const pow20 = (values: readonly (number | Uint8Array)[], state = powState): Uint8Array =>
  joined(powHead, buildScript(values), powCode, state)

const BAMBOO = [utf8('BAMBOO'), number(10n ** 15n), OP.N8, number(2000), number(60_000), number(821_660)]
const BUIDL = [utf8('BUIDL'), number(4_200_000_000), OP.N2, number(100_000), OP.N5]

describe('ltm', () => {
  it('is the contract of BAMBOO, and says what its inscription says', () => {
    expect(foundIn('bamboo', 0)['ltm']).toEqual({
      tag: 'ltm',
      data: {
        sym: 'BAMBOO',
        max: '1000000000000000',
        dec: 8,
        multiplier: '2000',
        duration: 60_000,
        start: 821_660
      },
      events: ['contract:ltm'],
      owners: []
    })
    expect(ltm(BAMBOO)).toEqual(scriptOf('bamboo'))
  })

  it('has other parameters for other tokens', () => {
    expect(
      decodeLtm(ltm([utf8('¥'), number(2n ** 64n - 1n), OP.N0, OP.N1, OP.N16, number(2 ** 32 - 1)]))
    ).toEqual({ sym: '¥', max: 2n ** 64n - 1n, dec: 0, multiplier: 1n, duration: 16, start: 2 ** 32 - 1 })
    expect(decodeLtm(ltm([utf8('X'), OP.N1, number(18), OP.N1, OP.N1, OP.N1]))?.dec).toBe(18)
  })

  it('has no other form', () => {
    for (const wrong of [
      ltm(BAMBOO.slice(1)),
      ltm([...BAMBOO, OP.N1]),
      ltm(BAMBOO, zeros.slice(1)),
      ltm(BAMBOO, [OP.N1, ...zeros.slice(1)]),
      ltm([Uint8Array.of(0xff), ...BAMBOO.slice(1)]),
      ltm([BAMBOO[0]!, number(-1), ...BAMBOO.slice(2)]),
      ltm([BAMBOO[0]!, number(2n ** 64n), ...BAMBOO.slice(2)]),
      ltm([BAMBOO[0]!, new Uint8Array(9), ...BAMBOO.slice(2)]),
      ltm([BAMBOO[0]!, BAMBOO[1]!, number(19), ...BAMBOO.slice(3)]),
      ltm([...BAMBOO.slice(0, 5), number(2 ** 32)]),
      ltm(BAMBOO).subarray(0, -ltmState.length),
      joined(ltm(BAMBOO).subarray(0, -ltmState.length), Uint8Array.of(OP.NOP), ltmState),
      ltm(BAMBOO).subarray(257 + 1),
      scriptOf('buidl')
    ]) {
      expect(decodeLtm(wrong)).toBeUndefined()
    }
    for (const at of [257, 1000, 2549, 2584, 20_000, 2584 + 29_208]) {
      expect(decodeLtm(ltm(BAMBOO).map((byte, i) => (i === at ? byte ^ 0x40 : byte)))).toBeUndefined()
    }
  })

  it('does not depend on the inscription', () => {
    expect(decodeLtm(ltm(BAMBOO).subarray(257))?.sym).toBe('BAMBOO')
  })
})

describe('pow20', () => {
  const id = `${FIXTURES.buidl}_0`
  /** As the contract goes on: the flag is 0, and the state says which token this is and what is left. */
  const state = (flag: number, token: Uint8Array, supply: Uint8Array): Uint8Array => {
    const values = joined(Uint8Array.of(flag), buildScript([token]), Uint8Array.of(supply.length), supply)
    return joined(Uint8Array.of(OP.RETURN), values, Uint8Array.of(values.length, 0, 0, 0, 0))
  }

  it('is the contract of BUIDL, and says what its inscription says', () => {
    expect(foundIn('buidl', 0)['pow20']).toEqual({
      tag: 'pow20',
      data: {
        sym: 'BUIDL',
        max: '4200000000',
        dec: 2,
        reward: '100000',
        difficulty: 5,
        supply: '4200000000'
      },
      events: ['contract:pow20'],
      owners: []
    })
    expect(pow20(BUIDL)).toEqual(scriptOf('buidl'))
  })

  it('goes on with its token and what is left of it', () => {
    const left = (supply: Uint8Array): unknown => {
      const found = decodePow20(pow20(BUIDL, state(0, utf8(id), supply)))
      return found && [found.id, found.supply]
    }
    expect(left(number(4_199_900_000))).toEqual([id, 4_199_900_000n])
    expect(left(Uint8Array.of(0))).toEqual([id, 0n])
    expect(left(Uint8Array.of(5, 0, 0))).toEqual([id, 5n])
    expect(left(number(-5))).toBeUndefined()
    expect(left(number(2n ** 64n))).toBeUndefined()
  })

  it('has no other form', () => {
    const good = state(0, utf8(id), number(5))
    for (const wrong of [
      pow20(BUIDL.slice(1)),
      pow20([...BUIDL, OP.N1]),
      pow20([Uint8Array.of(0xff), ...BUIDL.slice(1)]),
      pow20([BUIDL[0]!, number(-1), ...BUIDL.slice(2)]),
      pow20([...BUIDL.slice(0, 2), number(19), ...BUIDL.slice(3)]),
      pow20([...BUIDL.slice(0, 3), number(2n ** 64n), OP.N5]),
      pow20([...BUIDL.slice(0, 4), number(257)]),
      pow20(BUIDL, new Uint8Array()),
      pow20(BUIDL, good.subarray(0, -1)),
      pow20(BUIDL, joined(good, Uint8Array.of(0))),
      pow20(BUIDL, state(2, utf8(id), number(5))),
      pow20(BUIDL, state(0, utf8(id.toUpperCase()), number(5))),
      pow20(BUIDL, state(0, utf8('x'), number(5))),
      pow20(
        BUIDL,
        good.map((byte, i) => (i === good.length - 5 ? byte + 1 : byte))
      ),
      pow20(
        BUIDL,
        good.map((byte, i) => (i === good.length - 1 ? 1 : byte))
      ),
      pow20(BUIDL, joined(Uint8Array.of(OP.NOP), good.subarray(1))),
      scriptOf('bamboo')
    ]) {
      expect(decodePow20(wrong)).toBeUndefined()
    }
    for (const at of [285, 1000, 2577, 2596, 20_000, 2596 + 27_488]) {
      expect(decodePow20(pow20(BUIDL).map((byte, i) => (i === at ? byte ^ 0x40 : byte)))).toBeUndefined()
    }
  })
})
