import { DevChain } from '@quoin/dev-chain'
import { Engine, installPlugins } from '@quoin/overlay'
import { formatOutpoint, formatTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { EventRegistry, OutputStore, outputEvents } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { payTo, spend, withKey } from '../../chain/src/verify/test-chain.testing.ts'
import type { Protocol } from './advertisement.ts'
import { Host } from './host.testing.ts'
import { discoveryEvents } from './keys.ts'
import { discovery } from './plugin.ts'

let chain: DevChain
let engine: Engine
const [one, two] = [new Host('one'), new Host('two')]

beforeEach(async () => {
  chain = new DevChain({ seed: 'discovery' })
  const outputs = new OutputStore(await openStore('memory:'), {
    events: new EventRegistry(outputEvents, discoveryEvents)
  })
  engine = new Engine({ outputs, tracker: chain, ...(await installPlugins([discovery], { outputs })) })
})
afterEach(() => engine.close())

const topicOf = { SHIP: 'tm_ship', SLAP: 'tm_slap' } as const

const advertise = async (host: Host, protocol: Protocol, name: string) => {
  const transaction = chain.fund(await host.token(protocol, name), 1)
  const steak = await engine.submit({ beef: chain.beef(transaction.txid), topics: [topicOf[protocol]] })
  expect(steak[topicOf[protocol]]).toMatchObject({ outputsToAdmit: [0] })
  chain.mine()
  return transaction
}

const lookUp = async (service: 'ls_ship' | 'ls_slap', query: unknown): Promise<string[]> =>
  (await engine.lookup(service, query)).map(({ outpoint }) => formatOutpoint(outpoint).split(/[._]/)[0]!)

const txids = (...transactions: readonly { readonly txid: Uint8Array }[]): string[] =>
  transactions.map(({ txid }) => formatTxid(txid as never))

describe('ls_ship', () => {
  it('finds live advertisements by topic, host and domain, newest first', async () => {
    const first = await advertise(one, 'SHIP', 'tm_a')
    const second = await advertise(two, 'SHIP', 'tm_b')
    const third = await advertise(two, 'SHIP', 'tm_a')
    await advertise(two, 'SLAP', 'ls_a')
    const all = txids(third, second, first)
    expect(await lookUp('ls_ship', 'findAll')).toEqual(all)
    expect(await lookUp('ls_ship', { findAll: true, sortOrder: 'asc' })).toEqual(all.toReversed())
    expect(await lookUp('ls_ship', { findAll: true, skip: 1, limit: 1 })).toEqual(txids(second))
    expect(await lookUp('ls_ship', { topics: ['tm_a'] })).toEqual(txids(third, first))
    expect(await lookUp('ls_ship', { topics: ['tm_b', 'tm_a', 'tm_0'] })).toEqual(all)
    expect(await lookUp('ls_ship', { topics: ['tm_c'] })).toEqual([])
    expect(await lookUp('ls_ship', { topics: [] })).toEqual([])
    expect(await lookUp('ls_ship', { identityKey: two.identityKey })).toEqual(txids(third, second))
    expect(await lookUp('ls_ship', { domain: one.domain })).toEqual(txids(first))
    expect(await lookUp('ls_ship', { domain: two.domain, topics: ['tm_a'], limit: 5 })).toEqual(txids(third))
    expect(await lookUp('ls_ship', { domain: one.domain, identityKey: two.identityKey })).toEqual([])
  })

  it('has of several advertisements of one host, URI and topic the newest, until it is spent', async () => {
    const older = await advertise(one, 'SHIP', 'tm_a')
    const newer = await advertise(one, 'SHIP', 'tm_a')
    expect(await lookUp('ls_ship', { topics: ['tm_a'] })).toEqual(txids(newer))
    for (const [from, left] of [
      [newer, [older]],
      [older, []]
    ] as const) {
      const revoked = spend({
        inputs: [{ from, vout: 0, unlock: withKey(one.keyFor('SHIP')) }],
        outputs: [{ satoshis: 1, script: payTo(one.keyFor('SHIP')) }]
      })
      await chain.submit(revoked)
      await engine.submit({ beef: chain.beef(revoked.txid), topics: ['tm_ship'] })
      expect(await lookUp('ls_ship', { topics: ['tm_a'] })).toEqual(txids(...left))
    }
  })

  it.each([
    [undefined, 'expected "findAll" or an object'],
    ['all', 'expected "findAll" or an object'],
    [[], 'expected "findAll" or an object'],
    [{}, 'expected findAll, domain, identityKey or topics'],
    [{ topics: 'tm_a' }, 'expected a list'],
    [{ topics: Array(101).fill('tm_a') }, 'at most 100'],
    [{ domain: 7 }, 'invalid domain'],
    [{ identityKey: 'abc' }, 'invalid identityKey'],
    [{ findAll: true, limit: -1 }, 'invalid limit'],
    [{ findAll: true, skip: 0.5 }, 'invalid skip'],
    [{ findAll: true, sortOrder: 'up' }, 'invalid sortOrder']
  ])('refuses the query %j', async (query, message) => {
    await expect(engine.lookup('ls_ship', query)).rejects.toMatchObject({
      code: 'ERR_REQUEST',
      message: expect.stringContaining(message)
    })
  })
})

describe('ls_slap', () => {
  it('finds the hosts of a lookup service, with a proof for each', async () => {
    const found = await advertise(one, 'SLAP', 'ls_a')
    await advertise(one, 'SLAP', 'ls_b')
    const [answer] = await engine.lookup('ls_slap', { service: 'ls_a' })
    expect(answer!.transactions[0]!.txid).toEqual(found.txid)
    expect(await lookUp('ls_slap', { service: 'ls_nowhere' })).toEqual([])
    await expect(engine.lookup('ls_slap', { service: ['ls_a'] })).rejects.toMatchObject({
      code: 'ERR_REQUEST'
    })
  })
})

it('advertisements of the other protocol are refused with the reason', async () => {
  const transaction = chain.fund(await one.token('SLAP', 'ls_a'), 1)
  const beef = chain.beef(transaction.txid)
  expect(await engine.submit({ beef, topics: ['tm_ship'] })).toMatchObject({
    tm_ship: { outputsToAdmit: [] }
  })
})
