/**
 * Real transactions, and scripts to make: each function writes one of the formats that the parsers read. The fixed
 * parts of contracts are cut out of real transactions.
 */
import { readFileSync } from 'node:fs'
import {
  formatAddress,
  hash160,
  p2pkh,
  parseTransaction,
  sha256,
  type Transaction,
  type TransactionParts,
  writeTransaction
} from '@quoin/chain'
import {
  buildScript,
  fromHex,
  makeOutpoint,
  OP,
  type Outpoint,
  push,
  ScriptCursor,
  type Txid,
  txidOf,
  voutOf,
  Writer,
  writeScriptNumber
} from '@quoin/primitives'
import secp256k1 from 'secp256k1'
import { PARSERS, parseScript } from './parse.ts'
import type { ParseResult, ScriptContext } from './parser.ts'
import { messageHash } from './signed-message.ts'

/** The transactions in `fixtures`, by what they are here for. */
export const FIXTURES = {
  bamboo: '1bff350b55a113f7da23eaba1dc40a7c5b486d3e1017cda79dbe6bd42e001c81',
  opns: '2320c9d77f4b726303d5845e1962e945d0af8e8ad70e866799e5fb9ec37bc405',
  twetch: '266c2a52d7d1f30709c847424d8195eeef8a0172f190be6244e5c8a1c2e44d94',
  musashi: '34adf92c766e11a656d3ff3508df7b1a31405821bf734bc9bef9fb43fcf701f9',
  hello: '38c914d2c47c2ff063cf9f5705e3ceaa557aca4092ed5047177d5e8f913c0b69',
  twoAuthors: '5633bb966d9531d22df7ae98a70966eebe4379d400d74ac948bf5b4f2867092c',
  listing: '690b213114926cd5a6f0785cb3e289afe9cde195972c1d344569c90530b8cbd1',
  reply: '8ca367aadc788d4f792b78f10577427840f2c31aae7cf9ffec9b327a79c883ef',
  unlike: '925d7a0cbb8121309ed2273357422c8774a90818c944cedae37d8a86b7af9281',
  map: 'abfef67c88e039337540b0e53ed8ed91f82ea7aa346eb6b01a1972077687d565',
  mnee: 'ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127',
  mcp: 'b08538c963d2b88c7d26600a1c3c925a3388e942cdc5f903ecf0009f18c41ff3',
  identity: 'c2f0f5f503c012737a8ee0dfa2ae40f52177338fd746afccdd992b0e165af6f9',
  buidl: 'dfa24771dbd093efbddf19ec424eab60113e288672c23182be75ec3f5452ba8d',
  like: 'e89cd18de70bab82ccbea0836805b0039b61728f0641d89e8834d5225a593419',
  mneeTransfer: 'f7ca34a9c0319bfb837a56ee7375e8246229f5fefbdaaaf9fdec97493d428bee'
} as const
export type Fixture = keyof typeof FIXTURES

export const fixture = (name: Fixture): Transaction =>
  parseTransaction(
    Uint8Array.from(
      Buffer.from(
        readFileSync(new URL(`fixtures/${FIXTURES[name]}.hex`, import.meta.url), 'utf8').trim(),
        'hex'
      )
    )
  )

export const scriptOf = (name: Fixture, vout = 0): Uint8Array => fixture(name).outputs[vout]!.script

export const OUTPOINT = makeOutpoint(sha256(Uint8Array.of(1)) as Txid, 3)

/** What the parsers find in a script, by tag, as an output of one satoshi unless told otherwise. */
export const found = (
  script: Uint8Array,
  context: Partial<ScriptContext> = {}
): Readonly<Record<string, ParseResult>> =>
  Object.fromEntries(
    parseScript({ outpoint: OUTPOINT, satoshis: 1, ...context, script }).map(parsed => [parsed.tag, parsed])
  )

export const foundIn = (name: Fixture, vout: number): Readonly<Record<string, ParseResult>> => {
  const transaction = fixture(name)
  const { script, satoshis } = transaction.outputs[vout]!
  return found(script, { outpoint: makeOutpoint(transaction.txid, vout), satoshis, transaction })
}

export const tagsOf = (parsed: Readonly<Record<string, ParseResult>>): string[] =>
  [...PARSERS.keys()].filter(tag => tag in parsed)

export const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text))

export const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts))

/** The same bytes many times over. */
export const repeated = (part: Uint8Array, count: number): Uint8Array =>
  Uint8Array.from(Buffer.alloc(part.length * count, part))

/** The push of bytes as data: also where an opcode would do. */
const pushData = (data: Uint8Array): Uint8Array =>
  data.length === 1 ? Uint8Array.of(1, data[0]!) : push(data)

/** Somebody with a key: a number stands for it. */
export interface Person {
  readonly secret: Uint8Array
  readonly key: Uint8Array
  readonly hash: Uint8Array
  readonly address: string
}

export const person = (number: number): Person => {
  const secret = sha256(utf8(`person ${number}`))
  const key = secp256k1.publicKeyCreate(secret)
  const hash = hash160(key)
  return { secret, key, hash, address: formatAddress(hash) }
}

export const payTo = ({ hash }: Person): Uint8Array => p2pkh(hash)

export interface InscriptionParts {
  readonly type?: string
  readonly content?: Uint8Array | string
  readonly parent?: Outpoint
  readonly fields?: readonly (readonly [number | string, Uint8Array])[]
  readonly prefix?: Uint8Array
  readonly suffix?: Uint8Array
}

export const inscription = ({
  type,
  content = '',
  parent,
  fields = [],
  prefix = new Uint8Array(),
  suffix = new Uint8Array()
}: InscriptionParts): Uint8Array =>
  joined(
    prefix,
    buildScript([
      OP.FALSE,
      OP.IF,
      utf8('ord'),
      ...(type === undefined ? [] : [OP.N1, utf8(type)]),
      ...(parent ? [OP.N3, wireOutpoint(parent)] : []),
      ...fields.flatMap(([field, value]) => [
        typeof field === 'number' ? Uint8Array.of(field) : utf8(field),
        value
      ]),
      OP.N0,
      typeof content === 'string' ? utf8(content) : content,
      OP.ENDIF
    ]),
    suffix
  )

/** As inputs and scripts write it: the output number little-endian. */
export const wireOutpoint = (outpoint: Outpoint): Uint8Array => {
  const bytes = new Uint8Array(36)
  bytes.set(txidOf(outpoint))
  new DataView(bytes.buffer).setUint32(32, voutOf(outpoint), true)
  return bytes
}

/** A BSV21 inscription; the fields are written as they are given. */
export const bsv21 = (fields: Record<string, unknown> | string, suffix = payTo(person(1))): Uint8Array =>
  inscription({
    type: 'application/bsv-20',
    content: typeof fields === 'string' ? fields : JSON.stringify({ p: 'bsv-20', ...fields }),
    suffix
  })

const SCRYPT_PREFIX = (): Uint8Array => scriptOf('listing').subarray(0, 102)
const ORDLOCK_SUFFIX = (): Uint8Array => scriptOf('listing').subarray(-702)
/** The lock-to-mint contract makes locks, and carries what they are made of. */
const LOCK_SUFFIX = (): Uint8Array => scriptOf('bamboo').subarray(23_739, 23_739 + 807)

export const lock = (owner: Person, until: number | bigint): Uint8Array =>
  joined(SCRYPT_PREFIX(), buildScript([owner.hash, writeScriptNumber(until)]), LOCK_SUFFIX())

export const ordLock = (seller: Person, price: number, payee = payTo(seller)): Uint8Array =>
  ordLockWith(seller.hash, payout(price, payee))

export const ordLockWith = (...pushes: Uint8Array[]): Uint8Array =>
  joined(SCRYPT_PREFIX(), buildScript(pushes), ORDLOCK_SUFFIX())

export const payout = (satoshis: number, script: Uint8Array): Uint8Array => {
  const writer = new Writer()
  writer.u53(satoshis)
  writer.sized(script)
  return writer.finish()
}

export const cosign = (owner: Person, cosigner: Person): Uint8Array =>
  buildScript([OP.DUP, OP.HASH160, owner.hash, OP.EQUALVERIFY, OP.CHECKSIGVERIFY, cosigner.key, OP.CHECKSIG])

export const shrug = (token: Outpoint | undefined, amount: bigint, suffix = payTo(person(1))): Uint8Array =>
  joined(
    buildScript([
      utf8('¯\\_(ツ)_/¯'),
      token ? wireOutpoint(token) : OP.N0,
      OP['2DROP'],
      writeScriptNumber(amount),
      OP.DROP
    ]),
    suffix
  )

/** A binary token output (BRC-162); without a token a deployment. */
export const binaryToken = (
  token: Outpoint | undefined,
  amount: bigint,
  { payload, lock = payTo(person(1)) }: { readonly payload?: Uint8Array; readonly lock?: Uint8Array } = {}
): Uint8Array =>
  joined(
    buildScript([
      token ? wireOutpoint(token).subarray(0, voutOf(token) === 0 ? 32 : 36) : OP.N0,
      writeScriptNumber(amount),
      OP['2DROP'],
      ...(payload ? [payload, OP.DROP] : [])
    ]),
    lock
  )

export const pushDrop = (
  key: Uint8Array,
  fields: readonly Uint8Array[],
  position: 'before' | 'after' = 'before'
): Uint8Array => {
  const drops = [
    ...new Array<number>(fields.length >> 1).fill(OP['2DROP']),
    ...(fields.length % 2 ? [OP.DROP] : [])
  ]
  const locking = [key, OP.CHECKSIG]
  return buildScript(
    position === 'before' ? [...locking, ...fields, ...drops] : [...fields, ...drops, ...locking]
  )
}

type Field = string | Uint8Array
const bytesOf = (field: Field): Uint8Array => (typeof field === 'string' ? utf8(field) : field)

export const B = '19HxigV4QyBv3tHpQVcUEQyq1pzZVdoAut'
export const MAP = '1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5'
export const AIP = '15PciHG22SNLQJXMoSUaWVi7WSqc7hCfva'
export const BAP = '1BAPSuaPnfGnSBM3GLV9yhxUdYe4vGbdMT'

/** OP_FALSE OP_RETURN, or what is given instead of the OP_FALSE, and the protocols. */
export const bitcom = (
  protocols: readonly (readonly Field[])[],
  before: Uint8Array = Uint8Array.of(OP.FALSE)
): Uint8Array => joined(before, Uint8Array.of(OP.RETURN), segments(protocols))

const segments = (protocols: readonly (readonly Field[])[]): Uint8Array =>
  joined(
    ...protocols.flatMap((fields, i) => [
      ...(i > 0 ? [pushData(utf8('|'))] : []),
      ...fields.map(field => pushData(bytesOf(field)))
    ])
  )

/** A signature of 65 bytes over a message. */
export const signMessage = ({ secret }: Person, message: Uint8Array): Uint8Array => {
  const { signature, recid } = secp256k1.ecdsaSign(messageHash(message), secret)
  return joined(Uint8Array.of(31 + recid), signature)
}

/** The protocols, and an AIP signature over all of them. */
export const authored = (
  protocols: readonly (readonly Field[])[],
  author: Person,
  { indexes = [], address = author.address }: { indexes?: readonly number[]; address?: string } = {}
): (readonly Field[])[] => {
  const fields = protocols.flatMap(each => [...each.map(bytesOf), utf8('|')])
  const signature = signMessage(author, joined(Uint8Array.of(OP.RETURN), ...fields))
  return [
    ...protocols,
    [AIP, 'BITCOIN_ECDSA', address, signature, ...indexes.map(index => Uint8Array.of(index))]
  ]
}

/** A transaction with one output of one satoshi, the script with a SIGMA signature over it and the input. */
export const withSigma = (
  script: Uint8Array,
  signer: Person,
  { vin = 0, inputs = 1 }: { vin?: number; inputs?: number } = {}
): Transaction => {
  const parts: Omit<TransactionParts, 'outputs'> = {
    version: 1,
    inputs: Array.from({ length: inputs }, (_, i) => ({
      txid: sha256(Uint8Array.of(i)) as Txid,
      vout: 7 + i,
      script: new Uint8Array(),
      sequence: 0xffffffff
    })),
    lockTime: 0
  }
  const input = parts.inputs[Math.max(vin, 0)]!
  const outpoint = joined(Uint8Array.from(input.txid).reverse(), Uint8Array.of(input.vout, 0, 0, 0))
  const signature = signMessage(signer, sha256(joined(sha256(outpoint), sha256(script))))
  const separator = script.includes(OP.RETURN) ? pushData(utf8('|')) : Uint8Array.of(OP.RETURN)
  const signed = joined(script, separator, segments([['SIGMA', 'BSM', signer.address, signature, `${vin}`]]))
  return writeTransaction({ ...parts, outputs: [{ satoshis: 1, script: signed }] })
}

export const hex = (text: string): Uint8Array => fromHex(text.replaceAll(' ', ''))

/** How many chunks were read in some work, counting every time. */
export const countingLooks = <T>(work: () => T): { looks: number; result: T } => {
  const { next } = ScriptCursor.prototype
  let looks = 0
  ScriptCursor.prototype.next = function (this: ScriptCursor): boolean {
    looks++
    return next.call(this)
  }
  try {
    return { result: work(), looks }
  } finally {
    ScriptCursor.prototype.next = next
  }
}
