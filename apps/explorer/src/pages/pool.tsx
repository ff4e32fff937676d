/** A pool: its price, depth, ticks and positions, and quotes of swaps. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Answer, ask } from '../api/client.ts'
import { asError, useLoad, usePages } from '../api/load.ts'
import type { LiquidityDepth, LiquidityPool, LiquidityTick } from '../api/types.ts'
import { count, digits, rounded } from '../format.ts'
import { Facts, Head, List, Section, Tile } from '../parts/layout.tsx'
import { LazyChart } from '../parts/lazy-chart.tsx'
import { Empty, Failure, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import type { ViewProps } from '../views.ts'
import { PoolPositions } from './positions.tsx'

export const PoolPage = ({ parameter: id }: ViewProps) => {
  const loading = useLoad(id, signal => ask('GET /liquidity/pools/{pool}', { path: { pool: id }, signal }))
  return (
    <Shown of={loading} lines={8}>
      {({ pool, fullRangeLiquidity }) => (
        <>
          <Head
            kind={`Pool ${pool.id}`}
            title={
              <>
                <Strange text={pool.token0} most={40} /> / <Strange text={pool.token1} most={40} />
              </>
            }
          />
          <div class="tiles long">
            <Tile name="Price" value={<span title={pool.price}>{rounded(pool.price)}</span>}>
              <Strange text={pool.token1} most={30} /> for one <Strange text={pool.token0} most={30} />
            </Tile>
            <Tile
              name="Liquidity at the price"
              value={<span title={pool.liquidity}>{rounded(pool.liquidity, 0)}</span>}
            />
            {pool.reserve0 !== undefined && (
              <Tile name="First reserve" value={digits(pool.reserve0)}>
                <Strange text={pool.token0} most={30} />
              </Tile>
            )}
            {pool.reserve1 !== undefined && (
              <Tile name="Second reserve" value={digits(pool.reserve1)}>
                <Strange text={pool.token1} most={30} />
              </Tile>
            )}
          </div>
          <Section title="Depth">
            <Depth pool={pool} />
          </Section>
          <Section title="Quote">
            <QuoteForm pool={pool} />
          </Section>
          <Section title="Positions">
            <PoolPositions pool={pool.id} />
          </Section>
          <Section title="Ticks">
            <Ticks pool={pool.id} />
          </Section>
          <Section title="About">
            <Facts
              of={{
                Tick: count(BigInt(pool.tick)),
                'Tick spacing': digits(pool.tickSpacing),
                'Spread factor': pool.spreadFactor,
                'Full range': rounded(fullRangeLiquidity),
                Address: <span class="mono">{pool.address}</span>,
                'Last change': pool.lastLiquidityUpdate
              }}
            />
          </Section>
        </>
      )}
    </Shown>
  )
}

type Columns = readonly [number[], (number | null)[], (number | null)[]]

/**
 * Depth by price: the amount of the second token that moves the price as far, down on the left and up on the right.
 */
export const depthColumns = ({ price, bids, asks }: LiquidityDepth): Columns => {
  const here = Number(price)
  const down = [...bids].reverse()
  return [
    [...down.map(each => Number(each.price)), here, ...asks.map(each => Number(each.price))],
    [...down.map(each => Number(each.amount1)), 0, ...asks.map(() => null)],
    [...down.map(() => null), 0, ...asks.map(each => Number(each.amount1))]
  ]
}

const Depth = ({ pool: { id, token1 } }: { readonly pool: LiquidityPool }) => {
  const loading = useLoad(id, signal =>
    ask('GET /liquidity/pools/{pool}/depth', { path: { pool: id }, query: {}, signal })
  )
  return (
    <Shown of={loading}>
      {depth =>
        depth.bids.length + depth.asks.length === 0 ? (
          <Empty title="No liquidity around the price" />
        ) : (
          <DepthChart depth={depth} token1={token1} />
        )
      }
    </Shown>
  )
}

const DepthChart = ({ depth, token1 }: { readonly depth: LiquidityDepth; readonly token1: string }) => {
  const data = useMemo(() => depthColumns(depth), [depth])
  const far = (points: LiquidityDepth['bids']): string =>
    points.length === 0
      ? 'nothing'
      : `${digits(points.at(-1)!.amount1)} ${token1} to ${rounded(points.at(-1)!.price)}`
  const label = `From ${rounded(depth.price)}, the price falls for ${far(depth.bids)}, and rises for ${far(depth.asks)}`
  return (
    <LazyChart
      label={label}
      data={data}
      height={240}
      series={[
        { label: `${token1} paid out as the price falls`, colour: '--two' },
        { label: `${token1} paid in as it rises`, colour: '--one' }
      ]}
    />
  )
}

type SwapQuote = Answer<'GET /liquidity/pools/{pool}/quote'>

const QuoteForm = ({ pool: { id, token0, token1 } }: { readonly pool: LiquidityPool }) => {
  const [done, setDone] = useState<{ readonly quote: SwapQuote } | { readonly error: Error } | undefined>()
  const asking = useRef(new AbortController())
  useEffect(() => () => asking.current.abort(), [])
  const quote = async (way: 'pay' | 'buy', amount: string, denom: string): Promise<void> => {
    const coin = `${amount}${denom}`
    // Aborts the previous request, whose response may come later.
    asking.current.abort()
    asking.current = new AbortController()
    const { signal } = asking.current
    setDone(undefined)
    try {
      const answer = await ask('GET /liquidity/pools/{pool}/quote', {
        path: { pool: id },
        query: way === 'pay' ? { pay: coin } : { buy: coin },
        signal
      })
      if (!signal.aborted) setDone({ quote: answer })
    } catch (failed) {
      if (!signal.aborted) setDone({ error: asError(failed) })
    }
  }
  return (
    <form
      class="line-form"
      onSubmit={event => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        const amount = String(given.get('amount') ?? '').replaceAll(/[\s,]/g, '')
        void quote(given.get('way') === 'buy' ? 'buy' : 'pay', amount, String(given.get('denom')))
      }}
    >
      <label class="short">
        I
        <select name="way">
          <option value="pay">pay</option>
          <option value="buy">get</option>
        </select>
      </label>
      <label>
        Amount
        <input name="amount" inputmode="numeric" pattern="[1-9][0-9,\s]*" required autocomplete="off" />
      </label>
      <label class="short">
        Of
        <select name="denom">
          <option>{token0}</option>
          <option>{token1}</option>
        </select>
      </label>
      <button type="submit">Quote</button>
      <div aria-live="polite">
        {done && ('error' in done ? <Failure error={done.error} /> : <Outcome quote={done.quote} />)}
      </div>
    </form>
  )
}

const Outcome = ({
  quote: { paid, bought, spreadReward, price, ticksCrossed }
}: {
  readonly quote: SwapQuote
}) => (
  <p class="card">
    <strong>
      {digits(paid.amount)} <Strange text={paid.denom} most={30} />
    </strong>{' '}
    for{' '}
    <strong>
      {digits(bought.amount)} <Strange text={bought.denom} most={30} />
    </strong>
    <span class="quiet">
      {' '}
      of that {digits(spreadReward.amount)} <Strange text={spreadReward.denom} most={30} /> to those who
      provide; the price is then {rounded(price)},{' '}
      {ticksCrossed === 1 ? '1 tick' : `${count(ticksCrossed)} ticks`} crossed
    </span>
  </p>
)

const TICKS = 50

const Ticks = ({ pool }: { readonly pool: string }) => {
  const pages = usePages<LiquidityTick>(`ticks ${pool}`, async (cursor, signal) => {
    const { ticks, more } = await ask('GET /liquidity/pools/{pool}/ticks', {
      path: { pool },
      query: { limit: TICKS, ...(cursor !== undefined && { from: cursor, exclusive: true }) },
      signal
    })
    return { rows: ticks, cursor: more ? ticks.at(-1)!.tick : null }
  })
  return (
    <List of={pages} label="Ticks" nameOf={({ tick }) => tick} empty="No tick has liquidity">
      {({ tick, price, liquidityNet }) => (
        <>
          <span class="mono">{count(BigInt(tick))}</span>
          <span title={price}>at {rounded(price)}</span>
          <span class="quiet">
            liquidity {liquidityNet.startsWith('-') ? 'ends' : 'begins'}:{' '}
            {rounded(liquidityNet.replace('-', ''))}
          </span>
        </>
      )}
    </List>
  )
}
