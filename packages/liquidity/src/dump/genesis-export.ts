/**
 * Exports the state as the chain does, in the order of its keys, as chunks of text: `{"concentratedliquidity": …}`.
 * Derived rows and hooks are left out. State that the schema of 2023 cannot express is refused.
 */
import type { Reader } from '../reader.ts'
import type { Pool, Position } from '../values.ts'
import { type Forms, type FullPosition, formsOf, type Schema } from './genesis-form.ts'

/** Above the number of uptimes of any version of the chain. */
const MOST_UPTIMES = 256

export async function* exportGenesis(
  reader: Reader,
  { schema = 'today' }: { readonly schema?: Schema } = {}
): AsyncGenerator<string> {
  const forms = formsOf(schema)
  yield '{"concentratedliquidity":{'
  yield `"params":${JSON.stringify(await paramsOf(reader, forms))},"pool_data":[`
  let separator = ''
  for await (const pool of reader.pools()) {
    yield separator
    yield* poolData(reader, pool, forms)
    separator = ','
  }
  yield `],"${forms.names.positions}":[`
  separator = ''
  for await (const position of reader.positions()) {
    const full = await fullPosition(reader, position)
    yield `${separator}${JSON.stringify(forms.position.write(full))}`
    separator = ','
  }
  yield `],"next_position_id":"${await reader.nextPositionId()}"`
  if (schema === 'today') {
    const [incentives, spread] = [await reader.threshold('incentive'), await reader.threshold('spread')]
    yield `,"next_incentive_record_id":"${await reader.nextIncentiveId()}"`
    yield `,"incentives_accumulator_pool_id_migration_threshold":"${incentives ?? 0n}"`
    yield `,"spread_factor_pool_id_migration_threshold":"${spread ?? 0n}"`
  }
  yield '}}\n'
}

const paramsOf = async (reader: Reader, { names }: Forms): Promise<Record<string, unknown>> => {
  const present = formsOf('today').names.spreadFactors
  const params = Object.entries((await reader.params()) ?? {})
  return Object.fromEntries(
    params.map(([name, value]) => [name === present ? names.spreadFactors : name, value])
  )
}

async function* poolData(reader: Reader, pool: Pool, forms: Forms): AsyncGenerator<string> {
  yield `{"pool":${JSON.stringify(forms.pool.write(pool))},"ticks":[`
  let separator = ''
  for await (const { index, info } of reader.ticks(pool.id)) {
    yield `${separator}${JSON.stringify(forms.tick.write({ pool: pool.id, index, info }))}`
    separator = ','
  }
  yield ']'
  const spread = await reader.accumulator({ pool: pool.id })
  if (spread) {
    const named = { name: `\x0b/${pool.id}`, content: spread }
    yield `,"${forms.names.spreadAccumulator}":${JSON.stringify(forms.accumulator.write(named))}`
  }
  yield ',"incentives_accumulators":['
  for (let uptime = 0; uptime < MOST_UPTIMES; uptime++) {
    const content = await reader.accumulator({ pool: pool.id, uptime })
    if (!content) break
    const named = { name: `\x0c/${pool.id}/${uptime}`, content }
    yield `${uptime > 0 ? ',' : ''}${JSON.stringify(forms.accumulator.write(named))}`
  }
  yield '],"incentive_records":['
  separator = ''
  for await (const record of reader.incentives(pool.id)) {
    yield `${separator}${JSON.stringify(forms.incentive.write(record))}`
    separator = ','
  }
  yield ']}'
}

const fullPosition = async (reader: Reader, position: Position): Promise<FullPosition> => {
  const { id, pool } = position
  const uptimeRecords = []
  for (let uptime = 0; uptime < MOST_UPTIMES; uptime++) {
    const record = await reader.accumulatorRecord({ pool, uptime }, id)
    if (!record) break
    uptimeRecords.push(record)
  }
  return {
    position,
    lock: (await reader.lockOf(id)) ?? 0n,
    spreadRecord: await reader.accumulatorRecord({ pool }, id),
    uptimeRecords
  }
}
