/** Transactions of all forms of scripts, sighash types and versions, as they should be. */
import { Hash, Script, Transaction as SdkTransaction, TransactionSignature } from '@bsv/sdk'
import { buildScript, OP } from '@quoin/primitives'
import { hash160, sha256 } from '../hash.ts'
import type { Output, Transaction } from '../transaction.ts'
import type { Case } from './sets.testing.ts'
import { SIGHASH } from './sighash.ts'
import {
  ALL,
  envelope,
  joined,
  type Key,
  makeKey,
  payTo,
  pushDrop,
  signDigest,
  spend,
  TestChain
} from './test-chain.testing.ts'

/** A way to lock an output, and what unlocks it. */
export interface Form {
  readonly name: string
  readonly lock: (key: Key) => Uint8Array
  readonly unlock: (key: Key, sign: () => Uint8Array) => Uint8Array
}

const text = new TextEncoder()
const fields = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => text.encode(`field ${i} `.repeat([1, 20, 40][i % 3]!)))
const odd = [new Uint8Array(), Uint8Array.of(0), Uint8Array.of(7), Uint8Array.of(0x81), Uint8Array.of(17)]

const byHash: Form['unlock'] = (key, sign) => buildScript([sign(), key.publicKey])
const byKey: Form['unlock'] = (_, sign) => buildScript([sign()])
const inscription = envelope('text/plain', 'hello')
const metadata = buildScript([
  OP.RETURN,
  text.encode('1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5'),
  text.encode('SET')
])

/** What the fast path knows. */
export const TEMPLATES: readonly Form[] = [
  { name: 'P2PKH', lock: payTo, unlock: byHash },
  {
    name: 'P2PKH of an uncompressed key',
    lock: key =>
      joined(
        Uint8Array.of(OP.DUP, OP.HASH160, 20),
        hash160(key.uncompressed),
        Uint8Array.of(OP.EQUALVERIFY, OP.CHECKSIG)
      ),
    unlock: (key, sign) => buildScript([sign(), key.uncompressed])
  },
  { name: 'inscription before P2PKH', lock: key => joined(inscription, payTo(key)), unlock: byHash },
  { name: 'inscription after P2PKH', lock: key => joined(payTo(key), inscription), unlock: byHash },
  {
    name: 'inscription, P2PKH and metadata',
    lock: key => joined(inscription, payTo(key), metadata),
    unlock: byHash
  },
  {
    name: 'P2PKH, inscription and metadata',
    lock: key => joined(payTo(key), inscription, metadata),
    unlock: byHash
  },
  {
    name: 'a binary token before P2PKH',
    lock: key => joined(buildScript([new Uint8Array(32).fill(7), OP.N5, OP['2DROP']]), payTo(key)),
    unlock: byHash
  },
  {
    name: 'a binary token with a payload and an inscription before P2PKH',
    lock: key =>
      joined(
        buildScript([
          OP.N0,
          Uint8Array.of(0x40, 0x6f, 0x40, 1),
          OP['2DROP'],
          text.encode('payload'),
          OP.DROP
        ]),
        inscription,
        payTo(key)
      ),
    unlock: byHash
  },
  { name: 'P2PK', lock: key => pushDrop(key, []), unlock: byKey },
  {
    name: 'P2PK of an uncompressed key',
    lock: key => buildScript([key.uncompressed, OP.CHECKSIG]),
    unlock: byKey
  },
  { name: 'PushDrop before, 1 field', lock: key => pushDrop(key, fields(1)), unlock: byKey },
  { name: 'PushDrop before, 6 fields', lock: key => pushDrop(key, fields(6)), unlock: byKey },
  { name: 'PushDrop before, numbers', lock: key => pushDrop(key, odd), unlock: byKey },
  { name: 'PushDrop after, 1 field', lock: key => pushDrop(key, fields(1), 'after'), unlock: byKey },
  { name: 'PushDrop after, 5 fields', lock: key => pushDrop(key, fields(5), 'after'), unlock: byKey },
  { name: 'PushDrop after, numbers', lock: key => pushDrop(key, odd, 'after'), unlock: byKey }
]

const secret = text.encode('secret')

/** What the interpreter runs. */
export const SCRIPTS: readonly Form[] = [
  { name: 'anyone', lock: () => buildScript([OP.TRUE]), unlock: () => new Uint8Array() },
  {
    name: 'a hash lock',
    lock: () => buildScript([OP.SHA256, sha256(secret), OP.EQUAL]),
    unlock: () => buildScript([secret])
  },
  {
    name: 'a hash lock and a key',
    lock: key => buildScript([OP.SHA256, sha256(secret), OP.EQUALVERIFY, key.publicKey, OP.CHECKSIG]),
    unlock: (_, sign) => buildScript([sign(), secret])
  },
  {
    name: '1 of 2',
    lock: key => buildScript([OP.N1, makeKey('other').publicKey, key.publicKey, OP.N2, OP.CHECKMULTISIG]),
    unlock: (_, sign) => buildScript([OP.N0, sign()])
  },
  {
    name: 'a NOP and a key',
    lock: key => buildScript([OP.NOP, key.publicKey, OP.CHECKSIG]),
    unlock: byKey
  }
]

export const VERSIONS = [0, 1, 2, 0xffffffff]

/** With and without FORKID, and with CHRONICLE, which is for version 2 and later. */
export const TYPES = [0x01, 0x02, 0x03, 0x21, 0x41, 0x42, 0x43, 0x61, 0x63].flatMap(type => [
  type,
  type | SIGHASH.ANYONECANPAY
])

export const isAllowed = (type: number, version: number): boolean =>
  version > 1 || (type & SIGHASH.CHRONICLE) === 0

/** By @bsv/sdk, so that what is signed does not depend on what is tested; it also knows the older digest. */
const digestOf = (transaction: Transaction, index: number, spent: Output, type: number): Uint8Array => {
  const { version, inputs, outputs, lockTime } = SdkTransaction.fromBinary([...transaction.raw])
  const params = {
    sourceTXID: inputs[index]!.sourceTXID!,
    sourceOutputIndex: inputs[index]!.sourceOutputIndex,
    sourceSatoshis: spent.satoshis,
    transactionVersion: version,
    otherInputs: inputs.filter((_, i) => i !== index),
    inputIndex: index,
    outputs,
    inputSequence: inputs[index]!.sequence!,
    subscript: Script.fromBinary([...spent.script]),
    lockTime,
    scope: type
  }
  // In the older digest, SINGLE without an output of the same number signs the number one.
  return TransactionSignature.usesOtdaSingleBug(params)
    ? Uint8Array.of(1, ...new Uint8Array(31))
    : Uint8Array.from(Hash.hash256(TransactionSignature.formatBytes(params)))
}

export interface Plan {
  readonly form: Form
  readonly version: number
  readonly type: number
  /** Whether another input is there, before this one or after it. */
  readonly other?: 'before' | 'after' | undefined
  readonly outputs?: number
  /** Instead of what the form says. */
  readonly lock?: Uint8Array
  /** Who signs; the right one unless given. */
  readonly signer?: Key
  /** More satoshis than there are to spend. */
  readonly excess?: number
}

export interface Planned extends Case {
  /** Which input has the form. */
  readonly index: number
}

/** A proved parent and its child, which is signed. */
export const build = (plan: Plan): Planned => {
  const { form, version, type, other, outputs = 2, excess = 0 } = plan
  const chain = new TestChain()
  const key = makeKey(`${form.name} ${version} ${type}`)
  const [signer, second] = [plan.signer ?? key, makeKey('second')]
  const lock = plan.lock ?? form.lock(key)
  const parent = chain.fund([
    { satoshis: 1000, script: lock },
    { satoshis: 1000, script: payTo(second) }
  ])
  const index = other === 'before' ? 1 : 0
  const vouts = other === undefined ? [0] : other === 'before' ? [1, 0] : [0, 1]
  const total = 1000 * vouts.length + excess
  const paid = Array.from({ length: outputs }, (_, i) => ({
    satoshis: i === 0 ? total - (outputs - 1) : 1,
    script: payTo(makeKey(`to ${i}`))
  }))
  const unsigned = vouts.map(vout => ({
    from: parent,
    vout,
    sequence: 0xfffffff0 + vout,
    unlock: () => NOTHING
  }))
  const draft = spend({ inputs: unsigned, outputs: paid, version, lockTime: 17 })
  const child = spend({
    inputs: unsigned.map((input, i) => {
      const sign = (by: Key, as: number): Uint8Array =>
        signDigest(digestOf(draft, i, parent.outputs[input.vout]!, as), by, as)
      return {
        ...input,
        unlock: () =>
          i === index
            ? form.unlock(signer, () => sign(signer, type))
            : buildScript([sign(second, ALL), second.publicKey])
      }
    }),
    outputs: paid,
    version,
    lockTime: 17
  })
  return { chain, transactions: [parent, child], index }
}

const NOTHING = new Uint8Array()
