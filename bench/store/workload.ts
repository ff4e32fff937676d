/**
 * The work of an indexer, made from numbers: transaction n is the same for every engine and in every process, costs a
 * few microseconds to make, and can be made without those before it.
 *
 * A transaction is 14 rows of sorted sets and 9 fields of hashes. It has 2 outputs, each in three sets of its owner,
 * in its topic and in its type; then there are a set of its own, the transactions of the topic, a queue and a log.
 */

/** Rows of one transaction in tables: those of sorted sets and the fields. */
export const ROWS = 14 + 9

const OWNERS = 50_000
const TYPES = 50
const BLOCK = 2000
const FIRST_HEIGHT = 800_000
/** The number of values of each length, taken in turn. */
const VALUES = 1024

/** The destination of a transaction: a batch of ours, or commands of Redis. */
export interface Sink {
  zadd(key: Uint8Array, member: Uint8Array, score: number): void
  /** Fields and values in turn. */
  hset(key: Uint8Array, fields: readonly Uint8Array[]): void
}

/** A bijective hash of 32 bits. (lowbias32 of Chris Wellons.) */
export const mix = (seed: number): number => {
  let x = seed | 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0xd35a2d97)
  return (x ^ (x >>> 15)) >>> 0
}

/** The 32 bytes of a transaction id, then the output number. */
export const outpointOf = (n: number, output: number): Uint8Array => {
  const words = new Uint32Array(9)
  for (let i = 0; i < 8; i++) words[i] = mix(n * 8 + i)
  words[8] = output
  return new Uint8Array(words.buffer)
}

export const outputKey = (outpoint: Uint8Array): Uint8Array => {
  const key = new Uint8Array(2 + outpoint.length)
  key.set(hashPrefix)
  key.set(outpoint, 2)
  return key
}

/** Height and index in the block: it grows with n, and is distinct. */
export const scoreOf = (n: number): number => FIRST_HEIGHT + Math.floor(n / BLOCK) + (n % BLOCK) / 1e9

/** A number below `count`, the low ones more often. */
const skewed = (seed: number, count: number): number => Math.floor(count * (mix(seed) / 2 ** 32) ** 3)

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const hashPrefix = bytes('h:')
const originPrefix = bytes('z:origin:')
export const FIELD = { events: bytes('ev'), block: bytes('ms'), data: bytes('dt:bsv21') }
export const SATOSHIS = bytes('h:sats')
const SPENDS = bytes('h:spnd')
export const LOG = bytes('z:log')
export const TOPICS = [0, 1].map(i => bytes(`z:tp:tm_${i}`))

const applied = [0, 1].map(i => bytes(`z:tp:tm_${i}:tx`))
const queues = Array.from({ length: 8 }, (_, i) => bytes(`q:${i}`))
const types = Array.from({ length: TYPES }, (_, i) => bytes(`z:type:${i}`))
const hexDigits = Array.from({ length: 256 }, (_, i) => bytes(i.toString(16).padStart(2, '0')))

const ownerSets = Array.from({ length: OWNERS }, (_, i) => {
  let name = ''
  for (let word = 0; name.length < 34; word++) name += mix(0x40000000 + i * 8 + word).toString(36)
  name = name.slice(0, 34)
  return [bytes(`z:own:${name}`), bytes(`z:p2pkh:${name}`), bytes(`z:list:${name}`)]
})

const random = new Uint8Array(Uint32Array.from({ length: 64 * 1024 }, (_, i) => mix(0x60000000 + i)).buffer)
const valuesOf = (length: number): Uint8Array[] =>
  Array.from({ length: VALUES }, (_, i) => {
    const start = mix(0x70000000 + i * 256 + length) % (random.length - length)
    return random.subarray(start, start + length)
  })
const value = { events: valuesOf(60), block: valuesOf(12), data: valuesOf(120), satoshis: valuesOf(8) }

const originKey = (txid: Uint8Array): Uint8Array => {
  const key = new Uint8Array(originPrefix.length + 2 * txid.length)
  key.set(originPrefix)
  for (let i = 0; i < txid.length; i++) key.set(hexDigits[txid[i]!]!, originPrefix.length + 2 * i)
  return key
}

/** Writes all rows of transaction n. */
export const writeTransaction = (n: number, to: Sink): void => {
  const score = scoreOf(n)
  const pick = n % VALUES
  const topic = n & 1
  const outputs = [outpointOf(n, 0), outpointOf(n, 1)] as const
  const txid = outputs[0].subarray(0, 32)
  for (const [i, output] of outputs.entries()) {
    to.hset(outputKey(output), [
      FIELD.events,
      value.events[pick]!,
      FIELD.block,
      value.block[pick]!,
      FIELD.data,
      value.data[pick]!
    ])
    const owner = ownerSets[skewed(0x20000000 + n * 2 + i, OWNERS)]!
    for (const set of owner) to.zadd(set, output, score)
    to.zadd(TOPICS[topic]!, output, score)
    to.zadd(types[skewed(0x30000000 + n * 2 + i, TYPES)]!, output, score)
  }
  to.hset(SATOSHIS, [outputs[0], value.satoshis[pick]!, outputs[1], value.satoshis[pick]!])
  to.hset(SPENDS, [outpointOf(n - 10, 0), txid])
  to.zadd(originKey(txid), outputs[0], score)
  to.zadd(applied[topic]!, txid, score)
  to.zadd(queues[n & 7]!, txid, score)
  to.zadd(LOG, txid, score)
}
