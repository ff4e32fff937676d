/** A development chain that is kept is the same one when it is opened again, whatever happened to it. */

import { openStore } from '@quoin/store'
import { describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { DevChain } from './dev-chain.ts'
import { PersistentDevChain } from './persistent-dev-chain.ts'

const key = makeKey('kept')
/** What a chain is; of what waits the order may be another. */
const contents = (chain: DevChain) => {
  const { mempool, ...others } = chain.toJSON()
  return { ...others, mempool: [...mempool].sort() }
}

describe('a chain that is kept', () => {
  it('is the same after blocks, payments, chains of what waits, and reorgs', async () => {
    const store = await openStore('memory:')
    let kept = await PersistentDevChain.open(store, { seed: 'kept' })
    for (let round = 0; round < 12; round++) {
      const { chain } = kept
      let last = chain.fund(payTo(key), 1000)
      for (let step = 0; step < 3; step++) {
        last = spend({
          inputs: [{ from: last, vout: 0, unlock: withKeyHash(key) }],
          outputs: [{ satoshis: 900 - step, script: payTo(key) }]
        })
        await chain.submit(last)
      }
      if (round % 3 === 1) chain.mine(2)
      if (round % 4 === 3) await chain.reorg(2)
      await Promise.all([kept.save(), kept.save()])
      kept = await PersistentDevChain.open(store)
      expect(contents(kept.chain)).toEqual(contents(chain))
      expect(kept.chain.reorgs).toBe(chain.reorgs)
    }
    kept.chain.mine()
    expect(kept.chain.mempool).toEqual([])
    await store.close()
  })

  it('that was never saved is new', async () => {
    const store = await openStore('memory:')
    const { chain } = await PersistentDevChain.open(store, { seed: 'one' })
    chain.mine(3)
    expect((await PersistentDevChain.open(store, { seed: 'two' })).chain.toJSON()).toEqual(
      new DevChain({ seed: 'two' }).toJSON()
    )
    await store.close()
  })
})
