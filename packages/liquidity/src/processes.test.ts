/** Processes that change one state, at once or cut short: what was acknowledged is there, and everything agrees. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openStore } from '@quoin/store'
import { expect, it } from 'vitest'
import { startRedis } from '../../store/src/redis/server.testing.ts'
import { dec } from './decimal.ts'
import { createPool } from './machine/pool.ts'
import { createPosition } from './machine/position.ts'
import { Liquidity } from './state.ts'
import { address, NOW } from './values.testing.ts'

const WORKER = fileURLToPath(new URL('./change.worker.testing.ts', import.meta.url))

/** A pool with a position over the whole range. */
const prepare = async (url: string): Promise<void> => {
  const store = await openStore(url)
  const liquidity = await Liquidity.open(store)
  const account = address(0)
  await liquidity.change(async unit => {
    await createPool(unit, {
      id: 1n,
      token0: 'uatom',
      token1: 'uosmo',
      tickSpacing: 100n,
      spreadFactor: dec.parse('0.001'),
      address: account,
      incentivesAddress: account,
      spreadRewardsAddress: account,
      now: NOW
    })
    const amounts = { amount0: 10n ** 9n, amount1: 10n ** 9n }
    const range = { lowerTick: -108000000n, upperTick: 342000000n }
    await createPosition(unit, { pool: 1n, owner: account, ...range, ...amounts, now: NOW })
  })
  await store.close()
}

const start = (url: string, owner: string, count: number): { worker: ChildProcess; ids: string[] } => {
  const args = ['--import', import.meta.resolve('tsx'), WORKER, url, owner, String(count)]
  const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ids: string[] = []
  createInterface(worker.stdout!).on('line', id => ids.push(id))
  return { worker, ids }
}

/** Every position whose id was printed is there, and so is nothing that does not belong. */
const check = async (url: string, ids: readonly string[]): Promise<bigint> => {
  const store = await openStore(url)
  try {
    const liquidity = await Liquidity.open(store)
    for (const id of ids) expect(await liquidity.position(BigInt(id)), id).toBeDefined()
    for await (const difference of liquidity.verify()) expect(difference).toBeUndefined()
    return await liquidity.nextPositionId()
  } finally {
    await store.close()
  }
}

it('two at once: each change is made on what the other left', { timeout: 60_000 }, async () => {
  const redis = await startRedis()
  try {
    await prepare(redis.url)
    const workers = [start(redis.url, address(1), 25), start(redis.url, address(2), 25)]
    await Promise.all(workers.map(({ worker }) => once(worker, 'close')))
    const ids = workers.flatMap(each => each.ids)
    expect(new Set(ids).size).toBe(50)
    expect(await check(redis.url, ids)).toBe(52n)
  } finally {
    await redis.stop()
  }
})

it.each(['lmdb', 'level'])('%s: killed at any moment', { timeout: 60_000 }, async engine => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-liquidity-'))
  const url = `${engine}:${folder}`
  try {
    await prepare(url)
    for (const acknowledged of [1, 15]) {
      const { worker, ids } = start(url, address(1), 1_000_000)
      const closed = once(worker, 'close')
      while (ids.length < acknowledged && worker.exitCode === null)
        await Promise.race([once(worker.stdout!, 'data'), closed])
      worker.kill('SIGKILL')
      await closed
      expect(ids.length).toBeGreaterThanOrEqual(acknowledged)
      const next = await check(url, ids)
      // At most the change under way was made without a word.
      expect(Number(next) - Number(ids.at(-1))).toBeLessThanOrEqual(2)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
