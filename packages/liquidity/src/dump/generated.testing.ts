/** States of any size, as they would be exported: made as they are read, so that they take no memory. */
import { formatAddress } from '../bech32.ts'
import { DEC } from '../decimal.ts'
import { poolOf, positionOf, tickOf } from '../values.testing.ts'
import { formsOf } from './genesis-form.ts'

const POOLS = 10
const OWNERS = 10_000
const TICKS = 1_000
const PIECE = 256

const owner = (n: number): string => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(0, n * 2654435761)
  return formatAddress({ prefix: 'osmo', bytes })
}

const owners = Array.from({ length: OWNERS }, (_, n) => owner(n))

const positionNumber = (n: number) => {
  const lower = BigInt((((n * 7919) % TICKS) - TICKS / 2) * 1000)
  return positionOf(BigInt(n + 1), {
    owner: owners[(n * 31) % OWNERS]!,
    pool: BigInt((n % POOLS) + 1),
    lowerTick: lower,
    upperTick: lower + BigInt(((n % 50) + 1) * 1000),
    liquidity: BigInt(n + 1) * DEC + 1n
  })
}

/**
 * The state export with so many positions over ten pools. With `records`, each has its seven records of rewards, as in
 * an export of a chain; ticks are not exactly those of the positions, which an import does not mind.
 */
export async function* generatedGenesis(positions: number, records = false): AsyncGenerator<Uint8Array> {
  const forms = formsOf('today')
  const encoder = new TextEncoder()
  const pools = Array.from({ length: POOLS }, (_, i) => {
    const id = BigInt(i + 1)
    const ticks = Array.from({ length: TICKS }, (_, n) =>
      forms.tick.write({ pool: id, index: BigInt((n - TICKS / 2) * 1000), info: tickOf(DEC, DEC) })
    )
    return { pool: forms.pool.write(poolOf(id)), ticks, incentives_accumulators: [], incentive_records: [] }
  })
  yield encoder.encode(`{"concentratedliquidity":{"pool_data":${JSON.stringify(pools)},"position_data":[`)
  let pieces: string[] = []
  for (let n = 0; n < positions; n++) {
    const position = positionNumber(n)
    const record = { shares: position.liquidity, valuePerShare: [], unclaimed: [], options: false }
    const full = {
      position,
      lock: 0n,
      spreadRecord: records ? record : undefined,
      uptimeRecords: records ? Array.from({ length: 6 }, () => ({ ...record, options: true })) : []
    }
    pieces.push(`${n > 0 ? ',' : ''}${JSON.stringify(forms.position.write(full))}`)
    if (pieces.length < PIECE) continue
    yield encoder.encode(pieces.join(''))
    pieces = []
  }
  yield encoder.encode(`${pieces.join('')}],"next_position_id":"${positions + 1}"}}`)
}
