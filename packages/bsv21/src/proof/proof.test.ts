/** Token proofs: what a packet proves, what it does not, and that no packet proves what is not so. */
import { Beef, type BeefTransaction, type Transaction, writeBeef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import {
  bytesKey,
  equalBytes,
  formatOutpoint,
  makeOutpoint,
  type Outpoint,
  parseOutpoint,
  type TokenId,
  type Txid
} from '@quoin/primitives'
import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Random } from '../../../txo/src/simulation/random.testing.ts'
import { TokenNode } from '../node.testing.ts'
import { TokenWorld } from '../simulation/world.testing.ts'
import { inOrder, specifiedState } from '../specification.testing.ts'
import * as t from '../tokens.testing.ts'
import { tokenProof, tokenProofBeef } from './assemble.ts'
import { readTokenPacket, writeOutpointPacket } from './packet.ts'
import { type TokenProof, verifyTokenProof } from './verify.ts'

const [alice, bob] = [t.person(1), t.person(2)]

describe('a proof of a token', () => {
  let chain: DevChain
  let store: Store
  let node: TokenNode
  let id: TokenId
  /** A deployment of 10, its split, and what merges it. */
  let deployed: Transaction
  let split: Transaction
  let merged: Transaction

  beforeEach(async () => {
    chain = new DevChain()
    store = await openStore('memory:')
    node = new TokenNode(store, { chain, activation: 'all' })
    deployed = t.transaction([fund()], [t.deployMint(alice, 10n, { sym: 'GOLD' })])
    id = t.tokenIdOf(deployed)
    split = t.transaction(
      [t.at(deployed, 0, alice), fund()],
      [t.transfer(id, 4n, t.paidTo(alice)), t.binary(id, 6n, t.paidTo(bob))]
    )
    merged = t.transaction(
      [t.at(split, 0, alice), t.at(split, 1, bob), fund()],
      [t.binary(id, 10n, t.paidTo(bob))]
    )
    for (const each of [deployed, split, merged]) await chain.submit(each)
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
  const tip = (): Outpoint => makeOutpoint(merged.txid, 0)
  const proofOf = (outpoint: Outpoint): Promise<Uint8Array> => tokenProof(node.outputs, id, outpoint)
  const verify = (bytes: Uint8Array, ...subjects: Outpoint[]): Promise<TokenProof> =>
    verifyTokenProof(bytes, { tracker: chain, ...(subjects.length > 0 && { subjects }) })
  /** The packet without some transactions. */
  const without = (bytes: Uint8Array, ...gone: Transaction[]): Uint8Array => {
    const { beef } = readTokenPacket(bytes)
    const kept = beef.transactions.filter(({ txid }) => !gone.some(each => equalBytes(each.txid, txid)))
    return writeOutpointPacket(tip(), writeBeef({ version: 1, transactions: kept }))
  }

  it('has the history back to the deployment, and nothing else once it is mined', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    const bytes = await proofOf(tip())
    const { scope, beef } = readTokenPacket(bytes)
    expect(scope).toEqual({ kind: 'outpoint', outpoint: tip() })
    expect(beef.transactions.map(({ txid }) => bytesKey(txid)).sort()).toEqual(
      [deployed, split, merged].map(({ txid }) => bytesKey(txid)).sort()
    )
    expect(await verify(bytes)).toEqual({
      proved: [{ outpoint: tip(), id, op: 'value', encoding: 'binary', amount: 10n }],
      unproved: []
    })
  })

  it('has the ancestry of unmined transactions too, whose scripts are verified', async () => {
    await ingest(deployed, split, merged)
    const bytes = await proofOf(tip())
    expect((await verify(bytes)).proved).toHaveLength(1)
    const funding = readTokenPacket(bytes).beef.transactions.find(
      ({ txid }) => ![deployed, split, merged].some(each => equalBytes(each.txid, txid))
    )!
    await expect(verify(without(bytes, funding.transaction!))).rejects.toMatchObject({
      code: 'ERR_TX_UNKNOWN'
    })
  })

  it('is not one without a branch of the history, nor without the deployment', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    const bytes = await proofOf(tip())
    for (const gone of [deployed, split]) {
      const { proved, unproved } = await verify(without(bytes, gone))
      expect(proved).toEqual([])
      expect(unproved[0]!.reason).toContain('exceed its valid inputs')
    }
  })

  it('stands with transactions that have nothing to do with it', async () => {
    const other = chain.fund(bob.address, 5)
    chain.mine()
    await ingest(deployed, split, merged)
    const { beef } = readTokenPacket(await proofOf(tip()))
    const more = Beef.parse(chain.beef(other.txid)).transactions
    const stranger: BeefTransaction = {
      txid: t.unsigned([{ txid: other.txid, vout: 9 }], []).txid,
      transaction: t.unsigned([{ txid: other.txid, vout: 9 }], []),
      bump: undefined
    }
    const transactions = [...beef.transactions, ...more, stranger]
    const bytes = writeOutpointPacket(tip(), writeBeef({ version: 2, transactions }))
    expect((await verify(bytes)).proved).toHaveLength(1)
  })

  it('is about what its envelope names', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    const beef = await tokenProofBeef(node.outputs, id, [tip()])
    const inSplit = [makeOutpoint(split.txid, 0), makeOutpoint(split.txid, 1)]
    await expect(verify(beef)).rejects.toMatchObject({ code: 'ERR_REQUEST' })
    expect((await verify(beef, tip(), ...inSplit)).proved).toHaveLength(3)
    const atomic = Uint8Array.from([1, 1, 1, 1, ...split.txid, ...beef])
    expect((await verify(atomic)).proved.map(({ amount }) => amount)).toEqual([4n, 6n])
    expect(await verify(atomic, tip())).toEqual({
      proved: [],
      unproved: [{ outpoint: tip(), reason: 'The packet is not about it.' }]
    })
    const missing = Uint8Array.from([1, 1, 1, 1, ...new Uint8Array(32), ...beef])
    await expect(verify(missing)).rejects.toMatchObject({ code: 'ERR_BEEF_FORMAT' })
    expect((await verify(beef, makeOutpoint(merged.txid, 1))).unproved[0]!.reason).toBe(
      'It is not a token output.'
    )
    const unknown = makeOutpoint(new Uint8Array(32) as Txid, 0)
    expect((await verify(beef, unknown)).unproved[0]!.reason).toBe('The packet lacks its transaction.')
  })

  it('is none of a block that the headers have not', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    const bytes = await proofOf(tip())
    const other = new DevChain()
    other.mine(chain.height)
    await expect(verifyTokenProof(bytes, { tracker: other })).rejects.toMatchObject({
      code: 'ERR_PROOF_INVALID'
    })
  })

  it('is made of valid outputs alone', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    await expect(proofOf(makeOutpoint(merged.txid, 7))).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    await expect(tokenProof(node.outputs, t.tokenIdOf(split), tip())).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND'
    })
  })

  it('has transactions and no txids for them', async () => {
    chain.mine()
    await ingest(deployed, split, merged)
    const { beef } = readTokenPacket(await proofOf(tip()))
    const transactions = beef.transactions.map(each =>
      equalBytes(each.txid, deployed.txid) ? { ...each, transaction: undefined, bump: undefined } : each
    )
    const bytes = writeOutpointPacket(tip(), writeBeef({ version: 2, transactions }))
    expect((await verify(bytes)).unproved).toHaveLength(1)
  })

  it.each([
    ['nothing', ''],
    ['half an envelope', '16a7beef00'],
    ['an envelope alone', `16a7beef${'00'.repeat(36)}`],
    ['an envelope in an envelope', `16a7beef${'00'.repeat(36)}01010101${'00'.repeat(32)}0100beef0000`],
    ['no transactions', '0100beef0000'],
    ['another format', 'ffffffff']
  ])('is not %s', async (_, hex) => {
    const bytes = Uint8Array.from(Buffer.from(hex, 'hex'))
    await expect(verify(bytes, tip())).rejects.toMatchObject({ code: 'ERR_BEEF_FORMAT' })
  })
})

describe('proofs of random histories', () => {
  const worlds: { readonly world: TokenWorld; readonly node: TokenNode; readonly store: Store }[] = []
  /** Valid outputs of the specification. */
  const truth: ReadonlySet<string>[] = []
  const packets: { readonly world: number; readonly bytes: Uint8Array }[] = []

  beforeAll(async () => {
    for (let seed = 1; seed <= 4; seed++) {
      const world = new TokenWorld(new Random(seed))
      const store = await openStore('memory:')
      const node = new TokenNode(store, { chain: world.chain, activation: 'all' })
      for (let i = 0; i < 40; i++) {
        await world.act()
        if (i % 8 === 7) world.chain.mine()
      }
      world.chain.mine()
      for (const { txid } of inOrder(world.history))
        await node.pipeline.ingest.ingestBeef(world.chain.beef(txid))
      await node.pipeline.settle()
      await node.engine.settle()
      const state = specifiedState(inOrder(world.history))
      truth.push(new Set(Object.values(state).flatMap(({ outputs }) => outputs)))
      for (const [token, { outputs }] of Object.entries(state)) {
        for (const outpoint of outputs) {
          const bytes = await tokenProof(node.outputs, token as TokenId, parseOutpoint(outpoint))
          packets.push({ world: worlds.length, bytes })
        }
      }
      worlds.push({ world, node, store })
    }
  }, 60_000)
  afterAll(async () => {
    for (const { node, store } of worlds) {
      await node.close()
      await store.close()
    }
  })

  it('verify, every one', async () => {
    expect(packets.length).toBeGreaterThan(100)
    for (const { world, bytes } of packets) {
      const { proved, unproved } = await verifyTokenProof(bytes, { tracker: worlds[world]!.world.chain })
      expect(unproved).toEqual([])
      expect(proved).toHaveLength(1)
    }
  })

  /** What verifies is so, in whatever way a packet was made. */
  const isTrue = async (world: number, bytes: Uint8Array, subjects?: readonly Outpoint[]): Promise<void> => {
    let proof: TokenProof
    try {
      proof = await verifyTokenProof(bytes, { tracker: worlds[world]!.world.chain, subjects })
    } catch (error) {
      expect((error as { code?: string }).code).toMatch(/^ERR_(BEEF|TX|PROOF|BUMP|REQUEST)/)
      return
    }
    for (const { outpoint } of proof.proved) expect(truth[world]).toContain(formatOutpoint(outpoint, '_'))
  }

  it('prove nothing that is not so: without transactions, or about other outputs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(),
        fc.nat(3),
        fc.infiniteStream(fc.boolean()),
        async (i, j, vout, keep) => {
          const { world, bytes } = packets[i % packets.length]!
          const { beef } = readTokenPacket(bytes)
          const kept = beef.transactions.filter(() => keep.next().value)
          if (kept.length === 0) return
          const { txid } = kept[j % kept.length]!
          const packet = writeOutpointPacket(
            makeOutpoint(txid, vout),
            writeBeef({ version: 1, transactions: kept })
          )
          await isTrue(world, packet)
        }
      ),
      { numRuns: 300 }
    )
  })

  it('prove nothing that is not so: damaged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        async (i, changes) => {
          const { world, bytes } = packets[i % packets.length]!
          const damaged = Uint8Array.from(bytes)
          for (const [at, byte] of changes) damaged[at % damaged.length] = byte
          await isTrue(world, damaged)
        }
      ),
      { numRuns: 500 }
    )
  })

  it('prove nothing that is not so: of the history of another world', async () => {
    for (const { world, bytes } of packets.slice(0, 50)) {
      const others = worlds[(world + 1) % worlds.length]!.world.chain
      await expect(verifyTokenProof(bytes, { tracker: others })).rejects.toMatchObject({
        code: 'ERR_PROOF_INVALID'
      })
    }
  })
})

describe('a hostile packet', () => {
  it('costs what its bytes cost: many tokens in one transaction, spent by another', async () => {
    const chain = new DevChain()
    const outputs = Array.from({ length: 2_000 }, () => t.deployMint(alice, 1n))
    const deployed = t.unsigned([{ txid: chain.fund(alice.address, 100_000).txid, vout: 0 }], outputs)
    const moved = t.unsigned(
      outputs.map((_, vout) => ({ txid: deployed.txid, vout })),
      outputs.map((_, vout) => t.transfer(t.tokenIdOf(deployed, vout), 1n, t.paidTo(bob)))
    )
    await chain.submit(deployed)
    await chain.submit(moved)
    chain.mine()
    const transactions = [deployed, moved].map(({ txid }) => Beef.parse(chain.beef(txid)).find(txid)!)
    const bytes = Uint8Array.from([1, 1, 1, 1, ...moved.txid, ...writeBeef({ version: 1, transactions })])
    expect((await verifyTokenProof(bytes, { tracker: chain })).proved).toHaveLength(2_000)
  })

  it('proves nothing beyond the limits', async () => {
    const chain = new DevChain()
    const outputs = Array.from({ length: 10_001 }, () =>
      t.binary(`${'ab'.repeat(32)}_0`, 1n, new Uint8Array())
    )
    const made = t.unsigned([{ txid: chain.fund(alice.address, 100_000).txid, vout: 0 }], outputs)
    await chain.submit(made)
    chain.mine()
    const beef = writeBeef({ version: 1, transactions: [Beef.parse(chain.beef(made.txid)).find(made.txid)!] })
    const bytes = Uint8Array.from([1, 1, 1, 1, ...made.txid, ...beef])
    await expect(verifyTokenProof(bytes, { tracker: chain })).rejects.toMatchObject({
      code: 'ERR_BEEF_LIMIT'
    })
    const inputs = Array.from({ length: 10_001 }, (_, vout) => ({ txid: made.txid, vout }))
    const unmined = t.unsigned(inputs, [t.deployMint(alice, 1n)])
    const transactions = [
      ...Beef.parse(beef).transactions,
      { txid: unmined.txid, transaction: unmined, bump: undefined }
    ]
    const many = writeOutpointPacket(makeOutpoint(unmined.txid, 0), writeBeef({ version: 1, transactions }))
    await expect(verifyTokenProof(many, { tracker: chain })).rejects.toMatchObject({ code: 'ERR_BEEF_LIMIT' })
  })
})
