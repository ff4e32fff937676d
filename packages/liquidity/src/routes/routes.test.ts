/** Concentrated liquidity over HTTP. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { said, startNode, type TestNode } from '../../../node/src/server/node.testing.ts'
import { importGenesis } from '../index.ts'

const FIXTURE = new URL('../fixtures/genesis-2023-04.json.gz', import.meta.url)
const OWNER = 'osmo10qfrpash5g2vk3hppvu45x0g860czur8ff5yx0'

let node: TestNode
let empty: TestNode
beforeAll(async () => {
  node = await startNode()
  empty = await startNode()
  const genesis = gunzipSync(readFileSync(FIXTURE))
  await importGenesis(
    node.engine.outputs.store,
    (async function* () {
      yield genesis
    })()
  )
})
afterAll(async () => {
  await node.close()
  await empty.close()
})

const json = async (path: string, from = node) => {
  const response = await from.get(path)
  expect([path, response.status]).toEqual([path, 200])
  return said(response)
}

describe('concentrated liquidity', () => {
  it('has pools, with what is in them', async () => {
    const { pools, cursor } = await json('/liquidity/pools')
    expect(cursor).toBeNull()
    expect(pools).toHaveLength(1)
    expect(pools[0]).toMatchObject({
      id: '1',
      token0: 'uusdc',
      token1: 'uweth',
      price: '1.000000000000000000000000000000000000',
      liquidity: '407.000000307000000317',
      reserve0: '651607919',
      reserve1: '407'
    })
    expect(await json('/liquidity/pools/1')).toMatchObject({
      pool: { id: '1' },
      fullRangeLiquidity: '407.000000307000000317'
    })
    expect((await json('/liquidity/pools?cursor=1')).pools).toEqual([])
    expect(await json('/liquidity/total')).toEqual({
      profile: 'chain',
      total: [
        { denom: 'uusdc', amount: '651607919' },
        { denom: 'uweth', amount: '407' }
      ],
      more: false
    })
  })

  it('has ticks from anywhere, both ways, in pages that meet', async () => {
    const all: string[] = []
    let query = 'limit=50'
    for (;;) {
      const { ticks, more } = await json(`/liquidity/pools/1/ticks?${query}`)
      all.push(...ticks.map((each: { tick: string }) => each.tick))
      if (!more) break
      query = `limit=50&from=${all.at(-1)}&exclusive=true`
    }
    expect(all).toHaveLength(161)
    expect(all[0]).toBe('-1620')
    expect(all.map(Number)).toEqual(all.map(Number).toSorted((a, b) => a - b))
    const back = await json('/liquidity/pools/1/ticks?from=90&reverse=true')
    expect(back.ticks.map((each: { tick: string }) => each.tick)).toEqual(['90', '-1620'])
    expect(back.ticks[1]).toMatchObject({ price: '0.000000000000000001000000000000000000' })
  })

  it('has positions by pool, by owner and by number, in pages that meet', async () => {
    const pages = async (path: string): Promise<{ id: string; pool: string; owner: string }[]> => {
      const found = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: { positions: { id: string; pool: string; owner: string }[]; cursor: string | null } =
          await json(`${path}?limit=400${cursor && `&cursor=${cursor}`}`)
        found.push(...page.positions)
        cursor = page.cursor
      }
      return found
    }
    const inPool = await pages('/liquidity/pools/1/positions')
    expect(inPool).toHaveLength(1752)
    expect(new Set(inPool.map(each => each.id)).size).toBe(1752)
    const ofOwner = await pages(`/liquidity/owners/${OWNER}/positions`)
    const expected = inPool.filter(each => each.owner === OWNER)
    expect(ofOwner.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual(expected)
    expect((await json(`/liquidity/owners/${OWNER}/positions?pool=2`)).positions).toEqual([])
    expect(await json('/liquidity/positions/10')).toEqual({
      position: {
        id: '10',
        owner: OWNER,
        pool: '1',
        lowerTick: '727',
        upperTick: '818',
        liquidity: '22300039821.208056827956951909',
        joinTime: '2023-04-13T04:30:20.485083198Z',
        inRange: false,
        amount0: '1184717',
        amount1: '0'
      }
    })
    expect(await json('/liquidity/pools/1/incentives?uptime=0')).toEqual({ incentives: [], more: false })
  })

  it('quotes swaps both ways', async () => {
    const paid = await json('/liquidity/pools/1/quote?pay=100uweth')
    expect(paid).toMatchObject({
      pool: '1',
      paid: { denom: 'uweth', amount: '100' },
      bought: { denom: 'uusdc' }
    })
    const bought = await json(`/liquidity/pools/1/quote?buy=${paid.bought.amount}uusdc`)
    // Each way is rounded in favour of the pool.
    expect(Math.abs(Number(bought.paid.amount) - 100)).toBeLessThanOrEqual(2)
  })

  it('has depth as data and as a picture', async () => {
    const depth = await json('/liquidity/pools/1/depth?percent=1000')
    expect(depth).toMatchObject({ pool: '1', token0: 'uusdc', isWhole: true })
    expect(depth.asks.map((each: { tick: string }) => each.tick)).toEqual(['90', '90'])
    const response = await node.get('/liquidity/pools/1/depth.svg?percent=50')
    expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/)
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(await response.text()).toMatch(/^<svg /)
  })

  it('explains raw keys, with values that are given or in the store', async () => {
    const stored = await json('/liquidity/explain/083130')
    expect(stored).toMatchObject({
      profile: 'chain',
      collection: 'positions',
      value: { id: '10', pool: '1' }
    })
    expect(await json('/liquidity/explain/07?value=0805')).toMatchObject({ value: '5' })
  })

  it('is empty where there is none', async () => {
    expect(await json('/liquidity/pools', empty)).toEqual({ pools: [], cursor: null })
    expect(await json('/liquidity/total', empty)).toEqual({ profile: 'chain', total: [], more: false })
  })

  it.each([
    [404, '/liquidity/pools/2'],
    [404, '/liquidity/pools/2/ticks'],
    [404, '/liquidity/pools/2/depth'],
    [404, '/liquidity/pools/2/quote?pay=1uweth'],
    [404, '/liquidity/positions/999999'],
    [404, '/liquidity/explain/ff'],
    [400, '/liquidity/pools/-1'],
    [400, '/liquidity/pools/01'],
    [400, '/liquidity/pools/99999999999999999999'],
    [400, '/liquidity/pools/1/ticks?from=9999999999999999999'],
    [400, '/liquidity/pools/1/ticks?limit=0'],
    [400, '/liquidity/pools/1/depth?percent=0'],
    [400, '/liquidity/pools/1/depth?percent=1e9'],
    [400, '/liquidity/pools/1/depth?ticks=1001'],
    [400, '/liquidity/pools/1/quote'],
    [400, '/liquidity/pools/1/quote?pay=1uweth&buy=1uusdc'],
    [400, '/liquidity/pools/1/quote?pay=0uweth'],
    [400, '/liquidity/pools/1/quote?pay=10uosmo'],
    [400, `/liquidity/pools/1/quote?pay=${'9'.repeat(78)}uweth`],
    [400, '/liquidity/owners/osmo1qqqqqqqq/positions'],
    [400, '/liquidity/explain/07?value=00']
  ])('answers %i to %s', async (status, path) => {
    const response = await node.get(path)
    expect(response.status).toBe(status)
    expect(await said(response)).toMatchObject({ status: 'error', code: expect.stringMatching(/^ERR_/) })
  })
})
