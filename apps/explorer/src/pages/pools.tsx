/** The pools of concentrated liquidity. */
import { ask } from '../api/client.ts'
import { useLoad, usePages } from '../api/load.ts'
import type { LiquidityPool } from '../api/types.ts'
import { digits, rounded } from '../format.ts'
import { Head, List, Section } from '../parts/layout.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import { OwnerForm } from './positions.tsx'

export const PoolsPage = () => {
  const pages = usePages<LiquidityPool>('pools', async (cursor, signal) => {
    const { pools, cursor: next } = await ask('GET /liquidity/pools', {
      query: { limit: 50, ...(cursor !== undefined && { cursor }) },
      signal
    })
    return { rows: pools, cursor: next }
  })
  const total = useLoad('total', signal => ask('GET /liquidity/total', { query: { limit: 20 }, signal }))
  return (
    <>
      <Head title="Liquidity">
        <p class="lead">Pools of concentrated liquidity in the store of this node.</p>
      </Head>
      <Section title="Pools">
        <List
          of={pages}
          label="Pools"
          nameOf={({ id }) => id}
          empty={
            <Empty title="No pools in this store">
              A dump of a chain is imported with <code>quoin liquidity import</code>.
            </Empty>
          }
        >
          {({ id, token0, token1, price, spreadFactor, reserve0, reserve1 }) => (
            <>
              <a class="entry-key" href={paths.pool(id)}>
                Pool {id}: <Strange text={token0} most={30} /> / <Strange text={token1} most={30} />
              </a>
              <span>
                <span class="amount">{rounded(price)}</span>{' '}
                <span class="unit">
                  <Strange text={token1} most={20} /> each
                </span>
              </span>
              <span>
                {reserve0 !== undefined && reserve1 !== undefined && (
                  <>
                    {digits(reserve0)} <Strange text={token0} most={30} />, {digits(reserve1)}{' '}
                    <Strange text={token1} most={30} />
                  </>
                )}{' '}
                <span class="quiet">spread {rounded(String(Number(spreadFactor) * 100))} %</span>
              </span>
            </>
          )}
        </List>
      </Section>
      <Section title="Positions of an owner">
        <OwnerForm owner="" />
      </Section>
      <Section title="In all pools">
        <Shown of={total} lines={1}>
          {({ total: coins }) =>
            coins.length === 0 ? (
              <p class="quiet">Nothing.</p>
            ) : (
              <ul class="rows" aria-label="In all pools">
                {coins.map(({ denom, amount }) => (
                  <li key={denom}>
                    <Strange text={denom} most={60} />
                    <span class="amount">{digits(amount)}</span>
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
      </Section>
    </>
  )
}
