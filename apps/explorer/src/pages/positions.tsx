/** Positions of liquidity: of a pool, and of an owner. */
import type { ComponentChildren } from 'preact'
import { ask } from '../api/client.ts'
import { type Page, usePages } from '../api/load.ts'
import type { LiquidityPosition } from '../api/types.ts'
import { count, digits, rounded, short } from '../format.ts'
import { Head, List, Section } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import { go } from '../router.ts'
import type { ViewProps } from '../views.ts'

const PAGE = 50

export const OwnerForm = ({ owner }: { readonly owner: string }) => (
  <form
    class="line-form"
    onSubmit={event => {
      event.preventDefault()
      const given = String(new FormData(event.currentTarget).get('owner') ?? '').trim()
      if (given !== '') go(paths.positions(given))
    }}
  >
    <label>
      Owner
      <input
        name="owner"
        class="mono"
        defaultValue={owner}
        placeholder="osmo1…"
        autocomplete="off"
        spellcheck={false}
      />
    </label>
    <button type="submit">Find</button>
  </form>
)

/** Positions of an owner. */
export const PositionsPage = ({ query }: ViewProps) => {
  const owner = query.get('owner') ?? ''
  return (
    <>
      <Head title="Positions" />
      <OwnerForm key={owner} owner={owner} />
      {owner !== '' && (
        <Section title="Found">
          <Positions
            name={owner}
            empty="This owner has no positions"
            load={async (cursor, signal) => {
              const { positions, cursor: next } = await ask('GET /liquidity/owners/{owner}/positions', {
                path: { owner },
                query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
                signal
              })
              return { rows: positions, cursor: next }
            }}
          />
        </Section>
      )}
    </>
  )
}

/** Positions of a pool. */
export const PoolPositions = ({ pool }: { readonly pool: string }) => (
  <Positions
    name={`pool ${pool}`}
    empty="No positions in this pool"
    load={async (cursor, signal) => {
      const { positions, cursor: next } = await ask('GET /liquidity/pools/{pool}/positions', {
        path: { pool },
        query: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
        signal
      })
      return { rows: positions, cursor: next }
    }}
  />
)

interface PositionsProps {
  readonly name: string
  readonly empty: string
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<LiquidityPosition>>
}

const Positions = ({ name, empty, load }: PositionsProps): ComponentChildren => {
  const pages = usePages<LiquidityPosition>(`positions ${name}`, load)
  return (
    <List of={pages} label="Positions" nameOf={({ id }) => id} empty={<Empty title={empty} />}>
      {({ id, owner, pool, lowerTick, upperTick, liquidity, inRange, amount0, amount1 }) => (
        <>
          <span>
            <strong>{id}</strong> in <a href={paths.pool(pool)}>pool {pool}</a>
          </span>
          <span>
            {inRange === undefined ? (
              ''
            ) : (
              <Badge kind={inRange ? 'good' : 'plain'}>{inRange ? 'in range' : 'out of range'}</Badge>
            )}
          </span>
          <span>
            ticks {count(BigInt(lowerTick))} to {count(BigInt(upperTick))}
          </span>
          <span class="row-more">
            <a class="mono" href={paths.positions(owner)} title={owner}>
              <Strange text={short(owner, 10)} />
            </a>
            <span class="quiet">liquidity {rounded(liquidity)}</span>
            {amount0 !== undefined && amount1 !== undefined && (
              <span class="quiet">
                worth {digits(amount0)} and {digits(amount1)}
              </span>
            )}
          </span>
        </>
      )}
    </List>
  )
}
