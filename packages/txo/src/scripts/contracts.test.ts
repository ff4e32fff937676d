/** Locks, listings and cosigned payments: templates that differ in a few pushes. */

import { buildScript, OP, writeScriptNumber } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { decodeCosign } from './cosign.ts'
import { decodeLock } from './lock.ts'
import { decodeOrdLock } from './ordlock.ts'
import {
  bitcom,
  bsv21,
  cosign,
  FIXTURES,
  found,
  foundIn,
  inscription,
  joined,
  lock,
  ordLock,
  ordLockWith,
  payout,
  payTo,
  person,
  tagsOf,
  utf8
} from './scripts.testing.ts'

const alice = person(1)
const bob = person(2)
const nop = buildScript([OP.NOP])
const transfer = { op: 'transfer', id: `${FIXTURES.mnee}_0`, amt: '5' }

/** One bit changed, at each of some places. */
const damaged = (script: Uint8Array): Uint8Array[] =>
  [0, 1, 50, 101, 102, 300, script.length - 1]
    .filter(at => at < script.length)
    .map(at => script.map((byte, i) => (i === at ? byte ^ 1 : byte)))

/** Other scripts around one: the template is the lock of the output in the first ones, and not in the others. */
const around = (script: Uint8Array): [Uint8Array[], Uint8Array[]] => [
  [
    script,
    bitcom([['x', 'y']], script),
    inscription({ content: 'x', suffix: script }),
    inscription({ content: 'x', prefix: script }),
    joined(script, bitcom([['x']], inscription({ content: 'x' })))
  ],
  [
    joined(nop, script),
    joined(script, nop),
    buildScript([script]),
    buildScript([script, OP.DROP]),
    joined(buildScript([OP.IF]), script, buildScript([OP.ELSE, OP.ENDIF])),
    inscription({ content: script }),
    joined(payTo(bob), inscription({ content: 'x' }), script),
    bitcom([['x']], joined(nop, script)),
    script.subarray(0, -1),
    script.subarray(1)
  ]
]

describe('lock', () => {
  it('keeps satoshis of an owner until a height', () => {
    for (const until of [0, 1, 16, 17, 127, 128, 850_000, 499_999_999]) {
      expect(decodeLock(lock(alice, until))).toEqual({ address: alice.address, until })
    }
    expect(found(lock(alice, 850_000), { satoshis: 5000 })).toEqual({
      lock: {
        tag: 'lock',
        data: { address: alice.address, until: 850_000 },
        events: ['lock:until:850000'],
        owners: [alice.address]
      }
    })
  })

  it('is none that can never be spent, or that says its height in another way', () => {
    for (const until of [500_000_000, 1_700_000_000, -1, 2n ** 64n, 2n ** 4000n]) {
      expect(decodeLock(lock(alice, until))).toBeUndefined()
    }
    const script = lock(alice, 850_000)
    const at = 102 + 21
    expect(
      decodeLock(
        joined(
          script.subarray(0, at),
          Uint8Array.of(4, ...writeScriptNumber(850_000), 0),
          script.subarray(at + 4)
        )
      )
    ).toBeUndefined()
    expect(decodeLock(joined(script.subarray(0, at), script.subarray(at + 4)))).toBeUndefined()
  })

  it('is the whole lock of the output', () => {
    const [good, bad] = around(lock(alice, 850_000))
    for (const script of good) expect(decodeLock(script)?.until).toBe(850_000)
    for (const script of bad) expect(decodeLock(script)).toBeUndefined()
    for (const script of damaged(lock(alice, 850_000))) {
      expect(decodeLock(script)).not.toEqual(decodeLock(lock(alice, 850_000)))
    }
  })
})

describe('ordlock', () => {
  it('is a real listing', () => {
    expect(foundIn('listing', 0)['ordlock']!.data).toEqual({
      seller: '15WPxBYNpjCXYCynyUp46CHFhRkiJTePBW',
      price: 1_000_000,
      payout: '40420f00000000001976a914f9e2d7875cbe322ef4c50a87611df3e9de566fbc88ac'
    })
  })

  it('has a seller and a price', () => {
    expect(decodeOrdLock(ordLock(alice, 1234))).toEqual({
      seller: alice.address,
      price: 1234,
      payout: payout(1234, payTo(alice))
    })
    expect(decodeOrdLock(ordLock(alice, 0, new Uint8Array()))?.price).toBe(0)
    expect(decodeOrdLock(ordLock(alice, 21e14))?.price).toBe(21e14)
  })

  it('also sells tokens', () => {
    const parsed = found(bsv21(transfer, ordLock(alice, 1234)))
    expect(tagsOf(parsed)).toEqual(['insc', 'bsv21', 'ordlock'])
    expect(parsed['ordlock']).toMatchObject({
      events: ['ordlock:list'],
      owners: [alice.address],
      data: { price: 1234 }
    })
  })

  it('sells a single satoshi', () => {
    for (const satoshis of [0, 2]) expect(found(ordLock(alice, 1), { satoshis })).toEqual({})
  })

  it('has a payout that could be an output', () => {
    const good = payout(1234, payTo(alice))
    for (const wrong of [
      new Uint8Array(),
      good.subarray(0, 8),
      good.subarray(0, -1),
      joined(good, Uint8Array.of(0)),
      payout(21e14 + 1, payTo(alice)),
      joined(new Uint8Array(8).fill(0xff), good.subarray(8)),
      joined(good.subarray(0, 8), new Uint8Array(9).fill(0xff))
    ]) {
      expect(decodeOrdLock(ordLockWith(alice.hash, wrong))).toBeUndefined()
    }
  })

  it('has a seller and a payout, both pushed, and nothing else', () => {
    const good = payout(1234, payTo(alice))
    for (const wrong of [
      [],
      [good],
      [alice.hash],
      [good, alice.hash],
      [alice.hash, good, good],
      [alice.key, good]
    ]) {
      expect(decodeOrdLock(ordLockWith(...wrong))).toBeUndefined()
    }
  })

  it('keeps no payout that is too long', () => {
    const data = (length: number): unknown =>
      found(ordLock(alice, 5, new Uint8Array(length)))['ordlock']!.data
    expect(data(1024 - 11)).toHaveProperty('payout')
    expect(data(1024)).toEqual({ seller: alice.address, price: 5 })
  })

  it('is the whole lock of the output', () => {
    const [good, bad] = around(ordLock(alice, 1234))
    for (const script of good) expect(decodeOrdLock(script)?.price).toBe(1234)
    for (const script of bad) expect(decodeOrdLock(script)).toBeUndefined()
    for (const script of damaged(ordLock(alice, 1234))) {
      expect(decodeOrdLock(script)).not.toEqual(decodeOrdLock(ordLock(alice, 1234)))
    }
  })
})

describe('cosign', () => {
  it('is how MNEE pays', () => {
    expect(foundIn('mneeTransfer', 0)['cosign']!.data).toEqual({
      address: '1G6CB3Ch4zFkPmuhZzEyChQmrQPfi86qk3',
      cosigner: '020a177d6a5e6f3a8689acd2e313bd1cf0dcf5a243d1cc67b7218602aee9e04b2f'
    })
  })

  it('has an owner and a cosigner', () => {
    expect(decodeCosign(cosign(alice, bob))).toEqual({ address: alice.address, cosigner: bob.key })
    expect(found(cosign(alice, bob), { satoshis: 9 })['cosign']).toMatchObject({
      events: [`cosign:${Buffer.from(bob.key).toString('hex')}`],
      owners: [alice.address]
    })
  })

  it('has a compressed key', () => {
    for (const key of [joined(Uint8Array.of(4), bob.key.subarray(1)), bob.key.subarray(1)]) {
      expect(decodeCosign(cosign(alice, { ...bob, key }))).toBeUndefined()
    }
  })

  it('is the whole lock of the output', () => {
    const [good, bad] = around(cosign(alice, bob))
    for (const script of good) expect(decodeCosign(script)?.cosigner).toEqual(bob.key)
    for (const script of bad) expect(decodeCosign(script)).toBeUndefined()
  })

  it('is no payment that one key can spend', () => {
    expect(decodeCosign(payTo(alice))).toBeUndefined()
    expect(found(bsv21(transfer, cosign(alice, bob)))['bsv21']!.owners).toEqual([])
    expect(found(inscription({ content: utf8('x'), suffix: cosign(alice, bob) }))['insc']!.owners).toEqual([])
  })
})
