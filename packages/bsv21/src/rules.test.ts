/** The rules of BSV21, one by one, and where other implementations got them wrong. */

import { type Output, sha256, type Transaction } from '@quoin/chain'
import { makeOutpoint, type TokenId, type Txid } from '@quoin/primitives'
import { type Bsv21, decodeBsv21 } from '@quoin/txo'
import { describe, expect, it } from 'vitest'
import { evaluateToken, type TokenEvaluation, tokenOutputs } from './rules.ts'
import {
  auth,
  binary,
  burn,
  deployAuth,
  deployMint,
  mint,
  paidTo,
  person,
  tokenIdOf,
  tokenOutput,
  transfer,
  unsigned
} from './tokens.testing.ts'

const alice = person(1)
const bob = paidTo(person(2))
const FUNDING = [{ txid: sha256(Uint8Array.of(1)) as Txid, vout: 0 }]
const MAX = 2n ** 64n - 1n

const make = (...outputs: Output[]): Transaction => unsigned(FUNDING, outputs)
const GOLD = tokenIdOf(make(deployMint(alice, 1000n, { sym: 'GOLD' })))

/** The claim of an output, as if it were valid. */
const valid = (output: Output): Bsv21 => decodeBsv21(output.script, makeOutpoint(FUNDING[0]!.txid, 0))!

const evaluated = (token: TokenId, spent: readonly Output[], ...outputs: Output[]): TokenEvaluation =>
  evaluateToken(tokenOutputs(make(...outputs), token), spent.map(valid))
const goodOf = (token: TokenId, spent: readonly Output[], ...outputs: Output[]): readonly number[] =>
  evaluated(token, spent, ...outputs).valid

describe('transfers and burns', () => {
  it('are valid when what comes in covers them', () => {
    expect(goodOf(GOLD, [transfer(GOLD, 10n, bob)], transfer(GOLD, 4n, bob), burn(GOLD, 6n))).toEqual([0, 1])
  })

  it('are all refused when it does not, also those that it would cover', () => {
    const { valid: none, refused } = evaluated(
      GOLD,
      [transfer(GOLD, 10n, bob)],
      transfer(GOLD, 4n, bob),
      burn(GOLD, 7n)
    )
    expect(none).toEqual([])
    expect([...refused]).toEqual([
      [0, 'insufficient'],
      [1, 'insufficient']
    ])
  })

  it('burn what they leave over', () => {
    const all = evaluated(GOLD, [transfer(GOLD, 10n, bob)], transfer(GOLD, 4n, bob), burn(GOLD, 1n))
    expect(all).toMatchObject({ input: 10n, output: 4n, burned: 6n, minted: 0n })
  })

  it('burn all that comes in when they are refused', () => {
    const all = evaluated(GOLD, [transfer(GOLD, 10n, bob)], transfer(GOLD, 11n, bob))
    expect(all).toMatchObject({ input: 10n, output: 0n, burned: 10n })
  })

  it('take mints and the deployment for amounts as well', () => {
    const spent = [mint(GOLD, 3n, bob), transfer(GOLD, 4n, bob)]
    expect(goodOf(GOLD, spent, transfer(GOLD, 7n, bob))).toEqual([0])
  })

  it('get nothing from a burn that is spent', () => {
    expect(goodOf(GOLD, [burn(GOLD, 10n)], transfer(GOLD, 1n, bob))).toEqual([])
  })

  it('get nothing from an auth', () => {
    expect(goodOf(GOLD, [auth(GOLD, bob)], transfer(GOLD, 1n, bob))).toEqual([])
  })

  it('sum beyond 2^64 without wrapping to something small', () => {
    const half = 2n ** 63n
    expect(goodOf(GOLD, [], transfer(GOLD, half, bob), transfer(GOLD, half, bob))).toEqual([])
    expect(
      goodOf(GOLD, [transfer(GOLD, MAX, bob)], transfer(GOLD, MAX, bob), transfer(GOLD, 1n, bob))
    ).toEqual([])
    const rich = [transfer(GOLD, MAX, bob), transfer(GOLD, MAX, bob)]
    expect(goodOf(GOLD, rich, transfer(GOLD, MAX, bob), transfer(GOLD, MAX, bob))).toEqual([0, 1])
  })

  it('of nothing are no claims at all', () => {
    expect(tokenOutputs(make(transfer(GOLD, 0n, bob), burn(GOLD, 0n), mint(GOLD, 0n, bob))).size).toBe(0)
  })
})

describe('mints and auths', () => {
  it('are valid when an auth comes in, however much they make', () => {
    expect(
      goodOf(GOLD, [auth(GOLD, bob)], mint(GOLD, MAX, bob), mint(GOLD, MAX, bob), auth(GOLD, bob))
    ).toEqual([0, 1, 2])
    expect(evaluated(GOLD, [auth(GOLD, bob)], mint(GOLD, MAX, bob), mint(GOLD, 1n, bob)).minted).toBe(
      2n ** 64n
    )
  })

  it('are refused when only amounts come in', () => {
    const { valid: none, refused } = evaluated(
      GOLD,
      [transfer(GOLD, 10n, bob)],
      mint(GOLD, 1n, bob),
      auth(GOLD, bob)
    )
    expect(none).toEqual([])
    expect([...refused.values()]).toEqual(['unauthorized', 'unauthorized'])
  })

  it('do not decide on transfers, nor transfers on them', () => {
    expect(goodOf(GOLD, [auth(GOLD, bob)], mint(GOLD, 5n, bob), transfer(GOLD, 5n, bob))).toEqual([0])
    const both = [auth(GOLD, bob), transfer(GOLD, 5n, bob)]
    expect(goodOf(GOLD, both, mint(GOLD, 5n, bob), transfer(GOLD, 5n, bob))).toEqual([0, 1])
  })

  it('do not let what is minted be moved in the same transaction', () => {
    expect(goodOf(GOLD, [auth(GOLD, bob)], mint(GOLD, 5n, bob), transfer(GOLD, 5n, bob))).toEqual([0])
  })
})

describe('binary values', () => {
  const value = (amount: bigint): Output => binary(GOLD, amount, bob)

  it('without an authority are moved, together with transfers and burns', () => {
    const spent = [value(6n), transfer(GOLD, 4n, bob)]
    expect(goodOf(GOLD, spent, value(3n), transfer(GOLD, 5n, bob), burn(GOLD, 2n))).toEqual([0, 1, 2])
    const { valid: none, refused } = evaluated(GOLD, spent, value(6n), transfer(GOLD, 5n, bob))
    expect(none).toEqual([])
    expect([...refused.values()]).toEqual(['insufficient', 'insufficient'])
  })

  it('with an authority are minted, beyond what the inputs pay for', () => {
    const spent = [binary(GOLD, 0n, bob), value(6n)]
    expect(evaluated(GOLD, spent, value(4n), value(5n))).toMatchObject({
      valid: [0, 1],
      output: 6n,
      minted: 3n,
      mintedBinary: 3n,
      burned: 0n
    })
    expect(evaluated(GOLD, spent, value(4n))).toMatchObject({ output: 4n, minted: 0n, burned: 2n })
  })

  it('with an authority get what transfers and burns leave', () => {
    const spent = [auth(GOLD, bob), transfer(GOLD, 10n, bob)]
    expect(
      evaluated(GOLD, spent, transfer(GOLD, 4n, bob), burn(GOLD, 3n), value(5n), mint(GOLD, 7n, bob))
    ).toMatchObject({ valid: [0, 1, 2, 3], output: 7n, burned: 3n, minted: 9n, mintedBinary: 2n })
  })

  it('with an authority are valid where transfers are not', () => {
    const spent = [auth(GOLD, bob), transfer(GOLD, 3n, bob)]
    expect(evaluated(GOLD, spent, transfer(GOLD, 4n, bob), value(5n))).toMatchObject({
      valid: [1],
      output: 3n,
      burned: 0n,
      minted: 2n
    })
  })

  it('may be paid for by JSON outputs, and pay for them', () => {
    expect(goodOf(GOLD, [transfer(GOLD, 5n, bob)], value(5n))).toEqual([0])
    expect(goodOf(GOLD, [value(5n)], transfer(GOLD, 5n, bob))).toEqual([0])
    expect(goodOf(GOLD, [mint(GOLD, 5n, bob)], value(5n))).toEqual([0])
  })

  it('and authorities authorise in both forms', () => {
    expect(goodOf(GOLD, [binary(GOLD, 0n, bob)], mint(GOLD, 5n, bob), auth(GOLD, bob))).toEqual([0, 1])
    expect(goodOf(GOLD, [auth(GOLD, bob)], value(5n), binary(GOLD, 0n, bob))).toEqual([0, 1])
    expect(goodOf(GOLD, [value(5n)], binary(GOLD, 0n, bob))).toEqual([])
  })
})

describe('deployments', () => {
  it('are always valid, and belong to the token of their own output', () => {
    const made = make(deployMint(alice, 7n), deployAuth(alice), deployMint(alice, 9n))
    for (const vout of [0, 1, 2]) {
      expect(evaluateToken(tokenOutputs(made, tokenIdOf(made, vout)), []).valid).toEqual([vout])
    }
  })
})

describe('each token is evaluated on its own', () => {
  it('whose claims are in the same transaction', () => {
    const other = tokenIdOf(make(deployMint(alice, 5n)), 3)
    const spent = [transfer(GOLD, 5n, bob)]
    expect(
      goodOf(GOLD, spent, transfer(GOLD, 5n, bob), transfer(other, 500n, bob), deployMint(alice, 5n))
    ).toEqual([0])
  })

  it.each([
    ['in capitals', (id: string) => id.toUpperCase()],
    ['with a dot', (id: string) => id.replace('_', '.')],
    ['with a zero before the number', (id: string) => id.replace('_', '_0')],
    ['with an i', (id: string) => id.replace('_', 'i')],
    ['with a space behind it', (id: string) => `${id} `]
  ])('whose name is written %s, which is the name of none', (_, alias) => {
    expect(tokenOutputs(make(transfer(alias(GOLD), 5n, bob))).size).toBe(0)
  })
})

describe('amounts and names that are not what they should be are no claims', () => {
  it.each([
    ['a number', { op: 'transfer', id: GOLD, amt: 5 }],
    ['negative', { op: 'transfer', id: GOLD, amt: '-5' }],
    ['nothing', { op: 'transfer', id: GOLD, amt: '0' }],
    ['one more than fits', { op: 'transfer', id: GOLD, amt: `${2n ** 64n}` }],
    ['of an auth', { op: 'auth', id: GOLD, amt: '5' }],
    ['of no operation', { op: 'steal', id: GOLD, amt: '5' }],
    ['of an operation that is no text', { op: ['transfer'], id: GOLD, amt: '5' }],
    ['of a token that is no text', { op: 'transfer', id: { toString: GOLD }, amt: '5' }]
  ])('%s', (_, fields) => {
    expect(tokenOutputs(make(tokenOutput(fields, bob))).size).toBe(0)
  })
})
