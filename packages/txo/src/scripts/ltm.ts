/**
 * `ltm`: the supply of a BSV21 token under a contract that gives tokens for locked satoshis (lock to mint). The script
 * behind the inscription, as compiled by sCrypt:
 *
 *     ‹library, 2,293 bytes› OP_0 × 7 ‹symbol› ‹max supply› ‹decimals› ‹multiplier› ‹duration› ‹start height›
 *     ‹code, 29,209 bytes› OP_RETURN ‹state›
 *
 * The state is not read.
 */
import { OP } from '@quoin/primitives'
import { scriptEvents } from './events.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { amountOf, FixedPart, readContract, smallNumberOf } from './template.ts'
import { textOf } from './text.ts'
import type { ScriptView } from './view.ts'

export interface Ltm {
  readonly sym: string
  /** The maximum supply. */
  readonly max: bigint
  readonly dec: number
  /** Smallest units of the token for each locked satoshi. */
  readonly multiplier: bigint
  /** Blocks. */
  readonly duration: number
  /** The first height at which tokens are given. */
  readonly start: number
}

/** Constants and curve arithmetic that sCrypt puts before every contract with its own signature check. */
export const SCRYPT_LIBRARY = new FixedPart({
  begins: '0100010001510163',
  length: 2293,
  sha256: '0387e0a1dc0ba4141c5085b4fdbdebcbcc69d1cd3f13bfd70260700653bb7421'
})

const CODE = new FixedPart({
  begins: '615479011c7a75',
  length: 29_209,
  sha256: '807be8f2b3fb5e61e7da041bfebfca9550aba60cb7eb36ca052e1d1a0d8f4538'
})

/** The OP_0 placeholders that sCrypt writes for values of the state. */
const PLACES = 7
const MAX_U32 = 0xffffffff

export const decodeLtm = (script: Uint8Array | ScriptView): Ltm | undefined => {
  const contract = readContract(script, SCRYPT_LIBRARY, PLACES + 6, CODE)
  if (!contract || contract.lock[contract.end] !== OP.RETURN) return undefined
  const values = contract.values.slice(PLACES)
  const sym = textOf(values[0])
  const max = amountOf(values[1]!)
  const dec = smallNumberOf(values[2]!, 18)
  const multiplier = amountOf(values[3]!)
  const duration = smallNumberOf(values[4]!, MAX_U32)
  const start = smallNumberOf(values[5]!, MAX_U32)
  return contract.values.slice(0, PLACES).every(({ length }) => length === 0) &&
    sym !== undefined &&
    max !== undefined &&
    dec !== undefined &&
    multiplier !== undefined &&
    duration !== undefined &&
    start !== undefined
    ? { sym, max, dec, multiplier, duration, start }
    : undefined
}

export const ltmParser: ScriptParser = {
  tag: 'ltm',
  about: 'Contracts that mint tokens for locks.',
  parse(view) {
    const found = decodeLtm(view)
    return (
      found && {
        data: { ...found, max: found.max.toString(), multiplier: found.multiplier.toString() },
        events: [scriptEvents.types.contract.text('ltm')],
        owners: NONE
      }
    )
  }
}
