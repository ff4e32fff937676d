/** The methods of `@1sat/client`, a call of each, and the answer of a node that has the facts. */
import { Beef } from '@bsv/sdk'
import { expect } from 'vitest'
import type * as t from '../../../../../bsv21/src/tokens.testing.ts'
import { all } from './client.testing.ts'

/** What the node has. */
export interface Facts {
  readonly url: string
  readonly owners: readonly [t.Person, t.Person]
  readonly txid: string
  readonly coin: string
  /** The hash of the last block. */
  readonly tip: string
  readonly tokenId: string
  readonly moved: string
  readonly inscribed: string
  /** Not submitted. */
  readonly fresh: { readonly beef: number[]; readonly txid: string }
  /** A BEEF of another one. */
  readonly later: number[]
}

/** The parts of the client, untyped: the rows check the answers. */
export type Methods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>
export type ClientName = keyof typeof PARTS

export const PARTS = {
  txo: 'TxoClient',
  owner: 'OwnerClient',
  beef: 'BeefClient',
  ordfs: 'OrdfsClient',
  chaintracks: 'ChaintracksClient',
  bsv21: 'Bsv21Client',
  overlay: 'OverlayClient',
  arcade: 'ArcadeClient',
  admin: 'AdminClient',
  services: 'OneSatServices'
} as const

/** A call that the client refuses whatever the node is. */
export const NOT_IN_CLIENT = Symbol('not in the client')

export interface Row {
  /** What a call answers, as `toMatchObject` takes it; or a function that checks. */
  readonly call: (client: Methods) => Promise<unknown> | unknown
  readonly answers: unknown
}

const row = (call: Row['call'], answers: unknown): Row => ({ call, answers })

/** The first event of a subscription, which ends then. */
const firstOf = async (subscribe: (told: (event: unknown) => void) => unknown): Promise<unknown> => {
  const events: unknown[] = []
  const end = await subscribe(event => events.push(event))
  await expect.poll(() => events.length, { timeout: 10_000 }).toBeGreaterThan(0)
  if (typeof end === 'function') end()
  return events[0]
}

const TOKEN = 'a-token-of-the-caller'
/** Without the recorder of the test. */
const plainFetch = globalThis.fetch
const openStreams = async (url: string): Promise<number> =>
  Number(/^quoin_live_streams (\d+)$/m.exec(await (await plainFetch(`${url}/metrics`)).text())![1])

const ANY = expect.anything()
const HEADER = { height: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) }
const STATUS = { txid: expect.any(String), txStatus: expect.any(String), timestamp: expect.any(String) }

/** Every method of every part of the client. */
export const rowsOf = (facts: Facts): Readonly<Record<ClientName, Readonly<Record<string, Row>>>> => {
  const { url, txid, coin, tip, tokenId, moved, inscribed, fresh, later } = facts
  const [alice, bob] = facts.owners
  const other = `${'ef'.repeat(32)}_1`
  return {
    txo: {
      get: row(c => c['get']!(coin, { sats: true }), { outpoint: coin, satoshis: 1 }),
      getBatch: row(c => c['getBatch']!([coin, other]), [{ outpoint: coin }, null]),
      getSpend: row(c => c['getSpend']!(coin), null),
      getSpends: row(c => c['getSpends']!([coin]), [null]),
      getByTxid: row(c => c['getByTxid']!(txid), [{ outpoint: coin }, ANY]),
      search: row(c => c['search']!(`own:${bob.address}`), [{ outpoint: coin }])
    },
    owner: {
      getTxos: row(
        c => all(c['getTxos']!(bob.address) as never),
        [{ type: 'sync' }, { type: 'txo' }, { type: 'done' }]
      ),
      getBalance: row(c => c['getBalance']!(bob.address), { balance: 1, count: 1 }),
      sync: row(c => all(c['sync']!([bob.address]) as never), [{ outpoint: coin }])
    },
    beef: {
      getBeef: row(c => c['getBeef']!(txid), expect.any(Uint8Array)),
      getRawTx: row(c => c['getRawTx']!(txid), expect.any(Uint8Array)),
      getProof: row(c => c['getProof']!(txid), expect.any(Uint8Array))
    },
    ordfs: {
      getMetadata: row(c => c['getMetadata']!(inscribed, -1), {
        origin: inscribed,
        sequence: 0,
        contentType: 'text/plain'
      }),
      bulkMetadata: row(c => c['bulkMetadata']!([inscribed, other]), {
        [inscribed]: { contentLength: 3 },
        [other]: null
      }),
      getContent: row(
        async c => {
          const { data, headers } = (await c['getContent']!(inscribed, { seq: 0, map: true })) as {
            data: Uint8Array
            headers: object
          }
          return { text: Buffer.from(data).toString(), headers }
        },
        {
          text: 'art',
          headers: { contentType: 'text/plain', outpoint: inscribed, origin: inscribed, sequence: 0 }
        }
      ),
      previewHtml: row(c => c['previewHtml']!(Buffer.from('<p>?</p>').toString('base64')), '<p>?</p>'),
      previewContent: row(
        async c =>
          Buffer.from((await c['previewContent']!('<svg/>', 'image/svg+xml')) as Uint8Array).toString(),
        '<svg/>'
      ),
      getContentUrl: row(c => c['getContentUrl']!(inscribed, { seq: -1 }), `${url}/content/${inscribed}:-1`)
    },
    chaintracks: {
      currentHeight: row(c => c['currentHeight']!(), expect.any(Number)),
      isValidRootForHeight: row(c => c['isValidRootForHeight']!('00'.repeat(32), 1), false),
      getChain: row(c => c['getChain']!(), 'regtest'),
      getInfo: row(c => c['getInfo']!(), { chain: 'regtest' }),
      getPresentHeight: row(c => c['getPresentHeight']!(), expect.any(Number)),
      getHeaders: row(c => c['getHeaders']!(0, 2), expect.stringMatching(/^[0-9a-f]{320}$/)),
      findChainTipHeader: row(c => c['findChainTipHeader']!(), HEADER),
      findChainTipHash: row(c => c['findChainTipHash']!(), HEADER.hash),
      findHeaderForHeight: row(c => c['findHeaderForHeight']!(1), { height: 1 }),
      findHeaderForBlockHash: row(
        async c =>
          c['findHeaderForBlockHash']!(((await c['findHeaderForHeight']!(1)) as { hash: string }).hash),
        { height: 1 }
      ),
      addHeader: row(c => c['addHeader']!({}), undefined),
      startListening: row(c => c['startListening']!(), undefined),
      listening: row(c => c['listening']!(), undefined),
      isListening: row(c => c['isListening']!(), true),
      isSynchronized: row(c => c['isSynchronized']!(), true),
      subscribeReorgs: row(c => c['subscribeReorgs']!(() => undefined), NOT_IN_CLIENT),
      unsubscribe: row(c => c['unsubscribe']!('subscription'), false),
      subscribeHeaders: row(
        c => firstOf(told => void c['subscribeHeaders']!(told)).finally(() => c['close']!()),
        HEADER
      ),
      getHeaderBytes: row(c => c['getHeaderBytes']!(1), { length: 80 }),
      subscribe: row(c => firstOf(told => c['subscribe']!(told)), HEADER),
      close: row(c => c['close']!(), undefined)
    },
    bsv21: {
      lookupTokens: row(c => c['lookupTokens']!([tokenId]), [{ tokenId }]),
      getTokenDetails: row(c => c['getTokenDetails']!(tokenId), { tokenId, token: { sym: 'GOLD' } }),
      getTokenByTxid: row(c => c['getTokenByTxid']!(tokenId, moved), { txid: moved, outputs: [ANY, ANY] }),
      getBalance: row(c => c['getBalance']!(tokenId, 'p2pkh', bob.address), { balance: 300, utxoCount: 1 }),
      getUnspent: row(c => c['getUnspent']!(tokenId, 'p2pkh', bob.address), [{ outpoint: coin }]),
      getHistory: row(c => c['getHistory']!(tokenId, 'p2pkh', bob.address), [{ outpoint: coin }]),
      getBalanceMulti: row(c => c['getBalanceMulti']!(tokenId, 'p2pkh', [alice.address, bob.address]), {
        balance: 1000
      }),
      getUnspentMulti: row(c => c['getUnspentMulti']!(tokenId, 'p2pkh', [bob.address]), [{ outpoint: coin }]),
      getHistoryMulti: row(c => c['getHistoryMulti']!(tokenId, 'p2pkh', [bob.address]), [{ outpoint: coin }]),
      validateOutputs: row(c => c['validateOutputs']!(tokenId, [coin, other]), [{ outpoint: coin }]),
      validateOutput: row(c => c['validateOutput']!(tokenId, coin), { outpoint: coin }),
      clearCache: row(c => c['clearCache']!(), undefined)
    },
    overlay: {
      listTopicManagers: row(c => c['listTopicManagers']!(), { tm_bsv21: ANY }),
      listLookupServiceProviders: row(c => c['listLookupServiceProviders']!(), { ls_kvstore: ANY }),
      submit: row(c => c['submit']!(Uint8Array.from(fresh.beef), ['tm_bsv21']), {
        tm_bsv21: { outputsToAdmit: [0] }
      }),
      submitBsv21: row(c => c['submitBsv21']!(fresh.beef, `${fresh.txid}_0`), {
        [`tm_${fresh.txid}_0`]: { outputsToAdmit: [0] }
      })
    },
    arcade: {
      submitTransaction: row(c => c['submitTransaction']!(Uint8Array.from(fresh.beef)), STATUS),
      submitTransactionHex: row(
        c => c['submitTransactionHex']!(Buffer.from(fresh.beef).toString('hex')),
        STATUS
      ),
      submitTransactions: row(c => c['submitTransactions']!([fresh.beef]), [STATUS]),
      getStatus: row(c => c['getStatus']!(txid), STATUS),
      getPolicy: row(c => c['getPolicy']!(), {
        miningFee: { satoshis: expect.any(Number), bytes: expect.any(Number) },
        maxtxsizepolicy: expect.any(Number)
      }),
      subscribeEvents: row(
        c =>
          firstOf(async told => {
            const end = await c['subscribeEvents']!(told, TOKEN)
            await expect.poll(() => openStreams(url), { timeout: 10_000 }).toBeGreaterThan(0)
            await plainFetch(`${url}/1sat/arcade/tx`, {
              method: 'POST',
              headers: { 'x-callbacktoken': TOKEN },
              body: Uint8Array.from(later)
            })
            return end
          }),
        STATUS
      )
    },
    admin: {
      getSetupStatus: row(c => c['getSetupStatus']!(), { configured: true }),
      setup: row(c => c['setup']!(), { message: ANY }),
      getWhitelist: row(c => c['getWhitelist']!(), []),
      addToWhitelist: row(c => c['addToWhitelist']!(`tm_${other}`), { message: ANY, token: other }),
      removeFromWhitelist: row(c => c['removeFromWhitelist']!(other), { token: other }),
      getBlacklist: row(c => c['getBlacklist']!(), []),
      addToBlacklist: row(c => c['addToBlacklist']!(other), { message: ANY, topic: other }),
      removeFromBlacklist: row(c => c['removeFromBlacklist']!(other), { topic: other }),
      getActiveTopics: row(c => c['getActiveTopics']!(), expect.arrayContaining(['tm_bsv21'])),
      getActiveLookups: row(c => c['getActiveLookups']!(), expect.arrayContaining(['ls_bsv21'])),
      getProgress: row(c => c['getProgress']!(), [])
    },
    services: {
      getCapabilities: row(
        c => c['getCapabilities']!(),
        expect.arrayContaining(['txo', 'bsv21', 'ordfs', 'chaintracks'])
      ),
      close: row(c => c['close']!(), undefined),
      getRawTx: row(c => c['getRawTx']!(txid), { txid, rawTx: ANY }),
      getChainTracker: row(c => c['getChainTracker']!(), ANY),
      getHeaderForHeight: row(c => c['getHeaderForHeight']!(1), { length: 80 }),
      getHeight: row(c => c['getHeight']!(), expect.any(Number)),
      getMerklePath: row(c => c['getMerklePath']!(txid), { merklePath: ANY, header: HEADER }),
      postBeef: row(c => c['postBeef']!(Beef.fromBinary(fresh.beef), [fresh.txid]), [{ status: 'success' }]),
      getBeefForTxid: row(c => c['getBeefForTxid']!(txid), expect.any(Beef)),
      hashOutputScript: row(c => c['hashOutputScript']!('51'), expect.stringMatching(/^[0-9a-f]{64}$/)),
      getServicesCallHistory: row(c => c['getServicesCallHistory']!(), { version: 1 }),
      getBsvExchangeRate: row(c => c['getBsvExchangeRate']!(), NOT_IN_CLIENT),
      getFiatExchangeRate: row(c => c['getFiatExchangeRate']!('EUR'), NOT_IN_CLIENT),
      getStatusForTxids: row(c => c['getStatusForTxids']!([txid]), {
        status: 'success',
        results: [{ txid, status: 'mined' }]
      }),
      isUtxo: row(c => c['isUtxo']!({ txid, vout: 0 }), true),
      getUtxoStatus: row(c => c['getUtxoStatus']!('', undefined, coin), { status: 'success', isUtxo: true }),
      getScriptHashHistory: row(c => c['getScriptHashHistory']!('00'), NOT_IN_CLIENT),
      hashToHeader: row(c => c['hashToHeader']!(tip), HEADER),
      nLockTimeIsFinal: row(c => c['nLockTimeIsFinal']!(1), true)
    }
  }
}
