/**
 * The key-value store: tokens judged, against what the topic manager of the reference does with them on `@bsv/sdk`;
 * lookups by each selector as the store grows; and the history of an entry that was updated a thousand times.
 *
 *     npm run bench -- kvstore            lookups at 10^3 and 10^5 entries
 *     npm run bench -- kvstore --quick    at 10^3 and 10^4
 *     npm run bench -- kvstore --full     at 10^3 and 10^6, on LMDB
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProtoWallet, PushDrop, Transaction as SdkTransaction, Utils, type WalletProtocol } from '@bsv/sdk'
import { Beef, type Transaction } from '@quoin/chain'
import type { KvContent } from '@quoin/kvstore-client/token'
import { answerBeef, Engine, installPlugins } from '@quoin/overlay'
import { makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, TxUpdate } from '@quoin/txo'
import { suite } from '../../../bench/harness.ts'
import { measureLatency } from '../../../bench/latency.ts'
import { TestChain } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, compose, type Entry, entriesOf, PROTOCOL, payment } from './author.testing.ts'
import { TOPIC } from './history.ts'
import { eventsOf } from './keys.ts'
import { lookUp } from './lookup.ts'
import { kvstore } from './plugin.ts'
import { admitEntries, TAG_LIMITS } from './topic.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

const PAGE = 50
/** Transactions that are judged in one call. */
const JUDGED = 20

export default suite(({ compare, growth, sheet, after, scale, quick, note, progress }) => {
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(path, { recursive: true, force: true }))
    return path
  }
  const opened = async (): Promise<OutputStore> => {
    const store = await openStore(`lmdb:${await folder()}`)
    after(() => store.close())
    return new OutputStore(store)
  }

  note(
    'Judging begins with a BEEF and ends with what is admitted, nothing stored. The peer checks no lock keys.'
  )
  note(
    'Every token is of another controller, as they come to a node: @bsv/sdk keeps tables of keys it has seen.'
  )
  for (const [what, isUpdate] of [
    ['creates', false],
    ['updates', true]
  ] as const) {
    let beefs: Uint8Array[]
    /** The next ones that a side has not judged. */
    const taker = (): (() => Uint8Array[]) => {
      let next = 0
      return () => range(JUDGED).map(() => beefs[next++ % beefs.length]!)
    }
    const [ours, theirs] = [taker(), taker()]
    compare(`judge ${what}`, {
      unit: 'us/op',
      ops: JUDGED,
      prepare: async () => {
        beefs = range(quick ? 1000 : 6000).map(i => writtenBy(new Author(`${what} ${i}`), isUpdate))
      },
      ours: async () => {
        let admitted = 0
        for (const beef of ours()) admitted += (await weAdmit(beef, isUpdate)).length
        return expected(admitted, JUDGED)
      },
      peers: {
        'the reference on @bsv/sdk': async () => {
          let admitted = 0
          for (const beef of theirs()) admitted += (await referenceAdmits([...beef])).length
          return expected(admitted, JUDGED)
        }
      }
    })
  }

  const stores = new Map<number, Promise<OutputStore>>()
  const filled = (size: number): Promise<OutputStore> => {
    const store = stores.get(size) ?? opened().then(outputs => fill(outputs, size, progress))
    stores.set(size, store)
    return store
  }
  const queries: Readonly<Record<string, object>> = {
    key: { key: 'name' },
    controller: { controller: contentOf(0).controller },
    protocolID: { protocolID: PROTOCOL },
    'key and controller': { key: 'name', controller: contentOf(0).controller },
    'a common tag': { tags: ['common'] },
    'all of two tags': { tags: ['common', 'half'] },
    'any of two tags': { tags: ['third', 'half'], tagQueryMode: 'any' },
    'a tag and a controller': { tags: ['common'], controller: contentOf(0).controller },
    'a rare tag and a key': { tags: ['rare'], key: 'name' }
  }
  const [few, many] = [1000, scale === 'full' ? 1e6 : quick ? 1e4 : 1e5]
  for (const [what, query] of Object.entries(queries)) {
    let stores: readonly OutputStore[]
    const lookUpIn = async (at: 0 | 1): Promise<unknown> =>
      expected((await lookUp(stores[at]!, { ...query, history: false })).length, PAGE)
    compare(`a page of ${PAGE} of ${many.toLocaleString('en-US')} entries, by ${what}`, {
      unit: 'us/op',
      prepare: async () => {
        stores = [await filled(many), await filled(few)]
      },
      ours: () => lookUpIn(0),
      peers: { [`of ${few.toLocaleString('en-US')}`]: () => lookUpIn(1) }
    })
  }

  sheet(`pages of ${PAGE}`, async () => {
    const rows: (string | number)[][] = []
    for (const entries of [few, many]) {
      const store = await filled(entries)
      for (const [selector, query] of Object.entries(queries)) {
        const { p50, p99, processorUs } = await measureLatency(() =>
          lookUp(store, { ...query, history: false })
        )
        rows.push([selector, entries, p50, p99, processorUs])
      }
    }
    return { columns: ['selector', 'entries', 'p50 ms', 'p99 ms', 'processor us'], rows }
  })

  growth(
    'history, all mined, as BEEF, of',
    quick ? [10, 100] : [10, 100, 1000],
    async updates => {
      const author = new Author('history')
      const engine = await withHistory(await opened(), author, updates)
      after(() => engine.close())
      const query = { key: 'greeting', controller: author.controller, history: true }
      return async () => {
        const [answered] = await engine.lookup('ls_kvstore', query)
        expected(answered!.transactions.length, 2 * updates - 1)
        return answerBeef(answered!)
      }
    },
    { unit: 'ms/op', of: 'updates' }
  )
})

const expected = (count: number, wanted: number): number => {
  if (count !== wanted) throw new Error(`${count}, not ${wanted}`)
  return count
}

const writtenBy = (author: Author, isUpdate: boolean): Uint8Array => {
  const chain = new TestChain()
  const content = { key: 'greeting', value: 'hello', tags: ['a', 'b'] }
  const coin = (): { from: Transaction; vout: number } => ({
    from: chain.fund([payment(1_000_000)]),
    vout: 0
  })
  const [first, second] = [coin(), coin()]
  const created = compose(first, [[author, content]])
  if (!isUpdate) return chain.beef([first.from, created])
  const prior = entriesOf([[author, content]], created)
  chain.mine(created)
  return chain.beef([
    created,
    second.from,
    compose(second, [[author, { ...content, value: 'again' }]], prior)
  ])
}

const weAdmit = async (bytes: Uint8Array, isUpdate: boolean): Promise<readonly number[]> => {
  const beef = Beef.parse(bytes)
  const transaction = beef.find(beef.subject)!.transaction!
  const { txid, vout } = transaction.inputs[0]!
  const output = beef.find(txid)!.transaction!.outputs[vout]!
  const previousCoins = isUpdate ? [{ input: 0, outpoint: makeOutpoint(txid, vout), output }] : []
  const candidate = { transaction, previousCoins, offChainValues: undefined, mode: 'current-tx' } as const
  return (await admitEntries(TAG_LIMITS)(candidate)).outputs
}

/** What the topic manager of the reference looks at, the fields and the signature; it makes a wallet for each token. */
const referenceAdmits = async (beef: number[]): Promise<number[]> => {
  const admitted: number[] = []
  for (const [vout, { lockingScript }] of SdkTransaction.fromBEEF(beef).outputs.entries()) {
    try {
      const { fields } = PushDrop.decode(lockingScript)
      if (fields.length !== 5 && fields.length !== 6) continue
      const signature = fields.pop()!
      await new ProtoWallet('anyone').verifySignature({
        data: fields.flat(),
        signature,
        counterparty: Utils.toHex(fields[3]!),
        protocolID: JSON.parse(Utils.toUTF8(fields[0]!)) as WalletProtocol,
        keyID: Utils.toUTF8(fields[1]!)
      })
      admitted.push(vout)
    } catch {
      // It takes whatever throws for no token.
    }
  }
  return admitted
}

/** Of every selector there is more than a page at every size, and of the rare tag always as much. */
const contentOf = (i: number): KvContent => ({
  protocolID: i % 10 ? PROTOCOL : [2, 'other store'],
  key: i % 4 ? `key ${i}` : 'name',
  value: `value ${i}`,
  controller: controllers[i % controllers.length]!,
  tags: [
    'common',
    ...(i % 2 ? [] : ['half']),
    ...(i % 3 ? [] : ['third']),
    ...(i < 1000 && i % 4 === 0 ? ['rare'] : [])
  ]
})
const controllers = range(5).map(i => new Author(`controller ${i}`).controller)

/** Outputs of a transaction, each an entry. Nobody verifies them here, so nobody signed them. */
const EACH = 250
/** Commits that are on their way together. */
const AT_ONCE = 4

const fill = async (
  outputs: OutputStore,
  size: number,
  progress: (text: string) => void
): Promise<OutputStore> => {
  await installPlugins([kvstore], { outputs })
  const chain = new TestChain()
  const change = (block: number): TxUpdate => {
    const { txid } = chain.fund([payment(block)])
    const made = new TxUpdate(txid, { position: { height: 1 + block, index: 1n } }).markApplied(TOPIC)
    for (const vout of range(EACH)) {
      made.admit(TOPIC, vout).output(vout, { satoshis: 1, events: eventsOf(contentOf(block * EACH + vout)) })
    }
    return made
  }
  for (let block = 0; block < size / EACH; block += AT_ONCE) {
    await Promise.all(range(AT_ONCE).map(i => outputs.commit(change(block + i))))
    if (block % 200 === 0) progress(`${(block * EACH).toLocaleString('en-US')} entries`)
  }
  return outputs
}

const withHistory = async (outputs: OutputStore, author: Author, updates: number): Promise<Engine> => {
  const chain = new TestChain()
  const engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([kvstore], { outputs })) })
  let prior: Entry[] = []
  let before: Transaction[] = []
  for (const i of range(updates)) {
    const coin = { from: chain.fund([payment(1_000_000)]), vout: 0 }
    const transaction = compose(coin, [[author, { value: `value ${i}` }]], prior)
    await engine.submit({ beef: chain.beef([...before, coin.from, transaction]), topics: [TOPIC] })
    const bump = chain.mine(transaction)
    await engine.handleNewMerkleProof(transaction.txid, bump)
    prior = entriesOf([[author, {}]], transaction)
    before = [transaction]
  }
  return engine
}
