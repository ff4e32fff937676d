/** Replay of the chain's operations: on a state imported from the chain's raw rows, with results in the chain's form. */
import { hasCode } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { dec } from '../decimal.ts'
import { exportRaw, importRaw } from '../dump/raw.ts'
import type { Coin } from '../machine/coins.ts'
import { createIncentive } from '../machine/incentive.ts'
import { lockPosition } from '../machine/lock.ts'
import { createPool } from '../machine/pool.ts'
import { addToPosition, createPosition, transferPositions, withdrawPosition } from '../machine/position.ts'
import type { Reason } from '../machine/refusal.ts'
import { collectIncentives, collectSpreadRewards } from '../machine/rewards.ts'
import { swapExactIn, swapExactOut } from '../machine/swap.ts'
import { Liquidity } from '../state.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Operation, Program, RawState } from './vectors.testing.ts'

/** A store with the chain's rows in it. */
export const stateOf = async (rows: RawState): Promise<{ store: Store; liquidity: Liquidity }> => {
  const store = await openStore('memory:')
  await importRaw(store, linesOf(rows))
  return { store, liquidity: await Liquidity.open(store) }
}

/** An empty store with the thresholds of a program. */
export const newState = async ({
  thresholdIncentive,
  thresholdSpread
}: Program): Promise<{ store: Store; liquidity: Liquidity }> => {
  const store = await openStore('memory:')
  const liquidity = await Liquidity.open(store)
  await liquidity.change(async unit => {
    unit.setThreshold('incentive', BigInt(thresholdIncentive))
    unit.setThreshold('spread', BigInt(thresholdSpread))
  })
  return { store, liquidity }
}

async function* linesOf(rows: RawState): AsyncGenerator<Uint8Array> {
  let text = ''
  for (const [key, value] of rows) text += `{"key":"${key}","value":"${value}"}\n`
  if (text !== '') yield new TextEncoder().encode(text)
}

/** The rows of a store that a node of the chain would hold. */
export const rowsOf = async (store: Store): Promise<RawState> => {
  const rows: RawState = new Map()
  for await (const line of exportRaw(store)) {
    const { key, value } = JSON.parse(line)
    rows.set(key, value)
  }
  return rows
}

type Outcome = Readonly<Record<string, unknown>>

const text = (operation: Operation, name: string): string => {
  const given = operation[name]
  if (typeof given !== 'string') throw new Error(`operation ${operation.op} has no text ${name}`)
  return given
}

const coins = (list: readonly Coin[]): string[] => list.map(({ amount, denom }) => `${amount} ${denom}`)

/** Runs an operation, and returns its result as the vectors have it. */
const run = async (unit: UnitOfWork, operation: Operation): Promise<Outcome> => {
  const of = (name: string): string => text(operation, name)
  const number = (name: string): bigint => BigInt(of(name))
  const now = BigInt(operation.now)
  const claim = () => ({ position: number('position'), owner: of('owner'), now })
  const amounts = () => ({ amount0: number('a0'), amount1: number('a1') })
  switch (operation.op) {
    case 'pool': {
      const { address, incentives, spread } = operation.result as Record<string, string>
      await createPool(unit, {
        id: number('pool'),
        token0: 'uatom',
        token1: 'uosmo',
        tickSpacing: number('spacing'),
        spreadFactor: dec.parse(of('spread')),
        address: address!,
        incentivesAddress: incentives!,
        spreadRewardsAddress: spread!,
        now
      })
      return operation.result
    }
    case 'position': {
      const range = { lowerTick: number('lower'), upperTick: number('upper') }
      const pool = number('pool')
      const created = await createPosition(unit, { pool, owner: of('owner'), ...range, ...amounts(), now })
      const { id, liquidity, lowerTick, upperTick } = created.position
      return {
        a0: `${created.amount0}`,
        a1: `${created.amount1}`,
        id: `${id}`,
        liquidity: dec.format(liquidity),
        lower: `${lowerTick}`,
        upper: `${upperTick}`
      }
    }
    case 'swap': {
      const given = { pool: number('pool'), coin: { denom: of('denom'), amount: number('amount') }, now }
      return operation['exact'] === 'in'
        ? { amount: `${(await swapExactIn(unit, given)).bought.amount}` }
        : { amount: `${(await swapExactOut(unit, given)).paid.amount}` }
    }
    case 'withdraw': {
      const liquidity = dec.parse(of('liquidity'))
      const { amount0, amount1 } = await withdrawPosition(unit, { ...claim(), liquidity })
      return { a0: `${amount0}`, a1: `${amount1}` }
    }
    case 'add': {
      const { amount0, amount1, position } = await addToPosition(unit, { ...claim(), ...amounts() })
      return { a0: `${amount0}`, a1: `${amount1}`, id: `${position.id}` }
    }
    case 'collectSpread':
      return { paid: coins(await collectSpreadRewards(unit, claim())) }
    case 'collectIncentives': {
      const { forfeited, paid } = await collectIncentives(unit, claim())
      return { forfeited: coins(forfeited), paid: coins(paid) }
    }
    case 'incentive': {
      const { id } = await createIncentive(unit, {
        pool: number('pool'),
        creator: of('owner'),
        coin: { denom: of('denom'), amount: number('amount') },
        emissionRate: dec.parse(of('rate')),
        startTime: number('start'),
        uptime: Number(operation['uptime']),
        now
      })
      return { id: `${id}` }
    }
    case 'transfer':
      await transferPositions(unit, { positions: [number('position')], owner: of('owner'), to: of('to') })
      return {}
    case 'lock':
      await lockPosition(unit, { position: number('position'), owner: of('owner'), lock: number('lock') })
      return {}
    default:
      throw new Error(`unknown operation ${operation.op}`)
  }
}

/** The reasons of refusals, by the chain's error. */
const REASONS: readonly (readonly [RegExp, Reason])[] = [
  [/^position not found/, 'position-unknown'],
  [/^ran out of ticks/, 'no-ticks'],
  [/^Lower tick must be lesser|^(?:lower|upper) tick .* is invalid/, 'tick-range'],
  [/^failed to translate/, 'liquidity'],
  [/no liquidity in pool$/, 'pool-empty'],
  [/^invalid amount calculated/, 'amount'],
  [/is not mature|is superfluid staked/, 'position-locked'],
  [/^first position must contain/, 'amount'],
  [/^PANIC spread factor charge|^edge case has occurred/, 'no-progress'],
  [/last position in (?:the )?pool/, 'position-last'],
  [/^tickIndex must be greater|^provided price/, 'price-limit']
]

const reasonOf = (error: unknown): Reason => {
  const found = REASONS.find(([pattern]) => pattern.test(`${error}`))
  if (!found) throw new Error(`no reason is known for the chain's error: ${error}`)
  return found[1]
}

/** The chain's result; of a refused operation the reason. */
export const expectedOf = ({ result }: Operation): Outcome =>
  'error' in result ? { refused: reasonOf(result['error']) } : result

/** The result of the same operation here. */
export const replay = async (liquidity: Liquidity, operation: Operation): Promise<Outcome> => {
  try {
    return await liquidity.change(unit => run(unit, operation))
  } catch (error) {
    if (!hasCode(error, 'ERR_LIQUIDITY_REFUSED')) throw error
    return { refused: (error as { details?: { reason?: unknown } }).details?.reason }
  }
}

/** The rows in which two states differ, as text. */
export const differencesOf = (expected: RawState, found: RawState): string[] => {
  const differences: string[] = []
  for (const [key, value] of expected)
    if (found.get(key) !== value)
      differences.push(`${key}: the chain has ${value}, here ${found.get(key) ?? 'nothing'}`)
  for (const [key, value] of found)
    if (!expected.has(key)) differences.push(`${key}: the chain has nothing, here ${value}`)
  return differences
}
