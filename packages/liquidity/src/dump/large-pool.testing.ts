/**
 * A state export of one large pool, generated as it is read: every position has two ticks of its own, around the price
 * 1, and all records of rewards. Ticks, shares and the active liquidity are the sums of the positions.
 */
import { formatAddress } from '../bech32.ts'
import { DEC } from '../decimal.ts'
import { UPTIMES } from '../machine/uptime.ts'
import { poolOf, positionOf, tickOf } from '../values.testing.ts'
import type { AccumulatorContent, Position } from '../values.ts'
import { formsOf, type NamedAccumulator } from './genesis-form.ts'

const SPACING = 100n
const OWNERS = 5_000
/** Upper ends are in another order than lower ends. The number is prime, so that every size but its multiples works. */
const STRIDE = 7_919
const ROWS_PER_CHUNK = 256

const ownerOf = (n: number): string => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(0, n)
  return formatAddress({ prefix: 'osmo', bytes })
}

/** Position `n` of `count`, from 0. */
const positionNumber = (n: number, count: number): Position =>
  positionOf(BigInt(n + 1), {
    owner: ownerOf(n % OWNERS),
    lowerTick: -SPACING * BigInt(n + 1),
    upperTick: SPACING * BigInt(((n * STRIDE) % count) + 1),
    liquidity: BigInt(1_000_000 + n) * DEC
  })

export async function* largePoolGenesis(count: number): AsyncGenerator<Uint8Array> {
  const forms = formsOf('today')
  const position = (n: number): Position => positionNumber(n, count)
  const byUpper = new Uint32Array(count)
  let shares = 0n
  for (let n = 0; n < count; n++) {
    byUpper[(n * STRIDE) % count] = n
    shares += position(n).liquidity
  }
  const pool = poolOf(1n, { tickSpacing: SPACING, liquidity: shares, address: ownerOf(OWNERS) })
  const content: AccumulatorContent = { value: [], totalShares: shares }
  const accumulator = (name: string): unknown =>
    forms.accumulator.write({ name, content } as NamedAccumulator)

  function* ticks(): Generator<unknown> {
    for (let n = count - 1; n >= 0; n--) {
      const { lowerTick: index, liquidity } = position(n)
      yield forms.tick.write({ pool: 1n, index, info: tickOf(liquidity, liquidity) })
    }
    for (const n of byUpper) {
      const { upperTick: index, liquidity } = position(n)
      yield forms.tick.write({ pool: 1n, index, info: tickOf(liquidity, -liquidity) })
    }
  }
  function* positions(): Generator<unknown> {
    for (let n = 0; n < count; n++) {
      const { liquidity } = position(n)
      const record = { shares: liquidity, valuePerShare: [], unclaimed: [] }
      yield forms.position.write({
        position: position(n),
        lock: 0n,
        spreadRecord: { ...record, options: false },
        uptimeRecords: UPTIMES.map(() => ({ ...record, options: true }))
      })
    }
  }

  const encoder = new TextEncoder()
  yield encoder.encode(
    `{"concentratedliquidity":{"pool_data":[{"pool":${JSON.stringify(forms.pool.write(pool))},"ticks":[`
  )
  yield* chunks(ticks())
  yield encoder.encode(
    `],"spread_reward_accumulator":${JSON.stringify(accumulator('\x0b/1'))},"incentives_accumulators":${JSON.stringify(
      UPTIMES.map((_, uptime) => accumulator(`\x0c/1/${uptime}`))
    )},"incentive_records":[]}],"position_data":[`
  )
  yield* chunks(positions())
  yield encoder.encode(`],"next_position_id":"${count + 1}"}}`)
}

/** Elements of an array as text, many in one chunk. */
function* chunks(values: Iterable<unknown>): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  let separator = ''
  let text: string[] = []
  for (const value of values) {
    text.push(separator, JSON.stringify(value))
    separator = ','
    if (text.length < 2 * ROWS_PER_CHUNK) continue
    yield encoder.encode(text.join(''))
    text = []
  }
  yield encoder.encode(text.join(''))
}
