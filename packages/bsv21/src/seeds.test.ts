/** What docs/seeds.md says of the store: keys, scores and spends, as the seeds have them and where they are otherwise. */
import { Beef, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, makeOutpoint, type TokenId, type Topic } from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import { heightScore, Indexer, outputs, progressFields } from '@quoin/txo'
import { beforeEach, describe, expect, it } from 'vitest'
import { TokenNode } from './node.testing.ts'
import * as t from './tokens.testing.ts'
import { DISCOVERY, topicOf } from './topic-names.ts'

const [alice, bob] = [t.person(1), t.person(2)]
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts))
/** Outputs that deploy other tokens. */
const OTHERS = [1, 2, 255, 256]
const EVERYTHING = { start: new Uint8Array(), end: new Uint8Array(64).fill(0xff), reverse: false }

/** Scores from here on are unix seconds, below them heights. */
const UNMINED = 500_000_000

describe('docs/seeds.md', () => {
  let chain: DevChain
  let store: Store
  let node: TokenNode
  let id: TokenId
  let deployed: Transaction
  let moved: Transaction

  beforeEach(async () => {
    chain = new DevChain()
    store = await openStore('memory:')
    node = new TokenNode(store, { chain, activation: 'all' })
    const others = Array.from({ length: 258 }, (_, vout) =>
      OTHERS.includes(vout) ? t.deployAuth(bob) : { satoshis: 1, script: t.paidTo(alice) }
    )
    deployed = t.transaction([fund()], [...others, t.deployMint(alice, 10n, { sym: 'GOLD' })])
    id = t.tokenIdOf(deployed, 258)
    moved = t.transaction([t.at(deployed, 258, alice), fund()], [t.transfer(id, 10n, t.paidTo(bob))])
    await chain.submit(deployed)
    chain.mine()
    await chain.submit(moved)
    await ingest(deployed, moved)
    // The indexer flow, beside that of the topics.
    for (const { txid } of [deployed, moved]) await new Indexer(node.outputs, chain).index(chain.beef(txid))
    return async () => {
      await node.close()
      await store.close()
    }
  })

  const fund = (): t.Spent => t.at(chain.fund(alice.address, 1000), 0, alice)
  const ingest = async (...made: Transaction[]): Promise<void> => {
    for (const { txid } of made) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
    await node.pipeline.settle()
  }
  const hashOf = async (key: Uint8Array): Promise<Map<string, Uint8Array>> =>
    new Map(
      (await store.hgetall(key)).map(({ field, value }) => [Buffer.from(field).toString('latin1'), value])
    )
  const position = (made: Transaction) => {
    const bump = Beef.parse(chain.beef(made.txid)).find(made.txid)!.bump!
    return { height: bump.height, index: BigInt(bump.offsetOf(made.txid)!) }
  }

  it('000, 001: an output is a hash under its outpoint, with big-endian vout and its satoshis', async () => {
    const key = joined(bytes('h:'), deployed.txid, Uint8Array.of(0, 0, 1, 2))
    const fields = await hashOf(key)
    expect([...fields.keys()].sort()).toEqual(
      ['dt:bsv21', 'dt:insc', 'ev', `in:${DISCOVERY}`, `in:${topicOf(id)}`, 'sa'].sort()
    )
    expect(await node.outputs.satoshis([makeOutpoint(deployed.txid, 258)])).toEqual([1n])
    expect((await node.outputs.record(deployed.txid))!.position).toEqual(position(deployed))
    expect((await node.outputs.record(moved.txid))!.position).toBeUndefined()
  })

  it('000: all rows of a transaction have one score, of either flow, and move together', async () => {
    const scores = async (
      made: Transaction,
      vout: number,
      holder: string
    ): Promise<Set<number | undefined>> => {
      const outpoint = makeOutpoint(made.txid, vout)
      const keys = [`z:tp:${topicOf(id)}`, `z:id:${id}`, `z:p2pkh:${holder}:${id}`, `z:own:${holder}`]
      const found = await Promise.all(keys.map(key => store.zscore(bytes(key), outpoint)))
      return new Set([...found, await store.zscore(bytes(`z:tp:${topicOf(id)}:tx`), made.txid)])
    }
    expect(await scores(deployed, 258, alice.address)).toEqual(new Set([heightScore(position(deployed))]))
    const [seen, ...others] = await scores(moved, 0, bob.address)
    expect(others).toEqual([])
    expect(Math.abs(seen! - Date.now() / 1000)).toBeLessThan(600)
    expect(seen! * 1000).toBeCloseTo(Math.round(seen! * 1000), 3)
    chain.mine()
    await ingest(moved)
    expect(await scores(moved, 0, bob.address)).toEqual(new Set([heightScore(position(moved))]))
  })

  it('000: the spent twin of an event has the spent output', async () => {
    const outpoint = makeOutpoint(deployed.txid, 258)
    expect(await store.zscore(bytes(`z:id:${id}:spnd`), outpoint)).toBeDefined()
    expect(await store.zscore(bytes(`z:id:${id}:spnd`), makeOutpoint(moved.txid, 0))).toBeUndefined()
  })

  it('000: h:spnd has spenders, records, totals and accounts', async () => {
    const fields = [...(await hashOf(bytes('h:spnd'))).keys()]
    const token = Buffer.from(makeOutpoint(deployed.txid, 258)).toString('latin1')
    const txid = Buffer.from(deployed.txid).toString('latin1')
    expect(fields).toContain(token)
    expect(fields).toContain(txid)
    expect(fields).toContain(`${token}:totals`)
    expect(fields).toContain(token + Buffer.from(bob.hash).toString('latin1'))
    expect(new Set(fields.map(({ length }) => length))).toEqual(new Set([32, 36, 43, 56]))
  })

  it('000: sorted sets and queues have their prefixes, and scores tell the mined outputs of a topic', async () => {
    const keys = (await store.zkeys(EVERYTHING)).map(key => Buffer.from(key).toString('latin1'))
    expect(keys.length).toBeGreaterThan(10)
    expect(keys.filter(key => !/^[zql]:/.test(key))).toEqual([])
    expect(keys.filter(key => key.startsWith('z:merkle:'))).toEqual([])
    const ofTopic = bytes(`z:tp:${topicOf(id)}`)
    expect(await store.zscore(ofTopic, makeOutpoint(moved.txid, 0))).toBeGreaterThan(UNMINED)
    expect(await store.zscore(ofTopic, makeOutpoint(deployed.txid, 258))).toBeLessThan(UNMINED)
  })

  it('000: peers are fields of h:prog, and h:pi of a topic would be an output', () => {
    const text = (key: Uint8Array): string => Buffer.from(key).toString()
    expect(text(progressFields.collections.peer.encode('tm_x' as Topic, 'https://a.example'))).toBe(
      'peer:tm_x:https://a.example'
    )
    expect(outputs.collections.output.owns(bytes(`h:pi:${'x'.repeat(33)}`))).toBe(true)
  })

  it('001: the overlay flow records spends, and refuses a second spender', async () => {
    const engineAlone = new TokenNode(store, { chain, activation: 'all' })
    const outpoint = makeOutpoint(moved.txid, 0)
    const first = t.transaction([t.at(moved, 0, bob), fund()], [t.transfer(id, 10n, t.paidTo(alice))])
    await chain.submit(first)
    await engineAlone.engine.submit({ beef: chain.beef(first.txid), topics: [topicOf(id)] })
    expect(await node.outputs.spends([outpoint])).toEqual([first.txid])
    const second = t.transaction([t.at(moved, 0, bob), fund()], [t.burn(id, 10n)])
    await chain.submit(second, { replace: true })
    await expect(
      engineAlone.engine.submit({ beef: chain.beef(second.txid), topics: [topicOf(id)] })
    ).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    await engineAlone.close()
  })

  it('001: a scan finds the outputs of a transaction in order', async () => {
    const rows = await store.hrange(joined(bytes('h:'), deployed.txid))
    const vouts = [...new Set(rows.map(({ key }) => outputs.collections.output.decode(key)[1]))]
    expect(vouts).toEqual(Array.from({ length: 259 }, (_, vout) => vout))
  })

  it('003: the lists have token ids as text, and the blacklist goes first', async () => {
    await node.activation.add('whitelist', id)
    expect(
      (await store.smembers(bytes('s:bsv21:whitelist'))).map(each => Buffer.from(each).toString())
    ).toEqual([formatOutpoint(makeOutpoint(deployed.txid, 258), '_')])
    await node.activation.add('blacklist', id)
    expect(await node.activation.status(id)).toMatchObject({ isActive: false, reason: 'blacklisted' })
  })
})
