/**
 * Nodes of a divided network agree when it heals, and send no more than twice what differed. `npm run test:anchors` plays
 * more networks, larger ones, from the seed `QUOIN_SEED` on.
 */
import { formatHash } from '@quoin/chain'
import { verifyIndex } from '@quoin/txo'
import { describe, expect, it } from 'vitest'
import { verifyAdmissions } from '../verify-admissions.ts'
import { DividedNetwork } from './partitions.testing.ts'

const RUNS = Number(process.env['QUOIN_PARTITIONS'] ?? 1)
const FIRST = Number(process.env['QUOIN_SEED'] ?? 1) || 1
const IS_LONG = RUNS > 1
const SIZE = IS_LONG
  ? { nodes: 5, rounds: 4, blocks: 8, transactions: 16 }
  : { nodes: 5, rounds: 1, blocks: 6, transactions: 12 }
const TIMEOUT_MS = 300_000

describe('five nodes with anchors, under partitions, restarts and reorgs', () => {
  it.each(Array.from({ length: RUNS }, (_, i) => FIRST + i))(
    'agree with the chain, and send at most twice what differed: seed %i',
    async seed => {
      const network = await DividedNetwork.open({ ...SIZE, seed })
      try {
        let [sent, differed] = [0, 0]
        for (let round = 0; round < SIZE.rounds; round++) {
          await network.disturb()
          const healing = await network.heal()
          sent += healing.sent
          differed += healing.differed
          expect(healing.fetched).toBeGreaterThan(0)
          const expected = formatHash(network.expectedTac())
          for (const tip of await network.tips()) expect(formatHash(tip!.tac)).toBe(expected)
        }
        // biome-ignore lint/suspicious/noConsole: the figures of a long run.
        console.info(
          `seed ${seed}: ${sent} bytes sent for ${differed} that differed, ${(sent / differed).toFixed(2)}`
        )
        expect(sent).toBeLessThanOrEqual(2 * differed)
        expect(await network.idle()).toBeLessThan(1000)
        for (const { store } of network.nodes) {
          expect((await verifyIndex(store)).differences).toEqual([])
          for await (const { finding } of verifyAdmissions(store)) expect(finding).toBeUndefined()
        }
      } finally {
        await network.close()
      }
    },
    TIMEOUT_MS
  )
})
