import { CompletedProtoWallet, LockingScript, PrivateKey, PushDrop } from '@bsv/sdk'
import { buildScript, OP } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePushDrop } from './pushdrop.ts'
import { found, joined, payTo, person, pushDrop, repeated, utf8 } from './scripts.testing.ts'

const { key } = person(1)
const position = fc.constantFrom('before' as const, 'after' as const)

describe('pushdrop', () => {
  it('is what the SDK makes, in both forms and with a signature as the last field', async () => {
    const template = new PushDrop(new CompletedProtoWallet(new PrivateKey(7)))
    for (const where of ['before', 'after'] as const) {
      for (const count of [1, 2, 3, 4, 7]) {
        const fields = Array.from({ length: count }, (_, i) => [...utf8(`field ${i}`)])
        const script = await template.lock([...fields], [1, 'some tokens'], 'k', 'anyone', true, true, where)
        const decoded = decodePushDrop(Uint8Array.from(script.toBinary()))
        expect(decoded?.position).toBe(where)
        expect(decoded?.fields.slice(0, -1).map(field => [...field])).toEqual(fields)
        const theirs = PushDrop.decode(script, where)
        expect(decoded?.fields.map(field => [...field])).toEqual(theirs.fields)
        expect(Buffer.from(decoded!.key).toString('hex')).toBe(theirs.lockingPublicKey.toString())
      }
    }
  })

  it('reads back what was written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1 }),
        position,
        (fields, where) => {
          expect(decodePushDrop(pushDrop(key, fields, where))).toEqual({ key, fields, position: where })
        }
      )
    )
  })

  it('reads the bytes that opcodes push, where the SDK does not', () => {
    const fields = [Uint8Array.of(16), Uint8Array.of(0x81), Uint8Array.of(1)]
    const script = pushDrop(key, fields)
    expect(decodePushDrop(script)?.fields).toEqual(fields)
    expect(PushDrop.decode(LockingScript.fromBinary([...script])).fields[0]).toEqual([])
    expect(decodePushDrop(pushDrop(key, [new Uint8Array()]))?.fields).toEqual([new Uint8Array()])
  })

  it('has no other form', () => {
    const [a, b, c] = [utf8('aa'), utf8('bb'), utf8('cc')] as const
    const lock = [key, OP.CHECKSIG]
    for (const wrong of [
      lock,
      [...lock, a],
      [...lock, OP.DROP],
      [...lock, a, OP['2DROP']],
      [...lock, a, b, OP.DROP, OP.DROP],
      [...lock, a, b, OP['2DROP'], OP.DROP],
      [...lock, a, b, c, OP.DROP, OP['2DROP']],
      [...lock, a, b, c, OP['2DROP'], OP['2DROP']],
      [...lock, a, b, OP['2DROP'], OP.NOP],
      [...lock, a, OP.NOP, OP.DROP],
      [OP.NOP, ...lock, a, OP.DROP],
      [key, OP.DROP, a, OP.DROP],
      [key, OP.CHECKSIGVERIFY, a, OP.DROP],
      [a, OP.DROP, key, OP.CHECKSIGVERIFY],
      [a, OP.DROP, ...lock, OP.NOP],
      [a, b, OP.DROP, ...lock],
      [OP.DROP, ...lock],
      [...lock, a, OP.DROP, ...lock]
    ]) {
      expect(decodePushDrop(buildScript(wrong))).toBeUndefined()
    }
    for (const wrong of [
      key.subarray(1),
      joined(Uint8Array.of(4), key.subarray(1)),
      joined(key, key.subarray(1, 33))
    ]) {
      for (const where of ['before', 'after'] as const) {
        expect(decodePushDrop(pushDrop(wrong, [a], where))).toBeUndefined()
      }
    }
    expect(decodePushDrop(joined(Uint8Array.of(0x4c), pushDrop(key, [a])))).toBeUndefined()
    expect(decodePushDrop(payTo(person(1)))).toBeUndefined()
  })

  it('says its key as an event, and keeps short fields whole', () => {
    const hexKey = Buffer.from(key).toString('hex')
    expect(found(pushDrop(key, [utf8('a'), utf8('bc')]), { satoshis: 5 })).toEqual({
      pushdrop: {
        tag: 'pushdrop',
        data: { key: hexKey, position: 'before', fields: ['61', '6263'] },
        events: [`pushdrop:key:${hexKey}`],
        owners: []
      }
    })
    expect(found(pushDrop(key, [new Uint8Array(4096), utf8('x')], 'after'))['pushdrop']!.data).toEqual({
      key: hexKey,
      position: 'after',
      sizes: [4096, 1]
    })
  })

  it('has at most 1,024 fields', () => {
    const many = (count: number): Uint8Array =>
      joined(
        buildScript([key, OP.CHECKSIG]),
        repeated(Uint8Array.of(OP.N1), count),
        repeated(Uint8Array.of(OP['2DROP']), count / 2)
      )
    expect(decodePushDrop(many(1024))?.fields).toHaveLength(1024)
    expect(decodePushDrop(many(1026))).toBeUndefined()
    expect(decodePushDrop(many(4_000_000))).toBeUndefined()
  })
})
