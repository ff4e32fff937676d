/** The clients of `@bsv/sdk`, unmodified, over loopback. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  HTTPSOverlayBroadcastFacilitator,
  HTTPSOverlayLookupFacilitator,
  LookupResolver,
  MerklePath,
  OverlayAdminTokenTemplate,
  PrivateKey,
  ProtoWallet,
  Transaction as SdkTransaction,
  TopicBroadcaster,
  UnlockingScript,
  type WalletInterface
} from '@bsv/sdk'
import type { Transaction } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { key, startNode, type TestNode } from './node.testing.ts'

/** What a tracker answers: a transaction that advertises one host for the topic. */
const advertisement = async (url: string): Promise<number[]> => {
  const wallet = new ProtoWallet(new PrivateKey(1)) as unknown as WalletInterface
  const transaction = new SdkTransaction(
    1,
    [
      {
        sourceTXID: '11'.repeat(32),
        sourceOutputIndex: 0,
        unlockingScript: new UnlockingScript(),
        sequence: 0
      }
    ],
    [{ satoshis: 1, lockingScript: await new OverlayAdminTokenTemplate(wallet).lock('SHIP', url, 'tm_ones') }]
  )
  const hash = transaction.id('hex')
  transaction.merklePath = new MerklePath(1, [
    [
      { offset: 0, hash: '22'.repeat(32) },
      { offset: 1, hash, txid: true }
    ]
  ])
  return transaction.toBEEF()
}

describe.each(['memory:', 'lmdb:'])('on %s', engine => {
  let node: TestNode
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quoin-sdk-'))
    node = await startNode(engine === 'memory:' ? engine : `lmdb:${directory}/store`)
  })
  afterEach(async () => {
    await node.close()
    await rm(directory, { recursive: true })
  })

  const broadcaster = async (): Promise<TopicBroadcaster> => {
    const beef = await advertisement(node.url)
    const query = async () => ({ type: 'output-list' as const, outputs: [{ beef, outputIndex: 0 }] })
    return new TopicBroadcaster(['tm_ones'], {
      resolver: { query } as unknown as LookupResolver,
      facilitator: new HTTPSOverlayBroadcastFacilitator(fetch, true)
    })
  }
  const resolver = (): LookupResolver =>
    new LookupResolver({
      networkPreset: 'local',
      hostOverrides: { ls_ones: [node.url] },
      facilitator: new HTTPSOverlayLookupFacilitator(fetch, true),
      reputationStorage: { get: () => undefined, set: () => undefined }
    })
  const sdk = ({ txid }: Transaction): SdkTransaction => SdkTransaction.fromBEEF([...node.chain.beef(txid)])

  it('submits and looks up', async () => {
    const { chain } = node
    const [first, second] = [await node.minted(), await node.minted()]
    const broadcasting = await broadcaster()
    for (const each of [first, second, first]) {
      expect(await broadcasting.broadcast(sdk(each))).toMatchObject({
        status: 'success',
        txid: formatTxid(each.txid)
      })
    }
    const { outputs } = await resolver().query({ service: 'ls_ones', query: {} })
    const found = outputs.map(({ beef, outputIndex }) => [
      SdkTransaction.fromBEEF(beef).id('hex'),
      outputIndex
    ])
    expect(found.sort()).toEqual([first, second].map(({ txid }) => [formatTxid(txid), 0]).sort())
    for (const { beef } of outputs) expect(await SdkTransaction.fromBEEF(beef).verify(chain)).toBe(true)
  })

  it('sends values beside the transaction, and gets them back as context', async () => {
    const transaction = sdk(await node.minted())
    transaction.metadata['OffChainValues'] = [1, 2, 3]
    const send = new HTTPSOverlayBroadcastFacilitator(fetch, true)
    await send.send(node.url, { beef: transaction.toBEEF(), topics: ['tm_ones'], offChainValues: [1, 2, 3] })
    const { outputs } = await resolver().query({ service: 'ls_ones', query: {} })
    expect(outputs.map(({ context }) => context)).toEqual([[1, 2, 3]])
  })

  it('walks the history of what is mined, in one answer for many outputs', async () => {
    const { chain, engine: overlay } = node
    const minted = await node.minted()
    const tips: Transaction[] = []
    await node.submit(minted, 'tm_ones')
    let last = await node.spent(minted, 0, [1])
    const steps = [minted, last]
    await node.submit(last, 'tm_ones')
    last = await node.spent(last, 0, [1])
    await node.submit(last, 'tm_ones')
    steps.push(last)
    tips.push(last)
    chain.mine()
    for (const { txid } of steps) {
      const answer = await chain.proof(txid)
      if (answer.status === 'mined') await overlay.handleNewMerkleProof(txid, answer.bump)
    }
    const other = await node.minted()
    await node.submit(other, 'tm_ones')
    tips.push(other)
    const { outputs } = await resolver().query({ service: 'ls_ones', query: { history: 10 } })
    expect(outputs).toHaveLength(tips.length)
    let walked = outputs
      .map(({ beef }) => SdkTransaction.fromBEEF(beef))
      .find(each => each.id('hex') === formatTxid(last.txid))!
    expect(await walked.verify(chain)).toBe(true)
    for (const { txid } of steps.reverse()) {
      expect(walked.id('hex')).toBe(formatTxid(txid))
      walked = walked.inputs[0]!.sourceTransaction!
    }
  })

  it('tells the client what was refused', async () => {
    const { chain } = node
    const forged = spend({
      inputs: [{ from: chain.fund(payTo(key), 10), vout: 0, unlock: withKeyHash(makeKey('thief')) }],
      outputs: [{ satoshis: 1, script: payTo(key) }]
    })
    await chain.submit(forged)
    expect(await (await broadcaster()).broadcast(sdk(forged))).toMatchObject({
      code: 'ERR_ALL_HOSTS_REJECTED'
    })
    expect(
      await (await broadcaster()).broadcast(sdk(chain.fund('mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8', 5)))
    ).toMatchObject({ code: 'ERR_REQUIRE_ACK_FROM_ANY_HOST_FAILED' })
  })
})
