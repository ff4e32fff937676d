/**
 * What was known can change while something is looked at: each of two that meet comes out whole, and nothing is left of
 * what was taken back.
 */

import type { ProofSource, RootTracker, Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { equalBytes, makeOutpoint } from '@quoin/primitives'
import { type Engine, openStore, Store } from '@quoin/store'
import { afterEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { openEngine } from '../../store/src/open.ts'
import { compareIndexes } from './compare.ts'
import { Indexer } from './indexer.ts'
import { OutputStore } from './output-store.ts'
import { Proofs } from './proofs.ts'
import { jittery } from './simulation/jitter.testing.ts'
import { Random } from './simulation/random.testing.ts'
import { verifyIndex } from './verify.ts'

const key = makeKey('ann')
const SEEN = 1_700_000_000
/** How often two meet, each time in another way. */
const MEETINGS = 60

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

interface Scene {
  readonly chain: DevChain
  readonly outputs: OutputStore
  readonly indexer: Indexer
  readonly proofs: Proofs
  /** Mined. */
  readonly parent: Transaction
}

const newScene = async (engine?: Engine): Promise<Scene> => {
  const chain = new DevChain({ seed: 'races' })
  const store = engine ? new Store(engine) : await openStore('memory:')
  stores.push(store)
  const outputs = new OutputStore(store)
  const parent = chain.fund(payTo(key), 1000)
  chain.mine()
  return {
    chain,
    outputs,
    indexer: new Indexer(outputs, chain),
    proofs: new Proofs(outputs, chain),
    parent
  }
}

const childOf = (from: Transaction, satoshis = 900): Transaction =>
  spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis, script: payTo(key) }]
  })

const bumpOf = async (chain: DevChain, { txid }: Transaction) => {
  const answer = await chain.proof(txid)
  if (answer.status !== 'mined') throw new Error('it is mined')
  return answer.bump
}

interface Meeting {
  readonly one: () => Promise<unknown>
  readonly other: () => Promise<unknown>
  readonly check: (outcome: PromiseSettledResult<unknown>) => Promise<void>
}

/** Does both at once, again and again, on a store that takes its time. */
const meetOften = async (meeting: (engine: Engine) => Promise<Meeting>): Promise<void> => {
  for (let seed = 1; seed <= MEETINGS; seed++) {
    let isSlow = false
    const engine = jittery(await openEngine('memory:'), new Random(seed), () => isSlow)
    const { one, other, check } = await meeting(engine)
    isSlow = true
    const [outcome] = await Promise.allSettled([one(), other()])
    isSlow = false
    await check(outcome)
  }
}

const isEmpty = async ({ store }: OutputStore): Promise<boolean> => {
  const nothing = await openStore('memory:')
  for await (const _ of compareIndexes(store, nothing)) return false
  return true
}

const expectSound = async ({ store }: OutputStore): Promise<void> => {
  expect((await verifyIndex(store)).differences).toEqual([])
}

describe('an ancestor that is mined', () => {
  it('is known by its place: indexed later, it is at its height', async () => {
    const { chain, indexer, outputs, parent } = await newScene()
    const child = childOf(parent)
    await chain.submit(child)
    await indexer.index(chain.beef(child.txid), SEEN)
    await indexer.index(chain.beef(parent.txid), SEEN)
    const { height } = await bumpOf(chain, parent)
    const loaded = await outputs.loadOutput(makeOutpoint(parent.txid, 0), { includeBlock: true })
    expect(loaded?.block?.height).toBe(height)
    await expectSound(outputs)
  })

  it('takes what it spends from one that is not mined, though it comes with its child only', async () => {
    const { chain, indexer, outputs, parent } = await newScene()
    const [winner, loser] = [childOf(parent), childOf(parent, 800)]
    await chain.submit(loser)
    await indexer.index(chain.beef(loser.txid), SEEN)
    await chain.submit(winner, { replace: true })
    chain.mine()
    const grandchild = childOf(winner, 700)
    await chain.submit(grandchild)
    await indexer.index(chain.beef(grandchild.txid), SEEN)
    expect(await outputs.spends([makeOutpoint(parent.txid, 0)])).toEqual([winner.txid])
    expect(await outputs.record(loser.txid)).toBeUndefined()
    await expectSound(outputs)
  })
})

describe('taken back meanwhile', () => {
  it.each([false, true])('a proof that is saved leaves nothing (saved once before: %s)', isSavedBefore =>
    meetOften(async engine => {
      const { chain, indexer, outputs, proofs, parent } = await newScene(engine)
      const child = childOf(parent)
      await chain.submit(child)
      await indexer.index(chain.beef(child.txid), SEEN)
      chain.mine()
      const bump = await bumpOf(chain, child)
      if (isSavedBefore) await proofs.save(child.txid, bump)
      return {
        one: () => proofs.save(child.txid, bump),
        other: () => outputs.rollback(parent.txid),
        check: async () => expect(await isEmpty(outputs)).toBe(true)
      }
    })
  )

  it('a parent is verified and stored anew with its child', () =>
    meetOften(async engine => {
      const { chain, indexer, outputs, parent } = await newScene(engine)
      await indexer.index(chain.beef(parent.txid), SEEN)
      const child = childOf(parent)
      await chain.submit(child)
      return {
        one: () => indexer.index(chain.beef(child.txid), SEEN),
        other: () => outputs.rollback(parent.txid),
        check: async ({ status }) => {
          expect(status).toBe('fulfilled')
          if (await outputs.record(child.txid)) await outputs.transactions.beef(child.txid)
          else expect(await isEmpty(outputs)).toBe(true)
          await expectSound(outputs)
        }
      }
    }))

  it('what is indexed once more is there with its bytes, or not at all', () =>
    meetOften(async engine => {
      const { chain, indexer, outputs, parent } = await newScene(engine)
      const beef = chain.beef(parent.txid)
      await indexer.index(beef, SEEN)
      return {
        one: () => indexer.index(beef, SEEN),
        other: () => outputs.rollback(parent.txid),
        check: async ({ status }) => {
          expect(status).toBe('fulfilled')
          const [record, stored] = [outputs.record(parent.txid), outputs.transactions.get(parent.txid)]
          expect((await record) !== undefined).toBe((await stored) !== undefined)
          await expectSound(outputs)
        }
      }
    }))

  it('a transaction that goes with its coinbase gets no proof back from the source', async () => {
    const { chain, indexer, outputs, parent } = await newScene()
    const height = chain.heightOf(parent.txid)!
    chain.mine()
    const coinbase = chain.block(height)![0]!
    const payout = chain.block(height + 1)![1]!
    for (const { txid } of [coinbase, payout]) await indexer.index(chain.beef(txid), SEEN)
    await chain.reorg(2)
    const source: ProofSource = {
      name: 'late',
      proof: async txid => (equalBytes(txid, coinbase.txid) ? { status: 'unmined' } : chain.proof(txid))
    }
    await new Proofs(outputs, chain, source).reconcile(0)
    expect(await isEmpty(outputs)).toBe(true)
  })
})

describe('a conflict', () => {
  it('is one only while all that speaks for it still holds', () =>
    meetOften(async engine => {
      const { chain, indexer, outputs, parent } = await newScene(engine)
      const other = chain.fund(payTo(key), 1000)
      chain.mine()
      const loser = childOf(parent, 800)
      const heir = spend({
        inputs: [loser, other].map(from => ({ from, vout: 0, unlock: withKeyHash(key) })),
        outputs: [{ satoshis: 1000, script: payTo(key) }]
      })
      for (const each of [loser, heir]) await chain.submit(each)
      await indexer.index(chain.beef(heir.txid), SEEN)
      // It takes the loser's coin and is mined, so the heir goes too, and its other coin is free.
      const winner = childOf(parent)
      await chain.submit(winner, { replace: true })
      chain.mine()
      const next = spend({
        inputs: [other, winner].map(from => ({ from, vout: 0, unlock: withKeyHash(key) })),
        outputs: [{ satoshis: 1000, script: payTo(key) }]
      })
      await chain.submit(next)
      const index = () => indexer.index(chain.beef(next.txid), SEEN)
      return {
        one: index,
        other: index,
        check: async ({ status }) => {
          expect(status).toBe('fulfilled')
          expect(await outputs.conflicts(makeOutpoint(other.txid, 0))).toEqual([])
        }
      }
    }))
})

describe('a reorg between looking at a proof and saving it', () => {
  /** Replaces the last block as soon as somebody has been told that its root is good, and reconciles. */
  const reorganising = (chain: DevChain, react: () => Promise<unknown>): RootTracker => {
    let isDone = false
    return {
      currentHeight: () => chain.currentHeight(),
      isValidRootForHeight: async (root, height) => {
        const answer = await chain.isValidRootForHeight(root, height)
        if (!isDone && height === chain.height) {
          isDone = true
          await chain.reorg(1)
          await react()
        }
        return answer
      }
    }
  }

  it('leaves no outdated proof, whichever way it came', async () => {
    for (const way of ['index', 'save'] as const) {
      const { chain, outputs, indexer, parent } = await newScene()
      const child = childOf(parent)
      await chain.submit(child)
      if (way === 'save') await indexer.index(chain.beef(child.txid), SEEN)
      chain.mine()
      const [beef, bump] = [chain.beef(child.txid), await bumpOf(chain, child)]
      const tracker = reorganising(chain, () => new Proofs(outputs, chain, chain).reconcile(0))
      if (way === 'index') await new Indexer(outputs, tracker).index(beef, SEEN)
      else await new Proofs(outputs, tracker, chain).save(child.txid, bump)
      const position = (await outputs.record(child.txid))?.position
      expect(position?.height).toBe(way === 'index' ? undefined : chain.heightOf(child.txid))
      await expectSound(outputs)
    }
  })
})
