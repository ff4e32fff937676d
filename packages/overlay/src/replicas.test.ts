/** A node on Redis with a replica: no answer says that a submission is safe while the replica lacks it. */

import { DevChain } from '@quoin/dev-chain'
import { makeOutpoint, type Topic } from '@quoin/primitives'
import { Store } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { openRedis } from '../../store/src/redis/redis.ts'
import { type RedisServer, startRedis } from '../../store/src/redis/server.testing.ts'
import { Engine } from './index.ts'

const TOPIC = 'tm_ones' as Topic

let primary: RedisServer
let replica: RedisServer
beforeAll(async () => {
  primary = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } })
  replica = await startRedis()
  await replica.command('REPLICAOF', '127.0.0.1', String(primary.port))
})
afterAll(async () => {
  await replica.stop()
  await primary.stop()
})

it('a submission that comes again is not answered from memory before the replica has it', async () => {
  const store = new Store(await openRedis(`${primary.url}?replicas=1`, { timeout: 300 }))
  await expect.poll(() => store.replicated()?.then(() => 'there', String), { timeout: 10_000 }).toBe('there')
  const chain = new DevChain({ seed: 'replicas' })
  const outputs = new OutputStore(store)
  const ones = {
    getDocumentation: async () => '',
    getMetaData: async () => ({ name: 'ones', shortDescription: '' }),
    admit: () => ({ outputs: [0] })
  }
  const engine = new Engine({ outputs, tracker: chain, topics: { [TOPIC]: ones } })
  const key = makeKey('replicas')
  const transaction = spend({
    inputs: [{ from: chain.fund(payTo(key), 1000), vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 1, script: payTo(key) }]
  })
  await chain.submit(transaction)
  const submit = () => engine.submit({ beef: chain.beef(transaction.txid), topics: [TOPIC] })
  const short = { code: 'ERR_STORE_REPLICAS', details: { outcome: 'applied' } }

  replica.process.kill('SIGSTOP')
  await expect(submit()).rejects.toMatchObject(short)
  const admitted = makeOutpoint(transaction.txid, 0)
  expect(await outputs.isInTopic(TOPIC, admitted)).toBe(true)
  await expect(submit()).rejects.toMatchObject(short)
  // The same for a change that is applied already.
  await expect(outputs.admit(TOPIC, admitted)).rejects.toMatchObject(short)

  replica.process.kill('SIGCONT')
  expect(await outputs.admit(TOPIC, admitted)).toBe(false)
  expect(await submit()).toMatchObject({ [TOPIC]: { outputsToAdmit: [0] } })
  await engine.close()
  await store.close()
})
