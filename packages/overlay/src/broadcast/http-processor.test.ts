/** Answers of ARC and Arcade over HTTP: verdicts, and answers that decide nothing. */
import { DevChain } from '@quoin/dev-chain'
import { bytesKey, formatTxid, type Txid } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../../chain/src/verify/test-chain.testing.ts'
import { httpProcessor, type ProcessorKind } from './http-processor.ts'
import { ProcessorServer } from './processor-server.testing.ts'

const key = makeKey('processor')
const TOKEN = 'secret-of-the-processor'
const chain = new DevChain({ seed: 'processor' })
const funded = chain.fund(payTo(key), 1000)
const transaction = spend({
  inputs: [{ from: funded, vout: 0, unlock: withKeyHash(key) }],
  outputs: [{ satoshis: 900, script: payTo(key) }]
})
const txid = formatTxid(transaction.txid)
const sourceOf = (of: Txid) => (bytesKey(of) === bytesKey(funded.txid) ? funded : undefined)

describe.each<ProcessorKind>(['arc', 'arcade'])('%s', kind => {
  let server: ProcessorServer
  beforeAll(async () => {
    server = await ProcessorServer.start(kind, chain, TOKEN)
  })
  afterAll(() => server.close())
  const processor = (token = TOKEN) => httpProcessor(kind, server.url, { token, timeout: 10_000 })
  const submit = (token?: string) => processor(token).submit(transaction, sourceOf)

  it.each([
    [461, 'refused', 'REJECTED'],
    [463, 'refused', 'REJECTED'],
    [466, 'refused', 'DOUBLE_SPEND_ATTEMPTED'],
    [465, 'refused by policy', 'REJECTED'],
    [473, 'refused by policy', 'REJECTED'],
    [460, 'undecided', 'UNKNOWN'],
    [467, 'undecided', 'UNKNOWN'],
    [476, 'undecided', 'UNKNOWN']
  ])('the code %i is %s', async (code, verdict, txStatus) => {
    server.verdicts.set(txid, { txStatus: '', code, extraInfo: 'because' })
    expect(await submit()).toMatchObject({ verdict, txStatus, reason: 'because' })
  })

  it.each([
    ['QUEUED', 'sent'],
    ['ACCEPTED_BY_NETWORK', 'sent'],
    ['SEEN_MULTIPLE_NODES', 'seen'],
    ['MINED', 'seen'],
    ['REJECTED', 'refused'],
    ['DOUBLE_SPEND_ATTEMPTED', 'refused'],
    ['SEEN_IN_ORPHAN_MEMPOOL', 'undecided'],
    ['A_STATUS_OF_TOMORROW', 'undecided']
  ])('the status %s is %s', async (txStatus, verdict) => {
    server.verdicts.set(txid, { txStatus })
    expect(await submit()).toMatchObject({ verdict, txStatus })
    expect(await processor().status(transaction.txid)).toMatchObject({ verdict, txStatus })
  })

  it('a refusal because of an orphan decides nothing', async () => {
    server.verdicts.set(txid, { txStatus: 'REJECTED', extraInfo: 'transaction is an orphan' })
    expect(await submit()).toMatchObject({ verdict: 'undecided' })
  })

  it('does not know a transaction that it was not given', async () => {
    server.verdicts.clear()
    expect(await processor().status(transaction.txid)).toBeUndefined()
  })

  it.each(['failing', 'swapping', 'babbling', 'cutting'] as const)('%s is no answer', async behaviour => {
    server.behaviour = behaviour
    server.verdicts.set(txid, { txStatus: 'REJECTED' })
    const failing = processor()
    await expect(failing.submit(transaction, sourceOf)).rejects.toMatchObject({
      code: 'ERR_BROADCAST_UNAVAILABLE'
    })
    await expect(failing.status(transaction.txid)).rejects.toMatchObject({
      code: 'ERR_BROADCAST_UNAVAILABLE'
    })
    expect(failing.health).toMatchObject({ state: 'failing', lastError: expect.stringContaining(kind) })
    server.behaviour = 'right'
    await failing.submit(transaction, sourceOf)
    expect(failing.health.state).toBe('working')
  })

  it('a wrong token is no answer, and is not in the error', async () => {
    const error = await submit('another-secret').catch(caught => caught)
    expect(error).toMatchObject({ code: 'ERR_BROADCAST_UNAVAILABLE' })
    expect(error.message).toContain('401')
    expect(error.message).not.toContain('another-secret')
  })

  it('states its policy', async () => {
    expect(await processor().policy()).toMatchObject({ policy: { miningFee: { satoshis: 1, bytes: 1000 } } })
  })
})
