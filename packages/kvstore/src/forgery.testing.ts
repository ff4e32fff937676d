/** Tokens that are nearly ones: valid ones with something changed that their controller did not sign. */

import { type KvToken, type ProtocolID, writeToken } from '@quoin/kvstore-client/token'
import { chunksOf, equalBytes, OP } from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import { makeKey } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, readToken, sign } from './author.testing.ts'

export interface Forgery {
  readonly kind: string
  readonly script: Uint8Array
}

type Random = (below: number) => number
type Forge = (token: KvToken, script: Uint8Array, random: Random) => Uint8Array | undefined

const thief = makeKey('thief')
const mallory = new Author('mallory')
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

/** The same signature of other fields. */
const withFields = (token: KvToken, fields: readonly Uint8Array[]): Uint8Array =>
  writeToken({ ...token, fields })
const withField = (token: KvToken, index: number, field: Uint8Array): Uint8Array =>
  withFields(token, token.fields.with(index, field))

const flipped = (bytes: Uint8Array, random: Random): Uint8Array => {
  const changed = bytes.slice()
  changed[random(bytes.length)]! ^= 1 << random(8)
  return changed
}

const afterSignature = (script: Uint8Array): number => {
  const { chunks } = chunksOf(script)
  return chunks.findLast(({ data }) => data)!.end
}

export const FORGERIES: Readonly<Record<string, Forge>> = {
  'a bit of the script': (_, script, random) => flipped(script, random),
  'some bytes of the script': (_, script, random) => {
    const changed = script.slice()
    for (let i = 0; i <= random(4); i++) changed[random(script.length)]! ^= 1 + random(255)
    return changed
  },
  'a byte less': (_, script, random) => {
    const at = random(script.length)
    return joined(script.subarray(0, at), script.subarray(at + 1))
  },
  'a byte more': (_, script, random) => {
    const at = random(script.length + 1)
    // OP_PUSHDATA1 before a push would be another encoding of it.
    const byte = random(OP.PUSHDATA1)
    return joined(script.subarray(0, at), Uint8Array.of(byte), script.subarray(at))
  },
  'the end cut off': (_, script, random) => script.subarray(0, random(script.length)),
  'another value': (token, _, random) => withField(token, 2, utf8(`stolen ${random(1e9)}`)),
  'a longer value': token => withField(token, 2, joined(token.fields[2]!, utf8('!'))),
  'another key': (token, _, random) => withField(token, 1, utf8(`other ${random(1e9)}`)),
  'another protocol': (token, _, random) =>
    withField(token, 0, utf8(`[${random(3)},"other ${random(1e6)}"]`)),
  'another controller': token => withField(token, 3, mallory.key.publicKey),
  'other tags': (token, _, random) =>
    withFields(token, [...token.fields.slice(0, 4), utf8(`["t${random(1e6)}"]`)]),
  'a byte moved from one field to the next': (token, _, random) => {
    const at = random(2)
    const [left, right] = [token.fields[at]!, token.fields[at + 1]!]
    return withFields(
      token,
      token.fields.with(at, left.subarray(0, -1)).with(at + 1, joined(left.subarray(-1), right))
    )
  },
  'fields in another order': (token, _, random) => {
    const at = random(token.fields.length - 1)
    return withFields(token, token.fields.with(at, token.fields[at + 1]!).with(at + 1, token.fields[at]!))
  },
  'a field left out': (token, _, random) =>
    withFields(token, token.fields.toSpliced(random(token.fields.length), 1)),
  'a field twice': (token, _, random) => {
    const at = random(token.fields.length)
    return withFields(token, token.fields.toSpliced(at, 0, token.fields[at]!))
  },
  'a bit of the signature': (token, _, random) =>
    writeToken({ ...token, signature: flipped(token.signature, random) }),
  'the signature of somebody else': token => writeToken({ ...token, signature: sign(token.fields, thief) }),
  'the signature of the identity key of another': token =>
    writeToken({ ...token, signature: sign(token.fields, mallory.keyFor(token.protocolID, token.key)) }),
  'a signature with the byte of scripts': token =>
    writeToken({ ...token, signature: joined(token.signature, Uint8Array.of(0x41)) }),
  'no signature': token => writeToken({ ...token, signature: new Uint8Array() }),
  'a signature of zeros': token =>
    writeToken({ ...token, signature: new Uint8Array(token.signature.length) }),
  'the lock of somebody else': token => writeToken({ ...token, lockKey: thief.publicKey }),
  'lock and signature of somebody else': token =>
    writeToken({ ...token, lockKey: thief.publicKey, signature: sign(token.fields, thief) }),
  'the controller as the lock': token => writeToken({ ...token, lockKey: token.fields[3]! }),
  'the lock behind the fields': (_, script) => {
    const end = script.length
    return joined(script.subarray(35, end), script.subarray(0, 35))
  },
  'another opcode for OP_CHECKSIG': (_, script, random) => {
    const changed = script.slice()
    const others = [OP.DROP, OP.CHECKSIGVERIFY, OP.NOP, OP.CHECKMULTISIG]
    changed[34] = others[random(others.length)]!
    return changed
  },
  'drops left out': (_, script, random) => {
    const end = afterSignature(script)
    return script.subarray(0, end + random(script.length - end))
  },
  'other drops': (_, script, random) => {
    const end = afterSignature(script)
    const tails = [
      [OP.DROP, OP.DROP],
      [OP['2DROP'], OP.RETURN],
      [OP.DROP],
      [OP['2DROP'], OP['2DROP'], OP['2DROP'], OP.N1]
    ]
    const tail = Uint8Array.from(tails[random(tails.length)]!)
    const forged = joined(script.subarray(0, end), tail)
    return equalBytes(forged, script) ? undefined : forged
  }
}

/** Forgeries of random tokens, so many of each kind. */
export const forgeries = (count: number, random: Random): Forgery[] => {
  const all: Forgery[] = []
  for (const [kind, forge] of Object.entries(FORGERIES)) {
    for (let made = 0; made < count; ) {
      const author = new Author(`forged ${random(1e9)}`)
      const protocolID: ProtocolID = [random(3) as 0 | 1 | 2, `kvstore ${random(1000)}`]
      const tags = Array.from({ length: random(3) }, (_, i) => `tag ${i}`)
      const valid = author.script({
        protocolID,
        key: `key ${random(1000)}`,
        value: `value ${random(1e6)}`,
        tags
      })
      const script = forge(readToken(valid), valid, random)
      if (!script || equalBytes(script, valid)) continue
      all.push({ kind, script })
      made++
    }
  }
  return all
}

/** The same signature with the greater of its two s, which is as much the controller's. */
export const withHighS = (token: KvToken): Uint8Array => {
  const compact = secp256k1.signatureImport(token.signature)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = BigInt(`0x${Buffer.from(compact.subarray(32)).toString('hex')}`)
  const high = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')
  return writeToken({ ...token, signature: secp256k1.signatureExport(joined(compact.subarray(0, 32), high)) })
}
