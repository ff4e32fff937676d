/**
 * The output store: many outputs loaded at once against one by one, on LMDB, on Redis over loopback and on Redis with
 * the round trips of a network, and balances as they grow. Of those who load one by one, the first asks for everything
 * about an output at once, the second for one thing after the other, as it comes from a loop over ids with a call for
 * each property; each of its calls reads the hash and the record of the output again.
 *
 *     npm run bench -- txo            a million outputs under one address
 *     npm run bench -- txo --quick    a hundred thousand
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bump, p2pkh, writeTransaction } from '@quoin/chain'
import { makeOutpoint, type Outpoint, type Txid } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { suite } from '../../../bench/harness.ts'
import { farAway } from '../../store/src/redis/far.testing.ts'
import { startRedis } from '../../store/src/redis/server.testing.ts'
import { ADDRESSES, own, txidNumber } from './history.testing.ts'
import type { LoadOptions } from './load-outputs.ts'
import { OutputStore } from './output-store.ts'
import { TxUpdate } from './tx-update.ts'

const EVERYTHING: LoadOptions = {
  includeSatoshis: true,
  includeSpend: true,
  includeEvents: true,
  includeTopics: true,
  includeBlock: true,
  includeTags: 'all',
  includeOutput: true,
  includeRawtx: true,
  includeMerkleProof: true
}
const TRANSACTIONS = 100
const OUTPUTS = 10
/** Transactions of a block: their proofs have twelve levels. */
const BLOCK = 4096

export default suite(({ compare, growth, after, scale, progress }) => {
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(path, { recursive: true, force: true }))
    return path
  }
  const opened = async (url: string): Promise<Store> => {
    const store = await openStore(url)
    after(() => store.close())
    return store
  }
  const urls: Readonly<Record<string, () => Promise<string>>> = {
    LMDB: async () => `lmdb:${await folder()}`,
    Redis: async () => {
      const server = await startRedis()
      after(() => server.stop())
      return server.url
    },
    'Redis a millisecond away': async () => {
      const server = await startRedis()
      const far = await farAway(server.url)
      after(async () => {
        await far.stop()
        await server.stop()
      })
      return far.url
    }
  }
  for (const [engine, url] of Object.entries(urls)) {
    let outputs: OutputStore
    let outpoints: Outpoint[]
    compare(`load ${TRANSACTIONS * OUTPUTS} outputs with everything, ${engine}`, {
      unit: 'ms/op',
      prepare: async () => {
        outputs = new OutputStore(await opened(await url()))
        outpoints = await loadTransactions(outputs)
      },
      ours: () => outputs.loadOutputs(outpoints, EVERYTHING),
      peers: {
        'one output at a time': async () => {
          for (const outpoint of outpoints) await outputs.loadOutput(outpoint, EVERYTHING)
        },
        'one read at a time': async () => {
          for (const outpoint of outpoints) {
            for (const option of Object.keys(EVERYTHING) as (keyof LoadOptions)[]) {
              await outputs.loadOutput(outpoint, { [option]: EVERYTHING[option] })
            }
          }
        }
      }
    })
  }

  growth(
    'balance of an address with',
    scale === 'quick' ? [10, 1e4, 1e5] : [10, 1e4, 1e6],
    async size => {
      const outputs = new OutputStore(await opened(await urls['LMDB']!()), { journal: 0 })
      progress(`saving ${size.toLocaleString('en-US')} outputs`)
      await pay(outputs, size)
      return () => outputs.searchBalance({ keys: [own(ADDRESSES[0])] })
    },
    { unit: 'us/op', of: 'outputs' }
  )
})

/** Mined transactions with outputs of several owners and data, half of them spent. */
const loadTransactions = async (outputs: OutputStore): Promise<Outpoint[]> => {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, number) =>
    writeTransaction({
      version: 1,
      inputs: [{ txid: txidNumber(number), vout: 0, script: new Uint8Array(107), sequence: 0xffffffff }],
      outputs: Array.from({ length: OUTPUTS }, (_, vout) => ({
        satoshis: 1000 + vout,
        script: p2pkh(txidNumber(vout).subarray(0, 20))
      })),
      lockTime: 0
    })
  )
  const txids = [...transactions.map(({ txid }) => txid)]
  while (txids.length < BLOCK) txids.push(txidNumber(txids.length))
  const block = Bump.ofBlock(
    850_000,
    txids,
    transactions.map(({ txid }) => txid)
  )
  for (const [number, transaction] of transactions.entries()) {
    const change = new TxUpdate(transaction.txid, {
      position: { height: 850_000, index: BigInt(number) },
      vouts: OUTPUTS
    })
    for (let vout = 0; vout < OUTPUTS; vout++) {
      change.output(vout, {
        satoshis: 1000 + vout,
        events: [own(ADDRESSES[vout % 3]!)],
        data: { p2pkh: { address: ADDRESSES[vout % 3] } }
      })
    }
    change.addWrites(batch => {
      outputs.transactions.saveIn(batch, transaction, { verified: true })
      outputs.transactions.saveProofIn(batch, transaction.txid, block)
    })
    await outputs.commit(change)
  }
  const outpoints = transactions.flatMap(({ txid }) =>
    Array.from({ length: OUTPUTS }, (_, vout) => makeOutpoint(txid, vout))
  )
  const spender = new TxUpdate(txidNumber(1e6))
  for (const outpoint of outpoints.filter((_, i) => i % 2 === 0)) spender.spend(outpoint)
  await outputs.commit(spender)
  return outpoints
}

/** So many outputs for one address. */
const pay = async (outputs: OutputStore, count: number): Promise<void> => {
  const size = 1000
  for (let first = 0; first < count; first += size) {
    const change = new TxUpdate(txidNumber(first) as Txid, { position: { height: first, index: 0n } })
    for (let vout = 0; vout < Math.min(size, count - first); vout++) {
      change.output(vout, { satoshis: 1, events: [own(ADDRESSES[0])] })
    }
    await outputs.commit(change)
  }
}
