/** The migration of the logs of version 0.1: the membership log says what the index has, and what peers list stays. */

import type { Transaction } from '@quoin/chain'
import { topic, txid } from '@quoin/chain/components'
import { DevChain } from '@quoin/dev-chain'
import { collection, keyspace, logOf } from '@quoin/keyspace'
import { overlay, syncResponse } from '@quoin/overlay'
import { formatTxid, makeOutpoint, type Topic } from '@quoin/primitives'
import type { Store } from '@quoin/store'
import { outputs as outputKeys } from '@quoin/txo'
import { expect, it } from 'vitest'
import { mint, ones, pay, TestNode } from '../../../../overlay/src/gasp/node.testing.ts'
import { foldMembership, membershipDifference } from '../../../../txo/src/membership.testing.ts'
import { writeMembershipLogs } from './membership.ts'

const TOPIC = 'tm_ones' as Topic
const { arrivedTransactions, takenBack } = keyspace('overlay', {
  arrivedTransactions: collection({ key: ['l:arrived:', topic('topic'), ':tx'], value: logOf(txid('txid')) }),
  takenBack: collection({ key: ['l:arrived:', topic('topic'), ':back'], value: logOf(txid('txid')) })
}).collections

/** A node whose store has the logs of version 0.1 instead of a membership log. */
const downgraded = async (keeps: boolean) => {
  const chain = new DevChain({ seed: 'upgrade' })
  const node = await TestNode.open('a', chain, { [TOPIC]: ones(keeps) })
  const sent = async (transaction: Transaction): Promise<Transaction> => {
    await chain.submit(transaction, { replace: true })
    await node.submit(transaction)
    return transaction
  }
  const [a, b, c] = [await mint(chain), await mint(chain, [1, 1, 500]), await mint(chain)]
  for (const each of [a, b, c]) await node.submit(each)
  const d = await sent(pay([[a, 0]], [1]))
  const burn = await sent(pay([[b, 0]], [0]))
  const e = await sent(pay([[d, 0]], [1]))
  const gone = await sent(pay([[c, 0]], [1]))
  await node.engine.outputs.rollback(gone.txid)
  await node.engine.settle()
  const { store } = node
  await clear(store, outputKeys.collections.membership.encode(TOPIC).slice())
  for (const { txid: id } of [a, b, c, d, burn, e]) await store.logAt(arrivedTransactions, [TOPIC]).append(id)
  await store.logAt(takenBack, [TOPIC]).append(gone.txid)
  return { node, burn, gone, members: await node.state(TOPIC), transactions: { a, b, c, d, burn, e } }
}

const clear = async (store: Store, key: Uint8Array): Promise<void> => {
  const rows = await store.zrange(key)
  await store
    .batch()
    .zrem(key, ...rows.map(({ member }) => member))
    .commit()
}

it.each([true, false])('gives each topic the log of its members (keeps its history: %s)', async keeps => {
  const { node, burn, gone, members, transactions } = await downgraded(keeps)
  const { store } = node
  await writeMembershipLogs.run(store, { onProgress: () => undefined })
  const { outputs } = node.engine
  expect(await membershipDifference(outputs, TOPIC)).toBeUndefined()
  expect([...(await foldMembership(outputs, TOPIC)).keys()].sort()).toEqual(members.members)

  const listed = await syncResponse(node.engine, TOPIC, { version: 1, since: 0 })
  expect(listed.UTXOList.map(each => `${each.txid}.${each.outputIndex}`).sort()).toEqual(members.unspent)
  const applied = await syncResponse(node.engine, TOPIC, { version: 1, since: 0, applied: 0 })
  const ids = applied.applied!.transactions.map(({ txid: id }) => id)
  expect(new Set(ids)).toEqual(new Set(Object.values(transactions).map(({ txid: id }) => formatTxid(id))))
  expect(ids).toContain(formatTxid(burn.txid))

  const [first] = (await outputs.membership(TOPIC).read()).entries
  expect(first!.changes.map(({ kind }) => kind)).toEqual(['admitted', 'retracted'])
  expect(first!.changes[0]).toMatchObject({ outpoint: makeOutpoint(gone.txid, 0) })

  expect(await store.zkeys(Buffer.from('l:arrived:'))).toEqual([])
  const { initialCursors } = overlay.collections
  const { cursor } = initialCursors.value.fields.collections
  const last = await outputs.membership(TOPIC).last()
  expect(await store.use(initialCursors).at().get(cursor, TOPIC)).toBe(last)
  await writeMembershipLogs.run(store, { onProgress: () => undefined })
  expect(await outputs.membership(TOPIC).last()).toBe(last)
  await node.close()
})
