/** AIP and SIGMA signatures, and the BAP records that are signed by them. */
import { BigNumber, BSM, PrivateKey, type Signature } from '@bsv/sdk'
import { sha256 } from '@quoin/chain'
import { makeOutpoint, OP } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { decodeAip } from './aip.ts'
import { decodeBap } from './bap.ts'
import { decodeBitcom } from './bitcom.ts'
import {
  AIP,
  authored,
  B,
  BAP,
  bitcom,
  countingLooks,
  fixture,
  found,
  foundIn,
  hex,
  inscription,
  joined,
  MAP,
  payTo,
  person,
  repeated,
  scriptOf,
  signMessage,
  utf8,
  withSigma
} from './scripts.testing.ts'
import { decodeSigma } from './sigma.ts'
import { readSignature, signerOf } from './signed-message.ts'

const alice = person(1)
const bob = person(2)
const POST = [
  [B, 'Hello', 'text/plain'],
  [MAP, 'SET', 'app', 'x', 'type', 'post']
]

describe('signed messages', () => {
  it('are those of the SDK', () => {
    for (let i = 1; i < 20; i++) {
      const key = new PrivateKey(i)
      const message = [...utf8(`message ${i}`)]
      const signature = BSM.sign(message, key, 'raw') as Signature
      const recovery = signature.CalculateRecoveryFactor(
        key.toPublicKey(),
        new BigNumber(BSM.magicHash(message))
      )
      const compact = Uint8Array.from(signature.toCompact(recovery, true) as number[])
      expect(signerOf(Uint8Array.from(message), compact)).toBe(key.toAddress())
      expect(signerOf(utf8('another'), compact)).not.toBe(key.toAddress())
    }
  })

  it('have nobody who signed where the signature is none', () => {
    const signature = signMessage(alice, utf8('x'))
    expect(signerOf(utf8('x'), signature)).toBe(alice.address)
    for (const flag of [0, 26, 35, 255]) {
      expect(signerOf(utf8('x'), joined(Uint8Array.of(flag), signature.subarray(1)))).toBeUndefined()
    }
    for (const wrong of [
      signature.subarray(1),
      joined(signature, hex('00')),
      new Uint8Array(65).fill(31),
      joined(hex('1f'), new Uint8Array(64)),
      joined(hex('1f'), new Uint8Array(64).fill(0xff))
    ]) {
      expect(signerOf(utf8('x'), wrong)).not.toBe(alice.address)
    }
  })

  it('are written as bytes or as base64', () => {
    const signature = signMessage(alice, utf8('x'))
    const text = Buffer.from(signature).toString('base64')
    expect(readSignature(signature)).toEqual(signature)
    expect(readSignature(utf8(text))).toEqual(signature)
    for (const wrong of [text.replace('=', ' '), text.slice(1), `${text}=`, `*${text.slice(1)}`, '']) {
      expect(readSignature(utf8(wrong))).toBeUndefined()
    }
    expect(readSignature(undefined)).toBeUndefined()
  })
})

describe('aip', () => {
  const valid = (protocols: ReturnType<typeof authored>): boolean[] =>
    decodeAip(bitcom(protocols)).map(each => each.valid)

  it('holds in real transactions, with signatures as bytes and as base64', () => {
    expect(decodeAip(scriptOf('identity')).map(each => each.valid)).toEqual([true])
    expect(decodeAip(scriptOf('like', 3)).map(each => each.valid)).toEqual([true])
    expect(decodeAip(scriptOf('map', 2)).map(each => each.valid)).toEqual([true])
  })

  it('holds for the second author over the first one', () => {
    expect(decodeAip(scriptOf('twoAuthors'))).toMatchObject([
      { segment: 1, address: '1EXhSbGFiEAZCE5eeBvUxT6cBVHhrpPWXz', valid: true },
      { segment: 2, address: '19nknLhRnGKRR3hobeFuuqmHUMiNTKZHsR', valid: true }
    ])
    expect(valid(authored(authored(POST, alice), bob))).toEqual([true, true])
  })

  it('holds for Twetch, which signs a hash', () => {
    expect(decodeAip(scriptOf('twetch'))).toMatchObject([{ valid: true }])
  })

  it('does not hold where a byte that is signed was changed', () => {
    const script = scriptOf('twoAuthors')
    const { segments } = decodeBitcom(script)!
    const changed = (at: number): boolean[] =>
      decodeAip(script.map((byte, i) => (i === at ? byte ^ 1 : byte))).map(each => each.valid)
    expect(changed(segments[0]!.start + 40)).toEqual([false, false])
    expect(changed(segments[2]!.start - 3)).toEqual([false, false])
    expect(changed(segments[2]!.end - 3)).toEqual([true, false])
  })

  it('is told to be false by two real transactions', () => {
    for (const [name, vout] of [
      ['hello', 0],
      ['reply', 3]
    ] as const) {
      expect(decodeAip(scriptOf(name, vout)).map(each => each.valid)).toEqual([false])
      expect(foundIn(name, vout)['aip']!.events).toEqual([])
    }
  })

  it('is somebody else’s where the address is', () => {
    expect(valid(authored(POST, alice, { address: bob.address }))).toEqual([false])
    expect(valid(authored(POST, alice, { address: '' }))).toEqual([false])
  })

  it('may list its fields, if it lists all of them', () => {
    // OP_RETURN, three fields, a separator, six fields, a separator.
    const all = Array.from({ length: 12 }, (_, i) => i)
    expect(valid(authored(POST, alice, { indexes: all }))).toEqual([true])
    for (const indexes of [all.slice(1), all.slice(0, -1), [...all, 12], [0], [1, 0, ...all.slice(2)]]) {
      expect(valid(authored(POST, alice, { indexes }))).toEqual([false])
    }
  })

  it('signs nothing where nothing stands before it', () => {
    const signature = signMessage(alice, Uint8Array.of(OP.RETURN))
    expect(valid([[AIP, 'BITCOIN_ECDSA', alice.address, signature]])).toEqual([false])
  })

  it('signs data: an opcode among it makes it false', () => {
    const post = bitcom(authored(POST, alice))
    const { segments } = decodeBitcom(post)!
    const at = segments[1]!.start
    const withOpcode = joined(post.subarray(0, at), Uint8Array.of(OP.NOP), post.subarray(at))
    expect(decodeAip(withOpcode).map(each => each.valid)).toEqual([false])
    expect(decodeAip(post).map(each => each.valid)).toEqual([true])
  })

  it('does not reach what stands before the OP_RETURN', () => {
    const protocols = authored(POST, alice)
    for (const before of [new Uint8Array(), payTo(bob), inscription({ content: 'x' })]) {
      expect(decodeAip(bitcom(protocols, before)).map(each => each.valid)).toEqual([true])
    }
  })

  it('knows its algorithms', () => {
    const [first, second, aip] = authored(POST, alice) as [
      string[],
      string[],
      [string, string, ...Uint8Array[]]
    ]
    const algorithm = (name: string | Uint8Array): boolean[] =>
      valid([first, second, [aip[0], name, ...aip.slice(2)]])
    expect(algorithm('BitcoinSignedMessage')).toEqual([true])
    expect(algorithm('paymail')).toEqual([false])
    expect(algorithm(hex('ff'))).toEqual([])
  })

  it('says each signer once', () => {
    const script = bitcom(authored(authored(authored(POST, alice), bob), alice))
    expect(found(script)['aip']!.events).toEqual([`signer:${alice.address}`, `signer:${bob.address}`])
  })

  it('reads 16 signatures of a hundred thousand', () => {
    const segment = joined(
      hex('01 7c'),
      bitcom([[AIP, 'BITCOIN_ECDSA', alice.address, new Uint8Array(65)]]).subarray(2)
    )
    const script = joined(bitcom(POST), repeated(segment, 100_000))
    const { looks, result } = countingLooks(() => decodeAip(script))
    expect(result).toHaveLength(16)
    expect(looks).toBeLessThan(2000)
  })
})

describe('bap', () => {
  it('is the identity of a real transaction, with the one who signed it', () => {
    expect(foundIn('identity', 0)['bap']!.data).toEqual({
      type: 'ID',
      id: '37NZo9dpXFLGzaXY9zi5AQK9miLG',
      address: '13TqUMS2zgJxqQ9Rk172WLtuBooqipn1kp',
      signers: ['14Y7ytoMXYFyz6Fmx2ykSa9Fhrnz7RCjvN']
    })
  })

  it.each([
    ['ID', 'key', '1abc', { id: 'key', address: '1abc' }, 'bap:id:key'],
    ['ALIAS', 'key', '{"name":"x"}', { id: 'key', profile: '{"name":"x"}' }, 'bap:id:key'],
    ['ATTEST', 'a1b2', '7', { urn: 'a1b2', sequence: 7 }, 'bap:urn:a1b2'],
    ['REVOKE', 'a1b2', '8', { urn: 'a1b2', sequence: 8 }, 'bap:urn:a1b2'],
    ['DATA', 'a1b2', 'text', { urn: 'a1b2', data: 'text' }, 'bap:urn:a1b2']
  ])('%s', (type, key, value, data, event) => {
    const { bap } = found(bitcom(authored([[BAP, type, key, value]], alice)))
    expect(bap).toMatchObject({
      data: { type, ...data, signers: [alice.address] },
      events: [`bap:type:${type}`, event]
    })
  })

  it('is signed only by signatures behind it that hold', () => {
    const record = [BAP, 'ID', 'key', 'x']
    expect(decodeBap(bitcom([record]))?.signers).toEqual([])
    expect(decodeBap(bitcom([...authored(POST, alice), record]))?.signers).toEqual([])
    expect(decodeBap(bitcom(authored([record], alice, { address: bob.address })))?.signers).toEqual([])
    expect(decodeBap(bitcom(authored(authored([record], alice), bob)))?.signers).toEqual([
      alice.address,
      bob.address
    ])
  })

  it('has no other form', () => {
    for (const fields of [
      [],
      ['ID'],
      ['ID', 'key'],
      ['ID', '', 'x'],
      ['id', 'key', 'x'],
      ['OTHER', 'key', 'x'],
      ['ATTEST', 'a1', ''],
      ['ATTEST', 'a1', '-1'],
      ['ATTEST', 'a1', '01'],
      ['ATTEST', 'a1', '9'.repeat(16)],
      ['ID', hex('ff'), 'x'],
      ['ID', 'key', hex('ff')],
      ['ID', 'x'.repeat(257), 'x'],
      ['ALIAS', 'key', 'x'.repeat(16_385)]
    ]) {
      expect(decodeBap(bitcom([[BAP, ...fields]]))).toBeUndefined()
    }
  })

  it('cannot say an event of a token', () => {
    const id = `${'a'.repeat(64)}_0`
    expect(found(bitcom([[BAP, 'ID', id, 'x']]))['bap']!.events).toEqual(['bap:type:ID', `bap:id:${id}`])
  })
})

describe('sigma', () => {
  const check = (transaction: ReturnType<typeof withSigma>, vout = 0): boolean[] =>
    decodeSigma(transaction.outputs[0]!.script, { transaction, vout }).map(each => each.valid)

  it('holds in real transactions', () => {
    for (const name of ['musashi', 'mcp'] as const) {
      const transaction = fixture(name)
      expect(decodeSigma(scriptOf(name), { transaction, vout: 0 })).toMatchObject([
        { algorithm: 'BSM', vin: 0, valid: true }
      ])
    }
  })

  it('does not hold without the transaction, or in another one', () => {
    expect(decodeSigma(scriptOf('musashi'))).toMatchObject([{ valid: false }])
    expect(found(scriptOf('musashi'))['sigma']!.events).toEqual([])
    expect(decodeSigma(scriptOf('musashi'), { transaction: fixture('mcp'), vout: 0 })).toMatchObject([
      { valid: false }
    ])
  })

  it('does not hold where any byte before it was changed', () => {
    const transaction = fixture('mcp')
    const script = scriptOf('mcp')
    for (const at of [2, 1000, 11_540, 11_600]) {
      const changed = script.map((byte, i) => (i === at ? byte ^ 1 : byte))
      expect(decodeSigma(changed, { transaction, vout: 0 }).every(({ valid }) => !valid)).toBe(true)
    }
  })

  it('signs a script with data behind an OP_RETURN, and one without', () => {
    for (const script of [payTo(alice), bitcom([['x', 'y']], payTo(alice)), inscription({ content: 'x' })]) {
      expect(check(withSigma(script, bob))).toEqual([true])
    }
  })

  it('signs the input that it names; −1 is that of the output', () => {
    expect(check(withSigma(payTo(alice), bob, { vin: 2, inputs: 3 }))).toEqual([true])
    expect(check(withSigma(payTo(alice), bob, { vin: -1, inputs: 3 }))).toEqual([true])
    expect(check(withSigma(payTo(alice), bob, { vin: -1, inputs: 3 }), 1)).toEqual([false])
    const missing = withSigma(payTo(alice), bob, { vin: -1, inputs: 1 })
    expect(check(missing, 5)).toEqual([false])
  })

  it('says its signer', () => {
    const transaction = withSigma(payTo(alice), bob)
    const { script } = transaction.outputs[0]!
    expect(
      found(script, { transaction, outpoint: makeOutpoint(transaction.txid, 0) })['sigma']
    ).toMatchObject({
      data: [{ algorithm: 'BSM', address: bob.address, vin: 0, valid: true }],
      events: [`signer:${bob.address}`]
    })
  })

  it('has an input, and no message of its own', () => {
    const sigma = (...fields: (string | Uint8Array)[]): number =>
      decodeSigma(bitcom([['SIGMA', ...fields]])).length
    const signature = signMessage(alice, sha256(utf8('x')))
    expect(sigma('BSM', alice.address, signature, '0')).toBe(1)
    expect(sigma('BSM', alice.address, signature)).toBe(0)
    for (const vin of ['', 'message', '01', '-2', '1.0', hex('ff'), '9'.repeat(10)]) {
      expect(sigma('BSM', alice.address, signature, vin)).toBe(0)
    }
    expect(sigma('BSM', alice.address, signature.subarray(1), '0')).toBe(0)
  })

  it('is checked for BSM, and for nothing else', () => {
    const transaction = withSigma(payTo(alice), bob)
    const script = transaction.outputs[0]!.script
    const at = Buffer.from(script).indexOf('BSM')
    const other = script.map((byte, i) => (i === at ? 0x58 : byte))
    expect(decodeSigma(other, { transaction, vout: 0 })).toMatchObject([{ algorithm: 'XSM', valid: false }])
  })
})
