/**
 * Nodes converge, whatever happened on the way: the same members of the topic, the same of them unspent, and those are
 * the ones that the chain has. `QUOIN_WORLDS=100 npx vitest run src/overlay/gasp/convergence.test.ts` plays more of them,
 * from the seed `QUOIN_SEED` on.
 */

import { formatOutpoint, makeOutpoint } from '@quoin/primitives'
import { verifyIndex } from '@quoin/txo'
import { describe, expect, it } from 'vitest'
import type { QuoinTopic } from '../types.ts'
import { verifyAdmissions } from '../verify-admissions.ts'
import { type Coin, World } from './convergence.testing.ts'
import { ones, token } from './node.testing.ts'

const RUNS = Number(process.env['QUOIN_WORLDS'] ?? 2)
const FIRST = Number(process.env['QUOIN_SEED'] ?? 1)
const SEEDS = Array.from({ length: RUNS }, (_, i) => FIRST + i)

/** A topic, and whether an outcome is what the chain says. */
const topics: Record<string, { topic: QuoinTopic; check: (world: World) => Promise<void> }> = {
  'a topic that keeps its history': {
    topic: ones(true),
    check: async world => {
      const mined = world.mined()
      const [{ members, unspent }] = (await world.states()) as [State]
      expect(members).toEqual(named(mined))
      expect(unspent).toEqual(named(mined.filter(coin => !world.isSpent(coin))))
    }
  },
  'a topic that keeps what is not spent': {
    topic: ones(false),
    check: async world => {
      const unspent = named(world.mined().filter(coin => !world.isSpent(coin)))
      expect((await world.states())[0]).toEqual({ members: unspent, unspent })
    }
  },
  'a topic that evaluates by earlier coins': {
    topic: token,
    check: async world => {
      const [{ members, unspent }] = (await world.states()) as [State]
      expect(members).toEqual(unspent)
      expect(unspent).toEqual(named(replayed(world.mined()).filter(coin => !world.isSpent(coin))))
    }
  }
}

interface State {
  readonly members: string[]
  readonly unspent: string[]
}

/** What the token admits of coins, parents first, when each transaction is seen after what it spends. */
const replayed = (coins: readonly Coin[]): Coin[] => {
  const admitted = new Map<string, Coin>()
  for (const transaction of new Set(coins.map(coin => coin.transaction))) {
    const spent = transaction.inputs.filter(({ txid, vout }) =>
      admitted.has(formatOutpoint(makeOutpoint(txid, vout)))
    )
    const own = coins.filter(coin => coin.transaction === transaction)
    for (const coin of own.slice(0, Math.max(spent.length, 1))) admitted.set(named([coin])[0]!, coin)
  }
  return [...admitted.values()]
}

const named = (coins: readonly Coin[]): string[] =>
  coins.map(({ transaction, vout }) => formatOutpoint(makeOutpoint(transaction.txid, vout))).sort()

for (const [name, { topic, check }] of Object.entries(topics)) {
  describe(name, () => {
    for (const [nodes, steps] of [
      [2, 60],
      [5, 80]
    ] as const) {
      it.each(SEEDS)(`${nodes} nodes, seed %i`, async seed => {
        const world = await World.open({ seed, nodes, steps, topic })
        try {
          await world.play()
          await world.heal()
          const [first, ...others] = await world.states()
          for (const other of others) expect(other).toEqual(first)
          await check(world)
          for (const { store } of world.nodes) {
            expect((await verifyIndex(store)).differences).toEqual([])
            for await (const { finding } of verifyAdmissions(store)) expect(finding).toBeUndefined()
          }
        } finally {
          await world.close()
        }
      })
    }
  })
}
