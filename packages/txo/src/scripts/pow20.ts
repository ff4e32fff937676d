/**
 * `pow20`: the supply of a BSV21 token under a contract that gives tokens for proof of work. Behind the inscription:
 *
 *     ‹library, 2,293 bytes› ‹symbol› ‹max supply› ‹decimals› ‹reward› ‹difficulty› ‹code, 27,489 bytes›
 *     OP_RETURN ‹1 in the deployment, later 0› ‹id› ‹supply› ‹length of the state, 4 bytes› 00
 *
 * In the deployment, id and supply are a zero byte each: the id is the outpoint, and the whole supply is left.
 */

import { OP, type TokenId } from '@quoin/primitives'
import { isTokenId } from './bsv21.ts'
import { scriptEvents } from './events.ts'
import { SCRYPT_LIBRARY } from './ltm.ts'
import { NONE, type ScriptParser } from './parser.ts'
import { amountOf, FixedPart, readContract, readPushes, smallNumberOf } from './template.ts'
import { textOf } from './text.ts'
import type { ScriptView } from './view.ts'

export interface Pow20 {
  readonly sym: string
  /** The maximum supply. */
  readonly max: bigint
  readonly dec: number
  /** Tokens for each solution. */
  readonly reward: bigint
  readonly difficulty: number
  /** The token; undefined in its deployment. */
  readonly id: TokenId | undefined
  /** The supply left to mint. */
  readonly supply: bigint
}

const CODE = new FixedPart({
  begins: '61537901147a75',
  length: 27_489,
  sha256: 'a3785ef74c2a9899e6ba6e5be6f3f9e0db515a553f3ed2e030fea90df2dfa19c'
})

export const decodePow20 = (script: Uint8Array | ScriptView): Pow20 | undefined => {
  const contract = readContract(script, SCRYPT_LIBRARY, 5, CODE)
  if (!contract) return undefined
  const { lock, values, end } = contract
  const sym = textOf(values[0])
  const max = amountOf(values[1]!)
  const dec = smallNumberOf(values[2]!, 18)
  const reward = amountOf(values[3]!)
  const difficulty = smallNumberOf(values[4]!, 256)
  if (
    sym === undefined ||
    max === undefined ||
    dec === undefined ||
    reward === undefined ||
    difficulty === undefined
  ) {
    return undefined
  }
  const state = readState(lock, end, max)
  return state && { sym, max, dec, reward, difficulty, ...state }
}

const readState = (
  lock: Uint8Array,
  at: number,
  max: bigint
): { id: TokenId | undefined; supply: bigint } | undefined => {
  const first = lock[at + 1]
  const pushes = lock[at] === OP.RETURN ? readPushes(lock, at + 2, 2) : undefined
  if (!pushes || pushes.end + 5 !== lock.length) return undefined
  const length = new DataView(lock.buffer, lock.byteOffset + pushes.end, 4).getUint32(0, true)
  if (length !== pushes.end - at - 1 || lock[pushes.end + 4] !== 0) return undefined
  if (first === 1) return { id: undefined, supply: max }
  const id = textOf(pushes.values[0])
  const supply = amountOf(pushes.values[1]!, { minimal: false })
  return first === 0 && isTokenId(id) && supply !== undefined ? { id, supply } : undefined
}

export const pow20Parser: ScriptParser = {
  tag: 'pow20',
  about: 'Contracts that mint tokens for work.',
  parse(view) {
    const found = decodePow20(view)
    if (!found) return undefined
    const { sym, max, dec, reward, difficulty, id, supply } = found
    return {
      data: {
        sym,
        max: max.toString(),
        dec,
        reward: reward.toString(),
        difficulty,
        ...(id !== undefined && { id }),
        supply: supply.toString()
      },
      events: [scriptEvents.types.contract.text('pow20')],
      owners: NONE
    }
  }
}
