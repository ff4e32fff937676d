/** A backfill of BSV21 transfers through the pipeline of a node, in slices. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DevChain } from '@quoin/dev-chain'
import type { TokenId } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { outputs } from '@quoin/txo'
import {
  type Account,
  round,
  Stock,
  spread,
  toSourceTransaction
} from '../../../../bsv21/src/backfill.testing.ts'
import { TokenNode } from '../../../../bsv21/src/node.testing.ts'
import type { SourceTransaction } from '../../../../bsv21/src/source/source.ts'
import { topicOf } from '../../../../bsv21/src/topic-names.ts'
import type { Counts, SlicedWork } from './submissions.testing.ts'

/** Transfers of a stretch of the warm-up: they are all in memory. */
const STRETCH = 10_000
const HOLDERS = 500

export const backfillWork = async (
  url: string,
  { warm, slice, slices }: Counts,
  progress: (text: string) => void
): Promise<SlicedWork> => {
  const chain = new DevChain()
  const stock = new Stock()
  const store = await openStore(url)
  const node = new TokenNode(store, { chain, activation: 'all', sources: [stock] })
  const { id, beefs, accounts } = await spread(chain, HOLDERS)
  for (const beef of beefs) await node.pipeline.ingest.ingestBeef(beef)
  await node.pipeline.settle()
  const applied = outputs.collections.topicTransactions.encode(topicOf(id))
  let done = await store.zcard(applied)
  node.pipeline.start()
  const make = transfers(id, accounts)
  const take = async (staged: readonly SourceTransaction[]): Promise<void> => {
    done += staged.length
    stock.give(staged)
    while ((await store.zcard(applied)) < done) await sleep(5)
  }
  const warmUp = async (): Promise<void> => {
    for (let at = 0; at < warm; at += STRETCH) {
      progress(`${at.toLocaleString('en-US')} transfers`)
      await take(make(Math.min(STRETCH, warm - at)))
    }
    for (let i = 0; i < slices; i++) measured.push(make(slice))
  }
  const measured: SourceTransaction[][] = []
  return {
    ops: slice,
    warmUp,
    next: () => take(measured.shift()!),
    close: async () => {
      await node.close()
      await store.close()
    }
  }
}

/** Makes so many transfers: each holder in turn gives one to another. */
const transfers = (id: TokenId, first: readonly Account[]): ((count: number) => SourceTransaction[]) => {
  let accounts = first
  let number = 0
  const ready: SourceTransaction[] = []
  return count => {
    while (ready.length < count) {
      const [made, next] = round(id, accounts, number++)
      for (const transaction of made) ready.push(toSourceTransaction(transaction))
      accounts = next
    }
    return ready.splice(0, count)
  }
}
