/**
 * Keys encoded and decoded against the two order-preserving tuple encodings of the field, on equal tuples; and
 * how the time to prove a keyspace grows with the number of its collections.
 *
 * Peers get numbers where the values fit them, which is their fast case; our integers of 64 bits stay bigints.
 */

import { bsv21Events } from '@quoin/bsv21'
import { liquidityChain } from '@quoin/liquidity'
import { parseTxid, type TokenId } from '@quoin/primitives'
import { outputs } from '@quoin/txo'
import { suite } from '../../../bench/harness.ts'
import { address, topic } from '../../chain/src/components.ts'
import { collection, decimal, escaped, keyspace, raw, u64 } from './index.ts'

interface OrderedBinary {
  writeKey(key: unknown, target: Uint8Array, offset: number, inSequence?: boolean): number
  readKey(buffer: Uint8Array, start: number, end: number, inSequence?: boolean): unknown
}
interface FdbTuple {
  pack(tuple: unknown[]): Uint8Array
  unpack(packed: Uint8Array): unknown[]
}

export default suite(async ({ compare, growth, peer }) => {
  const ordered = await peer<OrderedBinary>('ordered-binary')
  const fdb = await peer<FdbTuple & { default?: FdbTuple }>('fdb-tuple')
  const tuple = fdb.default ?? fdb
  const buffer = new Uint8Array(512)
  const nodeBuffer = Buffer.alloc(512)

  const { output } = outputs.collections
  const txid = parseTxid('ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127')
  const { p2pkh } = bsv21Events.types
  const holder = '1MYAnam22a2ADyMHQbKPn4yWfNmovfHbfD'
  const token = 'ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127_0' as TokenId
  const { ticks } = liquidityChain.collections

  const cases = [
    {
      name: 'output hash',
      encode: () => output.encodeInto(buffer, 0, txid, 7),
      key: output.encode(txid, 7),
      decode: (key: Uint8Array) => output.decode(key),
      tuple: ['h:', Buffer.from(txid), 7]
    },
    {
      name: 'event',
      encode: () => p2pkh.index.encodeInto(buffer, 0, holder, token),
      key: p2pkh.index.encode(holder, token),
      decode: (key: Uint8Array) => p2pkh.index.decode(key),
      tuple: ['z:p2pkh', holder, token]
    },
    {
      name: 'tick',
      encode: () => ticks.encodeInto(buffer, 0, 1066n, -108000000n),
      key: ticks.encode(1066n, -108000000n),
      decode: (key: Uint8Array) => ticks.decode(key),
      tuple: [1, 1066, -108000000]
    }
  ]
  for (const { name, encode, key, decode, tuple: values } of cases) {
    const packed = tuple.pack(values)
    const written = Buffer.alloc(512)
    const length = ordered.writeKey(values, written, 0)
    compare(`encode ${name}`, {
      unit: 'ns/op',
      ours: encode,
      peers: {
        'ordered-binary': () => ordered.writeKey(values, nodeBuffer, 0),
        'fdb-tuple': () => tuple.pack(values)
      }
    })
    compare(`decode ${name}`, {
      unit: 'ns/op',
      ours: () => decode(key),
      peers: {
        'ordered-binary': () => ordered.readKey(written, 0, length),
        'fdb-tuple': () => tuple.unpack(packed)
      }
    })
  }

  growth('prove', [25, 50, 100, 200, 400], n => () => proveMany(n), { unit: 'ms/op', of: 'collections' })
})

/** `n` collections of four shapes that differ late: the pairs have to be walked, not just compared. */
const proveMany = (n: number): number => {
  const declarations = Object.fromEntries(
    Array.from({ length: n }, (_, i) => {
      const name = `shared:prefix:${i}:`
      const shapes = [
        collection({ key: [name, address('owner'), ':', decimal('id')], scans: [[], ['owner']] }),
        collection({ key: [name, escaped('text'), ':', topic('topic')], scans: [[], ['text']] }),
        collection({ key: [name, u64('a'), u64('b')], scans: [{ prefix: ['a'], order: 'value' }] }),
        collection({ key: [name, decimal('a'), '|', decimal('b'), '|'], scans: [['a'], ['a', 'b']] })
      ]
      return [`c${i}`, shapes[i % shapes.length]!]
    })
  )
  return keyspace('growth', { ...declarations, plain: collection({ key: [raw('00')] }) }).proof.states
}
