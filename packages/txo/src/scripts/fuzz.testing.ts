/**
 * Hostile scripts, each made from a number: random bytes, random chunks out of words that parsers look for, real and
 * made scripts that were damaged, and now and then a very long one. What has to hold for every script there is: parsing
 * it does not throw, takes work in proportion to its length, says only declared events, and keeps only plain JSON of a
 * bounded size.
 */
import assert from 'node:assert/strict'
import { parseAddress, sha256, type Transaction } from '@quoin/chain'
import { makeOutpoint, OP, push, type Txid } from '@quoin/primitives'
import { cborMap } from './dag-cbor.testing.ts'
import { scriptEvents } from './events.ts'
import { parseScript } from './parse.ts'
import {
  AIP,
  authored,
  B,
  BAP,
  binaryToken,
  bitcom,
  bsv21,
  cosign,
  countingLooks,
  FIXTURES,
  type Fixture,
  fixture,
  inscription,
  joined,
  lock,
  MAP,
  OUTPOINT,
  ordLock,
  ordLockWith,
  payout,
  payTo,
  person,
  pushDrop,
  repeated,
  shrug,
  utf8,
  wireOutpoint,
  withSigma
} from './scripts.testing.ts'

/** Numbers that depend on the seed alone (mulberry32). */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to the number, without it. */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count)
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** Mostly short, sometimes not. */
  length(most: number): number {
    return this.below(1 + this.of([4, 40, 300, most]))
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }
}

const alice = person(1)
const bob = person(2)
const POST = [
  [B, 'Hello', 'text/plain', 'utf-8', 'x.txt'],
  [MAP, 'SET', 'app', 'x', 'type', 'post']
]
const TRANSFER = { op: 'transfer', id: `${FIXTURES.mnee}_0`, amt: '5' }
const DEPLOY = { op: 'deploy+mint', amt: '1000', sym: 'X:spnd', dec: '8', icon: '_1' }

const PAYOUT = payout(1234, payTo(alice))
const signed = withSigma(bitcom(POST, payTo(alice)), bob)
const transactions: readonly Transaction[] = [
  ...(Object.keys(FIXTURES) as Fixture[]).map(fixture),
  signed,
  withSigma(inscription({ type: 'a/b', content: 'x' }), bob, { vin: -1 })
]

/** Scripts to damage: those of real outputs, and one or more of each format. Long ones come up less often. */
const SEEDS: readonly Uint8Array[] = [
  ...transactions.flatMap(({ outputs }) => outputs.map(({ script }) => script)),
  inscription({ type: 'text/plain', content: 'hello', parent: OUTPOINT, suffix: payTo(alice) }),
  inscription({
    type: 'a/b',
    content: 'x',
    fields: [
      [9, utf8('y')],
      ['meta', utf8('z')]
    ],
    prefix: payTo(alice)
  }),
  bsv21(TRANSFER),
  bsv21(TRANSFER, cosign(alice, bob)),
  bsv21(TRANSFER, ordLock(alice, 1234)),
  bsv21(DEPLOY),
  lock(alice, 850_000),
  ordLock(alice, 1234),
  cosign(alice, bob),
  binaryToken(undefined, 1000n, { payload: cborMap({ sym: 'GOLD', dec: 8n, icon: new Uint8Array(36) }) }),
  binaryToken(OUTPOINT, 5n, { lock: ordLock(alice, 1234) }),
  shrug(undefined, 1000n),
  shrug(OUTPOINT, 5n),
  pushDrop(alice.key, [utf8('a'), utf8('bc'), new Uint8Array(80)]),
  pushDrop(alice.key, [utf8('a'), utf8('bc')], 'after'),
  bitcom(POST),
  bitcom(authored(authored(POST, alice), bob)),
  bitcom(authored([[BAP, 'ID', 'key', alice.address]], bob)),
  bitcom(authored([[BAP, 'ATTEST', 'a1b2', '0']], bob))
]
const SHORT_SEEDS = SEEDS.filter(({ length }) => length < 2000)
const LONG_SEEDS = SEEDS.filter(({ length }) => length >= 2000)

/** What parsers look for, and what surrounds it. */
const WORDS: readonly Uint8Array[] = [
  ...['ord', 'SIGMA', 'BSM', '|', B, MAP, AIP, BAP, 'SET', 'ADD', 'DEL', 'ID', 'ATTEST', 'BITCOIN_ECDSA'].map(
    utf8
  ),
  ...[
    'application/bsv-20',
    'text/plain',
    '¯\\_(ツ)_/¯',
    alice.address,
    '0',
    '-1',
    'type',
    'app',
    '__proto__'
  ].map(utf8),
  utf8(JSON.stringify({ p: 'bsv-20', ...TRANSFER })),
  utf8('\u{1f4a9}:;\0/'),
  alice.key,
  alice.hash,
  wireOutpoint(OUTPOINT),
  new Uint8Array(65).fill(31),
  Uint8Array.of(0xff),
  Uint8Array.of(0xc3)
]

const OPCODES: readonly number[] = [
  OP.FALSE,
  OP.IF,
  OP.ENDIF,
  OP.RETURN,
  OP.DROP,
  OP['2DROP'],
  OP.CHECKSIG,
  OP.CHECKSIGVERIFY,
  OP.DUP,
  OP.HASH160,
  OP.EQUALVERIFY,
  OP.N1,
  OP.N3,
  OP.N16,
  OP.N1NEGATE,
  OP.RESERVED,
  OP.NOP
]

const chunk = (random: Random): Uint8Array => {
  switch (random.below(10)) {
    case 0:
      return push(random.bytes(random.length(600)))
    case 1:
      // A push that may want more than there is.
      return joined(Uint8Array.of(random.of([1, 20, 75, 76, 77, 78])), random.bytes(random.below(6)))
    case 2:
      return Uint8Array.of(random.below(256))
    case 3:
      return joined(Uint8Array.of(OP.FALSE, OP.IF), push(utf8('ord')))
    case 4:
      return Uint8Array.of(1, 0x7c)
    case 5:
    case 6:
      return Uint8Array.of(random.of(OPCODES))
    default:
      return push(random.of(WORDS))
  }
}

const chunks = (random: Random, most: number): Uint8Array =>
  joined(...Array.from({ length: random.below(most) }, () => chunk(random)))

const damaged = (random: Random): Uint8Array => {
  let script = random.of(random.chance(12) ? LONG_SEEDS : SHORT_SEEDS)
  for (let times = random.below(4); times > 0; times--) script = damagedOnce(random, script)
  return script
}

const damagedOnce = (random: Random, script: Uint8Array): Uint8Array => {
  const at = random.below(script.length + 1)
  const behind = random.chance(2) ? at : Math.min(script.length, at + random.length(100))
  switch (random.below(7)) {
    case 0: {
      const changed = Uint8Array.from(script)
      changed[at] = random.chance(2) ? random.below(256) : (changed[at] ?? 0) ^ (1 << random.below(8))
      return changed
    }
    case 1:
      return script.slice(0, at)
    case 2:
      return script.slice(at)
    case 3:
      return joined(script.subarray(0, at), script.subarray(behind))
    case 4:
      return joined(script.subarray(0, behind), script.subarray(at))
    case 5:
      return joined(script.subarray(0, at), chunk(random), script.subarray(behind))
    default:
      return joined(script.subarray(0, at), random.of(SHORT_SEEDS), script.subarray(behind))
  }
}

/** JSON as a token would have it, with values that it must not have. */
const token = (random: Random): Uint8Array => {
  const value = (): unknown =>
    random.of<unknown>([
      '5',
      '0',
      '18446744073709551615',
      '18446744073709551616',
      '8',
      `${FIXTURES.mnee}_0`,
      `${FIXTURES.mnee}_00`,
      'PEPE',
      'X:spnd',
      '\ud800',
      'x'.repeat(1000),
      '_3',
      'bsv-20',
      'transfer',
      'deploy+mint',
      'deploy+auth',
      5,
      null,
      true,
      [],
      {},
      { p: 'bsv-20' }
    ])
  const fields = Object.fromEntries(
    ['amt', 'id', 'sym', 'dec', 'icon', 'op', 'p', '__proto__']
      .filter(() => random.chance(4))
      .map(name => [name, value()])
  )
  const op = random.of([
    'deploy+mint',
    'deploy+auth',
    'mint',
    'auth',
    'transfer',
    'burn',
    'Transfer',
    'deploy'
  ])
  const json = JSON.stringify({ p: 'bsv-20', op, id: `${FIXTURES.mnee}_0`, amt: '5', ...fields })
  return bsv21(random.chance(8) ? json.slice(0, random.below(json.length)) : json)
}

/** The templates with values that are not what they should be. */
const contract = (random: Random): Uint8Array => {
  const value = (): Uint8Array =>
    random.chance(2) ? random.of([alice.hash, alice.key, PAYOUT]) : random.bytes(random.length(60))
  const amount = BigInt(random.of([0, 5, 850_000, 2 ** 32])) ** BigInt(random.below(40))
  switch (random.below(5)) {
    case 0:
      return ordLockWith(alice.hash, damagedOnce(random, PAYOUT))
    case 1:
      return ordLockWith(...Array.from({ length: random.below(4) }, value))
    case 2:
      return lock({ ...alice, hash: value() }, amount)
    case 3:
      return shrug(random.chance(2) ? OUTPOINT : undefined, amount, value())
    default:
      return pushDrop(value(), Array.from({ length: random.below(9) }, value), random.of(['before', 'after']))
  }
}

/** Up to a megabyte of one thing. */
const long = (random: Random): Uint8Array => {
  const length = random.of([50_000, 200_000, 1_000_000])
  const part = random.chance(2) ? chunks(random, 8) : random.of(SHORT_SEEDS)
  const head = random.of([
    new Uint8Array(),
    Uint8Array.of(OP.RETURN),
    bsv21(TRANSFER).subarray(0, 25),
    chunk(random)
  ])
  return random.chance(4)
    ? bsv21(random.of(['[', '{"a":', '{"p":"bsv-20","a":[', '"', ' ']).repeat(length / 8))
    : joined(head, repeated(part, Math.ceil(length / (part.length + 1))), chunk(random))
}

const script = (random: Random): Uint8Array => {
  if (random.chance(2000)) return long(random)
  switch (random.below(9)) {
    case 0:
      return random.bytes(random.length(2000))
    case 1:
    case 2:
      return chunks(random, 40)
    case 3:
      return joined(Uint8Array.of(OP.RETURN), chunks(random, 40))
    case 4:
      return token(random)
    case 5:
      return contract(random)
    default:
      return damaged(random)
  }
}

export interface Found {
  readonly tags: readonly string[]
  readonly length: number
}

const eventTypes = Object.values(scriptEvents.types)
const MAX_EVENT_BYTES = 600
const MAX_DATA = 256 * 1024
/** How often any chunk of a script may be looked at. */
const MAX_LOOKS = 16

/** Makes the script of a number, parses it, and throws if anything about that is not as it should be. */
export const tryScript = (seed: number): Found => {
  const random = new Random(seed)
  const bytes = script(random)
  const transaction = random.chance(2) ? random.of(transactions) : undefined
  const satoshis = random.of([0, 1, 1, 1, 1000])
  const outpoint = makeOutpoint(sha256(Uint8Array.of(seed & 255)) as Txid, random.below(4))
  const context = { outpoint, script: bytes, satoshis, transaction }
  const start = performance.now()
  const { looks, result } = countingLooks(() => parseScript(context))
  const time = performance.now() - start
  assert.ok(looks <= MAX_LOOKS * bytes.length + 100, `${looks} chunks were read of ${bytes.length} bytes`)
  // Generous, for a busy machine: what is quadratic takes minutes.
  assert.ok(time < 2000, `${bytes.length} bytes took ${time} ms`)
  for (const { data, events, owners } of result) {
    const json = JSON.stringify(data)
    assert.deepEqual(JSON.parse(json), data)
    assert.ok(json.length <= MAX_DATA, `${json.length} characters of data`)
    for (const event of events) {
      const key = Buffer.from(`z:${event}`)
      assert.ok(key.length <= MAX_EVENT_BYTES, `an event of ${key.length} bytes`)
      assert.ok(
        eventTypes.some(({ index }) => index.owns(key)),
        `no declared event: ${JSON.stringify(event)}`
      )
    }
    for (const owner of owners) assert.equal(parseAddress(owner).network, 'main')
  }
  return { tags: result.map(({ tag }) => tag), length: bytes.length }
}
