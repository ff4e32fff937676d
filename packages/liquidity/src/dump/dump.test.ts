/** Importing and exporting: the real state of 2023, states of today, raw pairs; nothing is lost, nothing is believed. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { toHex } from '@quoin/primitives'
import { openStore, type Store, storeLayouts } from '@quoin/store'
import { afterEach, describe, expect, it } from 'vitest'
import { DEC } from '../decimal.ts'
import { depthOf } from '../depth.ts'
import { liquidityChain } from '../keys.ts'
import { quoteExactIn } from '../machine/swap.ts'
import { liquidityAux, type Profile } from '../profile.ts'
import { Liquidity } from '../state.ts'
import { address, NOW, poolOf, positionOf, tickOf } from '../values.testing.ts'
import { pairsCodec } from '../values.ts'
import { exportGenesis } from './genesis-export.ts'
import { importGenesis } from './genesis-import.ts'
import { largePoolGenesis } from './large-pool.testing.ts'
import type { LoadProgress } from './load.ts'
import { exportRaw, importRaw } from './raw.ts'

const GENESIS = gunzipSync(readFileSync(new URL('../fixtures/genesis-2023-04.json.gz', import.meta.url)))
interface Genesis2023 {
  bank: { balances: { coins: { denom: string; amount: string }[] }[] }
  concentratedliquidity: { pool_data: { fee_accumulator: { accum_content: { total_shares: string } } }[] }
}
const document = JSON.parse(GENESIS.toString()) as Genesis2023

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})
const newStore = async (): Promise<Store> => {
  const store = await openStore('memory:')
  stores.push(store)
  return store
}
async function* stream(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const bytes = typeof part === 'string' ? new TextEncoder().encode(part) : part
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  }
}
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
const textOf = async (pieces: AsyncIterable<string>): Promise<string> => (await all(pieces)).join('')
const lines = (store: Store): Promise<string> => textOf(exportRaw(store))
const refusal = (message: RegExp) => ({
  code: 'ERR_LIQUIDITY_IMPORT',
  message: expect.stringMatching(message)
})

describe('the export of April 2023', () => {
  const imported = async (profile?: Profile): Promise<{ store: Store; liquidity: Liquidity }> => {
    const store = await newStore()
    await importGenesis(store, stream(GENESIS), { profile })
    return { store, liquidity: await Liquidity.open(store) }
  }

  it('is imported, and its sums are exact', async () => {
    const store = await newStore()
    const seen: LoadProgress[] = []
    const report = await importGenesis(store, stream(GENESIS), { onProgress: each => seen.push(each) })
    expect(report).toEqual({ profile: 'chain', rows: 1922, pools: 1, ticks: 161, positions: 1752, drift: [] })
    expect(seen.map(({ doing }) => doing)).toEqual(['reading', 'indexing'])

    const liquidity = await Liquidity.open(store)
    // Every tick's gross and net, the active liquidity, the indexes: all made again from the positions.
    expect(await all(liquidity.verify())).toEqual([])
    const positions = await all(liquidity.positionsIn(1n))
    expect(positions).toHaveLength(1752)
    const sum = positions.reduce((total, { liquidity: each }) => total + each, 0n)
    expect(sum).toBe((await liquidity.accumulator({ pool: 1n }))?.totalShares)
    expect(sum).toBe((await liquidity.accumulator({ pool: 1n, uptime: 4 }))?.totalShares)
    expect(sum).toBe(340737991298803799652040991347630n)
    const ticks = await all(liquidity.ticks(1n))
    expect(ticks[0]?.index).toBe(-1620n)
    expect(ticks.reduce((total, { info }) => total + info.liquidityNet, 0n)).toBe(0n)
    const full = positions.filter(({ lowerTick, upperTick }) => lowerTick === -1620n && upperTick === 3420n)
    expect(full).toHaveLength(21)
    expect(await liquidity.fullRange(1n)).toBe(full.reduce((total, each) => total + each.liquidity, 0n))
    expect(new Set(positions.map(({ owner }) => owner)).size).toBe(10)
    for (const owner of new Set(positions.map(each => each.owner)))
      expect(await all(liquidity.positionsOf(owner))).toHaveLength(
        positions.filter(each => each.owner === owner).length
      )
  })

  it('is worth what the bank had in the account of the pool', async () => {
    const { liquidity } = await imported()
    const { amount0, amount1 } = await liquidity.reserves(1n)
    const coins = document.bank.balances[0]!.coins
    expect([amount0 / 10n ** 54n, amount1 / 10n ** 54n]).toEqual(coins.map(({ amount }) => BigInt(amount)))
    expect(await liquidity.totalLiquidity(coins[0]!.denom)).toBe(BigInt(coins[0]!.amount) + 1n)
  })

  it.each(['chain', 'seed'] as const)(
    'is exported again without loss, under the profile %s',
    async profile => {
      const { liquidity } = await imported(profile)
      const again = JSON.parse(await textOf(exportGenesis(liquidity, { schema: '2023' }))) as Genesis2023
      expect(again.concentratedliquidity).toEqual(document.concentratedliquidity)
    }
  )

  it('is the same state after a way through the schema of today, and through raw pairs', async () => {
    const { store, liquidity } = await imported()
    const raw = await lines(store)
    const other = await newStore()
    await importGenesis(other, stream(await textOf(exportGenesis(liquidity))))
    // What 2023 had no name for has one now.
    const added = [...new Set((await lines(other)).split('\n'))].filter(line => !raw.includes(line))
    expect(added).toEqual([
      '{"key":"12","value":"0801"}',
      '{"key":"15","value":"0000000000000000"}',
      '{"key":"16","value":"0000000000000000"}'
    ])
    const third = await newStore()
    const report = await importRaw(third, stream(raw))
    expect(report.drift).toEqual([])
    expect(await lines(third)).toBe(raw)
    expect(await all((await Liquidity.open(third)).verify())).toEqual([])
  })

  it('may be a whole file of a chain, or the state of the module alone', async () => {
    const state = JSON.stringify(document.concentratedliquidity)
    for (const text of [
      `{"chain_id": "osmosis-1", "app_state": {"auth": {"params": {}}, "concentratedliquidity": ${state}, "params": null}}`,
      state
    ]) {
      const store = await newStore()
      await importGenesis(store, stream(text))
      const exported = await textOf(exportGenesis(await Liquidity.open(store), { schema: '2023' }))
      expect((JSON.parse(exported) as Genesis2023).concentratedliquidity).toEqual(
        document.concentratedliquidity
      )
    }
  })

  it.each<[string, (text: string) => string, RegExp]>([
    [
      'another form of number',
      text => text.replace('"tick_index":"90"', '"tick_index":90'),
      /ticks\.\*\.tick_index is not an integer/
    ],
    [
      'a field that is missing',
      text => text.replace('"pool_id":"1","tick_index":"90"', '"tick_index":"90"'),
      /pool_id is not a number/
    ],
    [
      'a field that we do not know',
      text => text.replace('"tick_index":"90"', '"tick_index":"90","colour":"red"'),
      /colour is not known/
    ],
    [
      'a part that we do not know',
      text => text.replace('"next_position_id"', '"next_pool_id"'),
      /next_pool_id is not known/
    ],
    [
      'a position of a pool that is not there',
      text =>
        text.replace(
          '"position_id":"10","address":"osmo10qfrpash5g2vk3hppvu45x0g860czur8ff5yx0","pool_id":"1"',
          '"position_id":"10","address":"osmo10qfrpash5g2vk3hppvu45x0g860czur8ff5yx0","pool_id":"2"'
        ),
      /in an unknown pool/
    ],
    [
      'an accumulator without a pool',
      text => text.replace('\\u000b/1', '\\u000b/x'),
      /name of an accumulator/
    ],
    [
      'another kind of file',
      () => '{"app_state": {"bank": {}}}',
      /does not contain the state of concentratedliquidity/
    ],
    ['a file that is cut off', text => text.slice(0, 100_000), /cut off/]
  ])('is refused with %s', async (_, spoil, message) => {
    const store = await newStore()
    await expect(importGenesis(store, stream(spoil(GENESIS.toString())))).rejects.toMatchObject(
      refusal(message)
    )
  })
})

describe('a state of today', () => {
  const OWNER = address(3)
  /** A state with everything that an export can have. */
  const filled = async (): Promise<{ store: Store; liquidity: Liquidity }> => {
    const store = await newStore()
    const liquidity = await Liquidity.open(store)
    await liquidity.change(async unit => {
      for (const id of [1n, 2n, 10n]) {
        unit.setPool(poolOf(id, { liquidity: 5n * DEC, sqrtPrice: 10n ** 36n + 1n }))
        unit.setTick(id, -100n, {
          ...tickOf(5n * DEC, 5n * DEC),
          uptimeGrowth: [[], [{ denom: 'uion', amount: 3n }]]
        })
        unit.setTick(id, 100n, {
          ...tickOf(5n * DEC, -5n * DEC),
          spreadRewardGrowth: [{ denom: 'uosmo', amount: -7n }]
        })
        await unit.setPosition(positionOf(id * 10n, { pool: id, owner: OWNER }))
        for (const uptime of [undefined, 0, 1, 2, 3, 4, 5]) {
          unit.setAccumulator(
            { pool: id, uptime },
            { value: [{ denom: 'uosmo', amount: id }], totalShares: 5n * DEC }
          )
          unit.setAccumulatorRecord({ pool: id, uptime }, id * 10n, {
            shares: 5n * DEC,
            valuePerShare: [{ denom: 'uosmo', amount: -id }],
            unclaimed: [],
            options: uptime !== undefined
          })
        }
        unit.setIncentive({
          pool: id,
          uptime: 5,
          id: await unit.takeIncentiveId(),
          creator: '',
          body: { remaining: { denom: 'uion', amount: 1n }, emissionRate: DEC, startTime: NOW }
        })
      }
      await unit.setLock(10n, 4n)
      unit.setNextPositionId(101n)
      unit.setThreshold('incentive', 1n)
      unit.setThreshold('spread', 2n)
      unit.setHook(1n, 'beforeCreatePosition', OWNER)
      for (const denom of ['uatom', 'uosmo']) await unit.addTotalLiquidity(denom, 3n)
    })
    expect(await all(liquidity.verify())).toEqual([])
    return { store, liquidity }
  }

  it('is the same after export and import, save for hooks, which an export does not have', async () => {
    const { store, liquidity } = await filled()
    const text = await textOf(exportGenesis(liquidity))
    const json = JSON.parse(text).concentratedliquidity
    expect(json.pool_data.map((each: { pool: { id: string } }) => each.pool.id)).toEqual(['1', '10', '2'])
    expect(json.pool_data[0].pool.current_sqrt_price).toBe('1.000000000000000000000000000000000001')
    expect(json.pool_data[0].incentive_records[0]).toMatchObject({
      incentive_id: '1',
      min_uptime: '1209600s'
    })
    expect(json.position_data[0]).toMatchObject({
      lock_id: '4',
      spread_reward_accum_record: { options: null },
      uptime_accum_records: [{ options: {} }, {}, {}, {}, {}, {}]
    })
    const other = await newStore()
    await importGenesis(other, stream(text))
    const hook = toHex(liquidityChain.collections.hooks.encode(1n, 'beforeCreatePosition'))
    const expected = (await lines(store)).split('\n').filter(line => !line.includes(hook))
    expect((await lines(other)).split('\n')).toEqual(expected)
    expect(await textOf(exportGenesis(await Liquidity.open(other)))).toBe(text)
  })

  it('is the same after raw pairs in either encoding, and in answers of a node', async () => {
    const { store } = await filled()
    const hex = await lines(store)
    const base64 = await textOf(exportRaw(store, { encoding: 'base64' }))
    const pairs = hex
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { key: string; value: string })
      .map(({ key, value }) => ({ key: Buffer.from(key, 'hex'), value: Buffer.from(value, 'hex') }))
    const answer = (some: typeof pairs): string =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        result: {
          response: { code: 0, height: '5', value: Buffer.from(pairsCodec.encode(some)).toString('base64') }
        }
      })
    // Backwards, so that positions come before their pools.
    const answers = `${answer(pairs.slice(20).toReversed())}\n\n${answer(pairs.slice(0, 20).toReversed())}`
    // As a node writes it when it is asked with a URL.
    const pretty = JSON.stringify(JSON.parse(answer(pairs)), null, 2)
    for (const [text, encoding] of [
      [hex, 'hex'],
      [pretty, 'hex'],
      [base64, 'base64'],
      [answers, 'hex']
    ] as const) {
      for (const given of [encoding, undefined]) {
        const other = await newStore()
        expect((await importRaw(other, stream(text), { encoding: given })).drift).toEqual([])
        expect(await lines(other)).toBe(hex)
      }
    }
  })

  it('tells where indexes are wrong and counts too low, and keeps the counts of the node', async () => {
    const { store } = await filled()
    const { fullRangeLiquidity, totalLiquidity, positionsByPool } = liquidityChain.collections
    const counts = [
      `{"key":"${toHex(fullRangeLiquidity.encode(1n))}","value":"0a0135"}`,
      `{"key":"${toHex(totalLiquidity.encode('uatom'))}","value":"32"}`,
      `{"key":"${toHex(totalLiquidity.encode('uosmo'))}","value":"3939"}`
    ]
    const kept = (await lines(store)).split('\n').filter(line => !line.startsWith('{"key":"13'))
    const entry = `{"key":"${toHex(positionsByPool.encode(1n, 77n))}","value":"01"}`
    const other = await newStore()
    const { drift } = await importRaw(other, stream([...kept, ...counts, entry].join('\n')))
    expect(drift).toEqual([
      { collection: 'positionsByPool', key: 'entries', given: '4', derived: '3' },
      { collection: 'totalLiquidity', key: 'uatom', given: '2', derived: '3' }
    ])
    const liquidity = await Liquidity.open(other)
    expect(await all(liquidity.verify())).toEqual([])
    expect(await liquidity.fullRange(1n)).toBe(5n)
    const again = (await lines(other)).split('\n')
    for (const count of counts) expect(again).toContain(count)
    expect(again).not.toContain(entry)
  })

  it('never gives an id again that a position has', async () => {
    const { store } = await filled()
    const without = (await lines(store)).split('\n').filter(line => !line.startsWith('{"key":"07"'))
    const other = await newStore()
    await importRaw(other, stream(without.join('\n')))
    expect(await (await Liquidity.open(other)).nextPositionId()).toBe(101n)
  })

  it.each<[string, string, RegExp]>([
    ['a key of nothing', '{"key":"ff","value":"01"}', /line 2: ff is not a key/],
    [
      'a tick with a foreign sign byte',
      '{"key":"010000000000000001070000000000000001","value":"0a01301201302200"}',
      /line 2: .* is not a key/
    ],
    ['a value that is none', '{"key":"0831","value":"00"}', /line 2: Position: byte 0/],
    ['a decimal that is not the shortest', '{"key":"0e31","value":"0a023030"}', /line 2: DecProto/],
    ['text that is no JSON', '{x}', /line 2: not JSON/],
    ['text that has no end', '{', /line \d: not JSON/],
    ['neither hexadecimal nor base64', '{"key":"0G","value":""}', /line 2: a key or value is not base64/],
    [
      'another encoding than its first pair has',
      '{"key":"07","value":"0805"}\n{"key":"Bw==","value":""}',
      /line 3: a key or value is not hex/
    ],
    [
      'a refusal of the node',
      '{"result":{"response":{"code":5,"log":"no"}}}',
      /line 2: the node answered with code 5/
    ],
    ['an error of the node', '{"error":{"code":-32603}}', /line 2: the node answered with an error/]
  ])('is refused with %s', async (_, line, message) => {
    const store = await newStore()
    await expect(importRaw(store, stream(`\n${line}\n`))).rejects.toMatchObject(refusal(message))
  })

  it('does not fit where there is no room for it', async () => {
    const { liquidity } = await filled()
    await expect(textOf(exportGenesis(liquidity, { schema: '2023' }))).rejects.toMatchObject({
      code: 'ERR_LIQUIDITY_EXPORT'
    })
    const text = await textOf(exportGenesis(liquidity))
    await expect(importGenesis(await newStore(), stream(text), { profile: 'seed' })).rejects.toMatchObject(
      refusal(/no creators/)
    )
  })
})

describe('a pool with two ticks for each position', () => {
  const COUNT = 500

  it('is imported with all that follows from its positions, and quotes across its ticks', async () => {
    const store = await newStore()
    const report = await importGenesis(store, largePoolGenesis(COUNT))
    expect(report).toMatchObject({ pools: 1, ticks: 2 * COUNT, positions: COUNT, drift: [] })
    const liquidity = await Liquidity.open(store)
    expect(await all(liquidity.verify())).toEqual([])
    const coin = { denom: 'uatom', amount: 200_000n }
    const { ticksCrossed, bought } = await quoteExactIn(liquidity, { pool: 1n, coin })
    expect(ticksCrossed).toBeGreaterThan(50)
    const { bids } = await depthOf(liquidity, 1n, { percent: 10 })
    expect(bids.length).toBeGreaterThan(ticksCrossed)
    expect(bids[ticksCrossed]!.amount1).toBeGreaterThan(bought.amount)
    expect(bids[ticksCrossed - 1]!.amount1).toBeLessThan(coin.amount)
  })
})

describe('a load', () => {
  it('is into an empty store only', async () => {
    const store = await newStore()
    await (await Liquidity.open(store)).change(async unit => unit.setPool(poolOf(1n)))
    await expect(importGenesis(store, stream(GENESIS))).rejects.toMatchObject({
      code: 'ERR_LIQUIDITY_NOT_EMPTY'
    })
    await expect(importRaw(store, stream(''), { profile: 'seed' })).rejects.toMatchObject({
      code: 'ERR_LIQUIDITY_PROFILE'
    })
  })

  it('that fails leaves the store as empty as it was, for the other profile too', async () => {
    const store = await newStore()
    const early = await Liquidity.open(store)
    const cutOff = async function* (): AsyncGenerator<Uint8Array> {
      yield GENESIS.subarray(0, 300_000)
      throw new Error('the disk is gone')
    }
    await expect(importGenesis(store, cutOff())).rejects.toThrow('the disk is gone')
    const left = (await store.range(new Uint8Array())).map(({ key }) => Buffer.from(key).toString('latin1'))
    expect(left.filter(key => !/^(?:quoin:|liquidity:revision$)/.test(key))).toEqual([])
    expect((await all((await Liquidity.open(store)).pools())).length).toBe(0)
    await early.change(async unit => unit.setPool(poolOf(7n)))
    const other = await newStore()
    await expect(importGenesis(other, cutOff(), { profile: 'seed' })).rejects.toThrow('the disk is gone')
    expect((await importGenesis(other, stream(GENESIS), { profile: 'chain' })).positions).toBe(1752)
  })

  it('that was cut off with its process leaves a store that is not opened, and is cleared by the next', async () => {
    const store = await newStore()
    const early = await Liquidity.open(store)
    // As if the process had ended just before the load did: everything is there, and so is the mark.
    await importGenesis(store, stream(GENESIS))
    const { loading: mark } = liquidityAux.collections
    await store.set(mark.encode(), mark.value.codec.encode('genesis'))
    const loading = { code: 'ERR_LIQUIDITY_LOADING' }
    await expect(Liquidity.open(store)).rejects.toMatchObject(loading)
    await expect(early.change(async unit => unit.setPool(poolOf(7n)))).rejects.toMatchObject(loading)

    await importRaw(store, stream('{"key":"07","value":"0805"}'))
    expect(await lines(store)).toBe('{"key":"07","value":"0805"}\n')
    const left = await store.range(new Uint8Array())
    const { revision, profile } = liquidityAux.collections
    const { layouts } = storeLayouts.collections
    expect(left.map(({ key }) => toHex(key)).toSorted()).toEqual(
      ['07', toHex(revision.encode()), toHex(profile.encode()), toHex(layouts.encode())].toSorted()
    )
    expect((await Liquidity.open(store)).profile).toBe('chain')
  })
})
