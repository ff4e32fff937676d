/** Every form of key as the chain writes it, of 600 random pools, positions, addresses, ticks and locks. */
import { fromHex, toHex } from '@quoin/primitives'
import { expect, it } from 'vitest'
import { HOOK_ACTIONS, liquidityChain } from '../keys.ts'
import { chainKeys } from './vectors.testing.ts'

const { collections } = liquidityChain
const vectors = chainKeys() as unknown as readonly Readonly<Record<string, string>>[]

const scanOf = (range: { readonly start: Uint8Array }): string => toHex(range.start)
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** The keys and prefixes of a vector. */
const keysOf = (vector: Readonly<Record<string, string>>): Record<string, string> => {
  const id = (name: string): bigint => BigInt(vector[name]!)
  const [pool, position, lock, tick] = ['pool', 'position', 'lock', 'tick'].map(id) as [
    bigint,
    bigint,
    bigint,
    bigint
  ]
  const uptime = BigInt(vector['uptime']!)
  const owner = fromHex(vector['addr']!)
  const action = HOOK_ACTIONS.find(each => latin1(fromHex(vector['hook']!)).endsWith(`|${each}`))!
  const { ticks, pools, positions, positionsByOwner, positionsByPool, incentives } = collections
  return {
    ticks: toHex(ticks.encode(pool, tick)),
    ticksOf: scanOf(ticks.scan(pool)),
    pools: toHex(pools.encode(pool)),
    positions: toHex(positions.encode(position)),
    byOwner: toHex(positionsByOwner.encode(owner, pool, position)),
    byOwnerOf: scanOf(positionsByOwner.scan(owner)),
    byOwnerPool: scanOf(positionsByOwner.scan(owner, pool)),
    byPool: toHex(positionsByPool.encode(pool, position)),
    byPoolOf: scanOf(positionsByPool.scan(pool)),
    incentives: toHex(incentives.encode(pool, uptime, position)),
    incentivesPool: scanOf(incentives.scan(pool)),
    incentivesUptime: scanOf(incentives.scan(pool, uptime)),
    positionLocks: toHex(collections.positionLocks.encode(position)),
    lockPositions: toHex(collections.lockPositions.encode(lock)),
    fullRange: toHex(collections.fullRangeLiquidity.encode(pool)),
    hook: toHex(collections.hooks.encode(pool, action)),
    // Names of accumulators and of positions in them, inside of their keys.
    spreadAcc: latin1(collections.spreadAccumulators.encode(pool)).replace('accum||acc||', ''),
    uptimeAcc: latin1(collections.uptimeAccumulators.encode(pool, uptime)).replace('accum||acc||', ''),
    spreadPos: latin1(collections.spreadPositions.encode(pool, position)).replace(/^.*\|\|(?=\n\|)/s, '')
  }
}

it('writes each key and each prefix of a scan as the chain does', () => {
  expect(vectors).toHaveLength(600)
  const differences = vectors.flatMap(vector => {
    const found = keysOf(vector)
    const expected = Object.fromEntries(Object.keys(found).map(name => [name, vector[name]]))
    return JSON.stringify(found) === JSON.stringify(expected) ? [] : [{ expected, found }]
  })
  expect(differences).toEqual([])
})
