/**
 * A process that changes a state: `tsx change.worker.testing.ts URL OWNER COUNT`. Each change opens a position in pool 1 and
 * swaps across it; its id is printed when the change is durable.
 */
import { openStore } from '@quoin/store'
import { createPosition } from './machine/position.ts'
import { swapExactIn } from './machine/swap.ts'
import { Liquidity } from './state.ts'
import { NOW } from './values.testing.ts'

const [url, owner, count] = process.argv.slice(2) as [string, string, string]
const liquidity = await Liquidity.open(await openStore(url))

for (let i = 0; i < Number(count); i++) {
  const id = await liquidity.change(async unit => {
    const { tick } = (await unit.pool(1n))!
    const at = tick - (tick % 100n)
    const amounts = { amount0: 1_000_000n, amount1: 1_000_000n }
    const range = { lowerTick: at - 1000n, upperTick: at + 1000n }
    const { position } = await createPosition(unit, { pool: 1n, owner, ...range, ...amounts, now: NOW })
    const denom = i % 2 === 0 ? 'uatom' : 'uosmo'
    await swapExactIn(unit, { pool: 1n, coin: { denom, amount: 1_500_000n }, now: NOW })
    return position.id
  })
  process.stdout.write(`${id}\n`)
}
process.exit()
