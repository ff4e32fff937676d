/** Reorgs of the development chain: transactions move, vanish or are replaced, and all proofs follow. */
import { Transaction as SdkTransaction } from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { Beef, HeaderStore, syncHeaders, verifyBeef } from '@quoin/chain'
import { bytesKey, formatTxid, makeOutpoint, parseTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANYONE, child, names, sdk } from './dev.testing.ts'
import { DevChain } from './dev-chain.ts'

describe('a reorg', () => {
  /** A chain with a transaction in each of its last blocks, all descending from one another. */
  const busy = async (blocks: number): Promise<{ chain: DevChain; line: Transaction[] }> => {
    const chain = new DevChain()
    const line = [chain.fund(ANYONE, 1000)]
    for (let i = 0; i < blocks; i++) {
      chain.mine()
      line.push(child(line.at(-1)!))
      await chain.submit(line.at(-1)!)
      chain.fund(ANYONE, 1000 + i)
    }
    return { chain, line }
  }

  it.each(Array.from({ length: 20 }, (_, i) => i + 1))(
    'of %i blocks is followed by a header store',
    async depth => {
      const { chain, line } = await busy(21)
      const store = await openStore('memory:')
      const headers = await HeaderStore.open(store, { network: 'regtest' })
      await syncHeaders(headers, chain)
      const before = line.map(({ txid }) => chain.heightOf(txid))
      const { fork, removed, added, lost } = await chain.reorg(depth)
      expect([removed.length, added.length, lost.length]).toStrictEqual([depth, depth + 1, 0])
      const { reorg, tip } = await headers.add(added.map(({ header }) => header))
      expect(tip.height).toBe(chain.height)
      expect(reorg!.fork).toBe(fork)
      expect(reorg!.removed.map(({ header }) => header.raw)).toStrictEqual(
        removed.map(({ header }) => header.raw)
      )
      // What was in the removed blocks is mined again, one block later, and proved by the new headers only.
      for (const [i, { txid }] of line.entries()) {
        const height = chain.heightOf(txid)
        expect(height).toBe(before[i] === undefined || before[i]! <= fork ? before[i] : before[i]! + 1)
        expect(await sdk(chain, txid).verify(headers)).toBe(true)
      }
      await store.close()
    }
  )

  it('gives other headers, though there is nothing in the blocks', async () => {
    const chain = new DevChain()
    chain.mine(5)
    for (const [removed, added] of [await chain.reorg(3), await chain.reorg(4)].map(each => [
      each.removed,
      each.added
    ])) {
      for (const [i, { header }] of removed!.entries())
        expect(header.raw).not.toStrictEqual(added![i]!.header.raw)
    }
    expect(chain.height).toBe(7)
  })

  it('leaves old proofs behind', async () => {
    const { chain, line } = await busy(3)
    const { txid } = line[2]!
    const old = chain.beef(txid)
    expect(await SdkTransaction.fromAtomicBEEF([...old]).verify(chain)).toBe(true)
    await chain.reorg(2)
    const stale = SdkTransaction.fromAtomicBEEF([...old])
    await expect(
      stale.verify(chain).then(good => good || Promise.reject(new Error('false')))
    ).rejects.toThrow()
    expect(await sdk(chain, txid).verify(chain)).toBe(true)
  })

  it('turns the order of transactions around, where none descends from the other', async () => {
    const chain = new DevChain()
    const paid = Array.from({ length: 5 }, () => chain.fund(ANYONE, 100))
    const last = child(paid[4]!)
    await chain.submit(last)
    chain.mine()
    await chain.reorg(1)
    expect(chain.block(3)).toHaveLength(2)
    const again = chain.block(4)!.slice(2)
    expect(again).toStrictEqual([paid[4], last, paid[3], paid[2], paid[1], paid[0]])
  })

  it('drops transactions with all that descends from them, mined or not', async () => {
    const { chain, line } = await busy(4)
    const kept = line.slice(0, 2)
    const { lost } = await chain.reorg(3, { drop: [line[2]!.txid] })
    expect(names(lost)).toStrictEqual(names(line.slice(2).map(({ txid }) => txid)))
    for (const { txid } of line.slice(2)) expect(await chain.proof(txid)).toStrictEqual({ status: 'unknown' })
    for (const { txid } of kept) expect((await chain.proof(txid)).status).toBe('mined')
    expect(chain.spenderOf(makeOutpoint(line[1]!.txid, 0))).toBeUndefined()
    // What is free again can be spent by another.
    await chain.submit(child(line[1]!, 7))
  })

  it('mines others instead of those that spend the same', async () => {
    const { chain, line } = await busy(4)
    const rival = child(line[1]!, 7)
    const { lost, fork } = await chain.reorg(3, { include: [rival, child(rival)] })
    expect(names(lost)).toStrictEqual(names(line.slice(2).map(({ txid }) => txid)))
    // The parent was in the first of the removed blocks, and is in the second of the new ones.
    expect([line[1]!, rival, child(rival)].map(({ txid }) => chain.heightOf(txid))).toStrictEqual([
      fork + 2,
      fork + 2,
      fork + 2
    ])
    expect(await sdk(chain, rival.txid).verify(chain)).toBe(true)
  })

  it('mines what waits if it is told to, and else leaves it waiting', async () => {
    const { chain, line } = await busy(2)
    const waiting = line[2]!
    await chain.reorg(1)
    expect(chain.heightOf(waiting.txid)).toBeUndefined()
    expect(chain.mempool).toContain(waiting)
    await chain.reorg(1, { include: [waiting] })
    expect(chain.heightOf(waiting.txid)).toBeDefined()
    expect(chain.mempool).not.toContain(waiting)
  })

  it('is refused as a whole when it cannot be', async () => {
    const { chain, line } = await busy(4)
    const before = JSON.stringify(chain)
    const rival = child(line[0]!, 7)
    const impossible: [Parameters<DevChain['reorg']>, string][] = [
      [[0], 'ERR_HEADER_UNKNOWN'],
      [[chain.height + 1], 'ERR_HEADER_UNKNOWN'],
      [[1.5], 'ERR_HEADER_UNKNOWN'],
      [[1, { drop: [parseTxid('11'.repeat(32))] }], 'ERR_TX_UNKNOWN'],
      [[1, { drop: [line[0]!.txid] }], 'ERR_TX_UNKNOWN'],
      [[2, { drop: [chain.block(chain.height)![0]!.txid] }], 'ERR_TX_UNKNOWN'],
      [[2, { drop: [chain.block(chain.height)![1]!.txid] }], 'ERR_TX_UNKNOWN'],
      [[1, { include: [rival] }], 'ERR_TXO_CONFLICT'],
      [[3, { include: [child(line[1]!, 8), child(line[1]!, 9)] }], 'ERR_TXO_CONFLICT'],
      [[1, { include: [child(child(line[4]!, 9))] }], 'ERR_TX_UNKNOWN'],
      [[3, { drop: [line[2]!.txid], include: [line[3]!] }], 'ERR_TX_UNKNOWN']
    ]
    for (const [given, code] of impossible) {
      await expect(chain.reorg(...given)).rejects.toMatchObject({ code })
    }
    expect(JSON.stringify(chain)).toBe(before)
  })

  it('may come again and again, in any mix, and everything still holds', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('mine' as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ do: fc.constant('fund' as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ do: fc.constant('spend' as const), count: fc.nat() }),
      fc.record({ do: fc.constant('reorg' as const), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ do: fc.constant('drop' as const), count: fc.nat() })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const chain = new DevChain()
        const store = await openStore('memory:')
        const headers = await HeaderStore.open(store, { network: 'regtest' })
        let made: Transaction[] = []
        for (const { do: what, count } of steps) {
          if (what === 'mine') chain.mine(count)
          if (what === 'fund') for (let i = 0; i < count; i++) made.push(chain.fund(ANYONE, 1000))
          const chosen = made[count % made.length]
          if (what === 'spend' && chosen) {
            const spending = child(chosen, made.length)
            await chain.submit(spending, { replace: true }).then(
              () => made.push(spending),
              error => expect(error.code).toBe('ERR_TXO_CONFLICT')
            )
          }
          if (what === 'reorg' && chain.height > 0) await chain.reorg(Math.min(count, chain.height))
          if (what === 'drop' && chosen) {
            const height = chain.heightOf(chosen.txid) ?? chain.height
            if (height > 0) await chain.reorg(chain.height - height + 1, { drop: [chosen.txid] })
          }
          made = made.filter(({ txid }) => chain.transaction(txid))
          await syncHeaders(headers, chain)
          expect((await headers.tip()).header.raw).toStrictEqual(chain.header(chain.height)!.header.raw)
        }
        for (const { txid } of made) {
          await verifyBeef(Beef.parse(chain.beef(txid)), { tracker: headers })
        }
        const spenders = new Map<string, string>()
        const all = Array.from({ length: chain.height + 1 }, (_, height) => chain.block(height)!).flat()
        for (const { txid, inputs } of [...all, ...chain.mempool]) {
          for (const input of inputs) {
            const place = `${formatTxid(input.txid)}.${input.vout}.${input.vout === 0xffffffff ? bytesKey(txid) : ''}`
            expect(spenders.get(place)).toBeUndefined()
            spenders.set(place, formatTxid(txid))
          }
        }
        expect(JSON.stringify(DevChain.from(JSON.parse(JSON.stringify(chain))))).toBe(JSON.stringify(chain))
        await store.close()
      }),
      { numRuns: 25 }
    )
  })
})
