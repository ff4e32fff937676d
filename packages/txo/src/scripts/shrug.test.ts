import {
  buildScript,
  formatOutpoint,
  makeOutpoint,
  OP,
  type Txid,
  writeScriptNumber
} from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bitcom,
  found,
  joined,
  OUTPOINT,
  payTo,
  person,
  shrug,
  utf8,
  wireOutpoint
} from './scripts.testing.ts'
import { decodeShrug } from './shrug.ts'

const alice = person(1)
const TOKEN = makeOutpoint(new Uint8Array(32).fill(7) as Txid, 258)
const SELF = formatOutpoint(OUTPOINT, '_')
const ID = formatOutpoint(TOKEN, '_')

describe('shrug', () => {
  it.each([
    ['deploy+mint', undefined, 1000n, SELF],
    ['deploy+auth', undefined, 0n, SELF],
    ['transfer', TOKEN, 1000n, ID],
    ['auth', TOKEN, 0n, ID]
  ] as const)('is a %s', (op, token, amt, id) => {
    const script = shrug(token, amt)
    expect(decodeShrug(script, OUTPOINT)).toEqual({ op, id, amt, lock: script.length - 25 })
    expect(found(script)['shrug']).toEqual({
      tag: 'shrug',
      data: { id, op, ...(amt > 0n && { amt: '1000' }) },
      events: [`shrug:id:${id}`, ...(token ? [] : [`shrug:op:${op}`])],
      owners: [alice.address]
    })
  })

  it('has amounts of up to 32 bytes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 255n - 1n }), amt => {
        expect(decodeShrug(shrug(TOKEN, amt), OUTPOINT)?.amt).toBe(amt)
      })
    )
    expect(decodeShrug(shrug(TOKEN, 2n ** 255n), OUTPOINT)).toBeUndefined()
    expect(decodeShrug(shrug(TOKEN, 2n ** 80_000n), OUTPOINT)).toBeUndefined()
    expect(decodeShrug(shrug(TOKEN, -1n), OUTPOINT)).toBeUndefined()
  })

  it('knows its owner where the rest is a P2PKH', () => {
    const owners = (suffix: Uint8Array): readonly string[] => found(shrug(TOKEN, 5n, suffix))['shrug']!.owners
    expect(owners(payTo(alice))).toEqual([alice.address])
    expect(owners(bitcom([['x']], payTo(alice)))).toEqual([alice.address])
    expect(owners(new Uint8Array())).toEqual([])
    expect(owners(joined(payTo(alice), buildScript([OP.NOP])))).toEqual([])
  })

  it('has no other form', () => {
    const tag = utf8('¯\\_(ツ)_/¯')
    const token = wireOutpoint(TOKEN)
    const amount = writeScriptNumber(5)
    for (const wrong of [
      [tag],
      [tag, token],
      [tag, token, OP['2DROP']],
      [tag, token, OP['2DROP'], amount],
      [tag, token, OP.DROP, amount, OP.DROP],
      [tag, token, OP['2DROP'], amount, OP['2DROP']],
      [tag, token.subarray(1), OP['2DROP'], amount, OP.DROP],
      [tag, OP.N1, OP['2DROP'], amount, OP.DROP],
      [tag, token, OP['2DROP'], Uint8Array.of(5, 0), OP.DROP],
      [tag, token, OP['2DROP'], OP.NOP, OP.DROP],
      [tag, OP.NOP, OP['2DROP'], amount, OP.DROP],
      [tag.subarray(1), token, OP['2DROP'], amount, OP.DROP],
      [OP.NOP, tag, token, OP['2DROP'], amount, OP.DROP]
    ]) {
      expect(decodeShrug(buildScript(wrong), OUTPOINT)).toBeUndefined()
    }
  })
})
