/** Ways to spoil a signed transaction, or its bytes. */
import { chunksOf, OP } from '@quoin/primitives'
import { type Transaction, writeTransaction } from '../transaction.ts'
import { readSignature } from './secp256k1.ts'
import { joined } from './test-chain.testing.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** The shortest DER integer. */
const integer = (value: bigint): Uint8Array => {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  const padded = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Uint8Array.of(0x02, padded.length, ...padded)
}

const der = (r: Uint8Array, s: Uint8Array, type: number): Uint8Array =>
  Uint8Array.of(0x30, r.length + s.length, ...r, ...s, type)

const parts = (signature: Uint8Array): { r: bigint; s: bigint; type: number } => {
  const { compact, type } = readSignature(signature)!
  return { r: toNumber(compact.subarray(0, 32)), s: toNumber(compact.subarray(32)), type }
}

/** The other signature that holds whenever this one does. */
export const withHighS = (signature: Uint8Array): Uint8Array => {
  const { r, s, type } = parts(signature)
  return der(integer(r), integer(ORDER - s), type)
}

const SIGHASH_BYTES = [
  0x00, 0x01, 0x02, 0x03, 0x04, 0x21, 0x23, 0x40, 0x41, 0x42, 0x43, 0x44, 0x60, 0x61, 0x62, 0x63, 0x81, 0xa1,
  0xc1, 0xc2, 0xc3, 0xe1, 0xff
]

/** Other encodings of a signature, most of them wrong. */
const spoiledSignatures = (signature: Uint8Array): Uint8Array[] => {
  const { r, s, type } = parts(signature)
  const [R, S] = [integer(r), integer(s)]
  const padded = (number: Uint8Array): Uint8Array =>
    Uint8Array.of(0x02, number[1]! + 1, 0, ...number.subarray(2))
  const unpadded = (value: bigint): Uint8Array => {
    const bytes = Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
    return Uint8Array.of(0x02, 32, ...bytes)
  }
  return [
    withHighS(signature),
    der(padded(R), S, type),
    der(R, padded(S), type),
    der(unpadded(r), unpadded(s), type),
    der(integer(0n), S, type),
    der(R, integer(0n), type),
    der(integer(r + ORDER), S, type),
    der(R, integer(s + ORDER), type),
    der(integer(ORDER), integer(ORDER), type),
    der(S, R, type),
    der(integer(1n), integer(1n), type),
    signature.subarray(0, -1),
    signature.subarray(1),
    Uint8Array.of(...signature.subarray(0, -1), 0, type),
    Uint8Array.of(0x31, ...signature.subarray(1)),
    Uint8Array.of(0x30, signature[1]! + 1, ...signature.subarray(2)),
    Uint8Array.of(0x30, 0x81, ...signature.subarray(1)),
    Uint8Array.of(type),
    new Uint8Array()
  ]
}

/** Other encodings of a public key, most of them wrong. */
const spoiledKeys = (key: Uint8Array): Uint8Array[] => [
  Uint8Array.of(key[0]! ^ 1, ...key.subarray(1)),
  Uint8Array.of(5, ...key.subarray(1)),
  Uint8Array.of(6, ...key.subarray(1), ...key.subarray(1)),
  key.subarray(0, -1),
  Uint8Array.of(...key, 0),
  Uint8Array.of(2, ...new Uint8Array(32)),
  Uint8Array.of(2, ...new Uint8Array(32).fill(0xff)),
  new Uint8Array()
]

const pushed = (data: Uint8Array): Uint8Array =>
  data.length < OP.PUSHDATA1
    ? Uint8Array.of(data.length, ...data)
    : Uint8Array.of(OP.PUSHDATA1, data.length, ...data)

/** What becomes of a script that pushes a signature, and a key or not, under every malleation. */
export const malleations = (script: Uint8Array): Uint8Array[] => {
  const [signature, key] = chunksOf(script).chunks.map(({ data }) => data!)
  const rest = key ? pushed(key) : new Uint8Array()
  const first = pushed(signature!)
  const longer = (data: Uint8Array): Uint8Array[] => [
    Uint8Array.of(OP.PUSHDATA1, data.length, ...data),
    Uint8Array.of(OP.PUSHDATA2, data.length, 0, ...data),
    Uint8Array.of(OP.PUSHDATA4, data.length, 0, 0, 0, ...data)
  ]
  const extras = [
    Uint8Array.of(OP.N0),
    Uint8Array.of(OP.N1),
    Uint8Array.of(OP.NOP),
    Uint8Array.of(OP.CODESEPARATOR),
    Uint8Array.of(OP.RETURN),
    Uint8Array.of(OP.RESERVED),
    Uint8Array.of(OP.N1, OP.DROP),
    Uint8Array.of(1, 1),
    Uint8Array.of(OP.PUSHDATA1, 0),
    Uint8Array.of(OP.PUSHDATA2),
    Uint8Array.of(5, 1)
  ]
  return [
    ...spoiledSignatures(signature!).map(bytes => joined(pushed(bytes), rest)),
    ...SIGHASH_BYTES.map(type => joined(pushed(Uint8Array.of(...signature!.subarray(0, -1), type)), rest)),
    ...longer(signature!).map(bytes => joined(bytes, rest)),
    ...(key ? [...spoiledKeys(key).map(pushed), ...longer(key)].map(bytes => joined(first, bytes)) : []),
    ...extras.flatMap(extra => [joined(extra, script), joined(script, extra), joined(first, extra, rest)]),
    joined(rest, first),
    joined(script, script),
    first,
    rest,
    new Uint8Array()
  ]
}

/** The same transaction with another script in one of its inputs. */
export const withInputScript = (transaction: Transaction, index: number, script: Uint8Array): Transaction => {
  const { version, inputs, outputs, lockTime } = transaction
  const changed = inputs.map((input, i) => (i === index ? { ...input, script } : input))
  return writeTransaction({ version, inputs: changed, outputs, lockTime })
}

/** One to three changes of bytes at random places. */
export const mutateBytes = (bytes: Uint8Array, random: () => number): Uint8Array => {
  let mutated = bytes
  for (let times = Math.ceil(random() ** 2 * 3); times > 0; times--) mutated = mutateOnce(mutated, random)
  return mutated
}

const mutateOnce = (bytes: Uint8Array, random: () => number): Uint8Array => {
  const at = Math.floor(random() * bytes.length)
  const byte = Math.floor(random() * 256)
  const changed = bytes.slice()
  switch (Math.floor(random() * 6)) {
    case 0:
      return bytes.slice(0, at)
    case 1:
      return joined(bytes.subarray(0, at), Uint8Array.of(byte), bytes.subarray(at))
    case 2:
      return joined(bytes.subarray(0, at), bytes.subarray(at + 1))
    case 3:
      changed[at] = byte
      return changed
    case 4: {
      const to = Math.floor(random() * bytes.length)
      changed[at] = bytes[to]!
      changed[to] = bytes[at]!
      return changed
    }
    default:
      changed[at]! ^= 1 << Math.floor(random() * 8)
      return changed
  }
}
