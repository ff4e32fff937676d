import { chain as chainKeys, HeaderStore, type ProofSource, syncHeaders } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { Engine, SILENT } from '@quoin/overlay'
import { formatTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { ProofWatch } from './proof-watch.ts'

const key = makeKey('waiting')
let chain: DevChain
let engine: Engine
let headers: HeaderStore
/** Txids that the source was asked for. */
let asked: string[]
let source: ProofSource
const warnings: string[] = []
const logger = { ...SILENT, warn: (event: string) => void warnings.push(event) }

beforeEach(async () => {
  chain = new DevChain({ seed: 'proofs' })
  chain.mine(2)
  const store = await openStore('memory:')
  headers = await HeaderStore.open(store, { network: 'regtest' })
  const topic = {
    admit: () => ({ outputs: [0] }),
    getDocumentation: async () => '',
    getMetaData: async () => ({ name: '', shortDescription: '' })
  }
  engine = new Engine({ outputs: new OutputStore(store), tracker: headers, topics: { tm_all: topic } })
  await syncHeaders(headers, chain)
  asked = []
  warnings.length = 0
  source = {
    name: 'the chain',
    proof: txid => {
      asked.push(formatTxid(txid))
      return chain.proof(txid)
    }
  }
})
afterEach(async () => {
  await engine.close()
  await engine.outputs.store.close()
})

/** A transaction that was submitted, and waits. */
const waiting = async () => {
  const from = chain.fund(payTo(key), 1000)
  chain.mine()
  await syncHeaders(headers, chain)
  const transaction = spend({
    inputs: [{ from, vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 900, script: payTo(key) }]
  })
  await chain.submit(transaction)
  await engine.submit({ beef: chain.beef(transaction.txid), topics: ['tm_all'] })
  return transaction.txid
}
const heightOf = async (txid: Parameters<typeof engine.outputs.record>[0]) =>
  (await engine.outputs.record(txid))?.position?.height

describe('proofs of what waits', () => {
  it('are asked for once after each block, and move what they prove', async () => {
    const watch = new ProofWatch(engine, headers, source, logger)
    const txid = await waiting()
    await watch.once()
    expect(asked).toEqual([formatTxid(txid)])
    expect(await heightOf(txid)).toBeUndefined()
    await watch.once()
    expect(asked).toHaveLength(1)
    chain.mine()
    await syncHeaders(headers, chain)
    await watch.once()
    expect(await heightOf(txid)).toBe((await headers.tip()).height)
    chain.mine()
    await syncHeaders(headers, chain)
    await watch.once()
    expect(asked).toHaveLength(2)
  })

  it('of a block that the headers do not have yet wait for it', async () => {
    const watch = new ProofWatch(engine, headers, source, logger)
    const txid = await waiting()
    chain.mine()
    await watch.once()
    expect(await heightOf(txid)).toBeUndefined()
    expect(warnings).toEqual(['proof refused'])
    await syncHeaders(headers, chain)
    await watch.once()
    expect(await heightOf(txid)).toBe((await headers.tip()).height)
  })

  it('are asked for again when the source could not be', async () => {
    const txid = await waiting()
    chain.mine()
    await syncHeaders(headers, chain)
    let isDown = true
    const flaky: ProofSource = {
      name: 'flaky',
      proof: async each => {
        if (isDown) throw new Error('out of order')
        return chain.proof(each)
      }
    }
    const watch = new ProofWatch(engine, headers, flaky, logger)
    await watch.once()
    expect(warnings).toEqual(['a source of proofs is failing'])
    isDown = false
    await watch.once()
    expect(await heightOf(txid)).toBe((await headers.tip()).height)
  })

  it('are all asked for, however many pages they are', async () => {
    const txids = new Set<string>()
    const store = engine.outputs.store
    const batch = store.batch()
    for (let i = 0; i < 1203; i++) {
      const txid = new Uint8Array(32).fill(i % 251)
      txid[0] = i >> 8
      txid[1] = i
      batch
        .use(chainKeys.collections.log)
        .at('pending')
        .add(txid as never, i)
      txids.add(formatTxid(txid as never))
    }
    await batch.commit()
    await new ProofWatch(engine, headers, source, logger).once()
    expect(new Set(asked)).toEqual(txids)
  })
})
