/** `quoin verify` and `quoin repair` on a store that an overlay wrote, and that was then changed by hand. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chain, type Transaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { type Admission, Engine, overlay, type QuoinTopic } from '@quoin/overlay'
import { formatOutpoint, formatTxid, makeOutpoint, type Topic, type Txid } from '@quoin/primitives'
import { claimLayouts, openStore, type Store, storeLayouts } from '@quoin/store'
import { outputs as keys, type OutputStore, OutputStore as Outputs, type TransactionRecord } from '@quoin/txo'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../../../chain/src/verify/test-chain.testing.ts'
import { openVolume } from '../../../../store/src/ordered/copy.ts'
import { TAG } from '../../../../store/src/ordered/layout.ts'
import { transactionRecord } from '../../../../txo/src/record.ts'
import { nodeStore } from '../../keyspaces.ts'
import { repair } from './repair.ts'
import { verify } from './verify.ts'

const TOPIC = 'tm_ones' as Topic
const key = makeKey('verify')
const ones: QuoinTopic = {
  getDocumentation: async () => '# ones',
  getMetaData: async () => ({ name: 'ones', shortDescription: 'ones' }),
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...transaction.outputs.keys()].filter(vout => transaction.outputs[vout]!.satoshis === 1),
    retain: previousCoins.map(({ input }) => input)
  })
}
const pay = (from: Transaction, vout: number, satoshis: readonly number[]): Transaction =>
  spend({
    inputs: [{ from, vout, unlock: withKeyHash(key) }],
    outputs: satoshis.map(each => ({ satoshis: each, script: payTo(key) }))
  })

let folder: string
let made: string
let url: string
let copies = 0
/** Mined; spends an output of `mined`, which is in the topic; is not mined and spends an output of `coin`. */
let mined: Transaction
let coin: Transaction
let late: Transaction
let dev: DevChain

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-verify-test-'))
  made = join(folder, 'made')
  const store = await openStore(`lmdb:${made}`)
  await claimLayouts(store, nodeStore().members)
  dev = new DevChain({ seed: 'verify' })
  const outputs = new Outputs(store)
  const engine = new Engine({ outputs, tracker: dev, topics: { [TOPIC]: ones }, proofs: dev, index: true })
  mined = pay(dev.fund(payTo(key), 1000), 0, [1, 900])
  await dev.submit(mined)
  dev.mine()
  coin = pay(mined, 0, [1])
  await dev.submit(coin)
  dev.mine()
  late = pay(coin, 0, [1])
  await dev.submit(late)
  for (const each of [mined, coin, late]) await engine.submit({ beef: dev.beef(each.txid), topics: [TOPIC] })
  // So many that the hash of records and spends has a row for each field.
  for (let i = 0; i < 15; i++) {
    const other = pay(dev.fund(payTo(key), 1000), 0, [1, 800 + i])
    await dev.submit(other)
    await engine.submit({ beef: dev.beef(other.txid), topics: [TOPIC] })
  }
  await engine.close()
  const batch = store.batch()
  for (let height = 0; height <= dev.height; height++) {
    const header = dev.header(height)!
    batch.use(chain.collections.header).at(header.header.hash).set(header)
    batch.use(chain.collections.active).at(height).set(header.header.hash)
  }
  await batch.commit()
  await store.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

beforeEach(async () => {
  const path = join(folder, `copy-${copies++}`)
  await cp(made, path, { recursive: true })
  url = `lmdb:${path}`
})

interface Answer {
  readonly code: number
  readonly json: {
    readonly valid?: boolean
    readonly findings?: readonly { kind: string; subject: string; advice?: string }[]
    readonly mended?: Readonly<Record<string, number>>
    readonly wouldMend?: Readonly<Record<string, number>>
    readonly left?: readonly { kind: string; subject: string; advice?: string }[]
  }
}
const asked = async (run: () => Promise<number>): Promise<Answer> => {
  let text = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
    text += String(chunk)
    return true
  })
  try {
    const code = await run()
    return { code, json: JSON.parse(text) }
  } finally {
    write.mockRestore()
  }
}
const OPTIONS = { limit: '1000', json: true } as const
const verified = () => asked(() => verify(url, OPTIONS))
const repaired = (options: { dryRun?: boolean } = {}) => asked(() => repair(url, { ...OPTIONS, ...options }))
const kindsOf = ({ json }: Answer): string[] => [...new Set(json.findings!.map(({ kind }) => kind))].sort()

const changed = async (change: (store: Store) => Promise<unknown>): Promise<void> => {
  const store = await openStore(url)
  try {
    await change(store)
  } finally {
    await store.close()
  }
}
const SPENDS = keys.collections.spends.encode()
const recordOf = async (store: Store, txid: Txid): Promise<TransactionRecord> =>
  transactionRecord.codec.decode((await store.hget(SPENDS, txid))!)
const setRecord = (store: Store, txid: Txid, record: TransactionRecord) =>
  store.hset(SPENDS, txid, transactionRecord.codec.encode(record))
const admissionsKey = (txid: Txid) => overlay.collections.judgements.encode(txid)
const setAdmission = async (store: Store, txid: Txid, admission: Admission): Promise<void> => {
  const batch = store.batch()
  batch
    .use(overlay.collections.judgements)
    .at(txid)
    .set({ [TOPIC]: admission })
  await batch.commit()
}
const stateOf = async (): Promise<unknown> => {
  const store = await openStore(url)
  try {
    const outputs: OutputStore = new Outputs(store)
    const outpoints = [mined, coin, late].flatMap(({ txid, outputs: all }) =>
      [...all.keys()].map(vout => makeOutpoint(txid, vout))
    )
    return await outputs.loadOutputs(outpoints, {
      includeSatoshis: true,
      includeSpend: true,
      includeEvents: true,
      includeTopics: true,
      includeTags: 'all'
    })
  } finally {
    await store.close()
  }
}

it('finds nothing in a store that an overlay wrote, and leaves nothing behind', async () => {
  // Of its own: other tests use that of the system at the same time.
  const temp = await mkdtemp(join(folder, 'temp-'))
  const { code, json } = await asked(() => verify(url, { ...OPTIONS, temp }))
  expect(json.findings).toEqual([])
  expect(code).toBe(0)
  const { json: mended } = await asked(() => repair(url, { ...OPTIONS, temp }))
  expect(mended).toMatchObject({ mended: {}, left: [] })
  expect(await readdir(temp)).toEqual([])
})

const txidKey = (txid: Txid) => chain.collections.transaction.encode(txid)
const proofKey = (txid: Txid) => chain.collections.proof.encode(txid)
const output = (transaction: Transaction, vout: number) =>
  keys.collections.output.encode(transaction.txid, vout)

/** By the kind to be found: what is changed, and whether the store is as before when it is mended. */
const MENDABLE: Readonly<Record<string, readonly [(store: Store) => Promise<unknown>, asBefore: boolean][]>> =
  {
    'proof-damaged': [[store => store.set(proofKey(mined.txid), Buffer.from('no BUMP')), false]],
    'proof-foreign': [
      [async store => store.set(proofKey(coin.txid), (await store.get(proofKey(mined.txid)))!), false],
      [
        async store =>
          store.set(proofKey(new Uint8Array(32).fill(7) as Txid), (await store.get(proofKey(mined.txid)))!),
        true
      ]
    ],
    'proof-root': [
      [
        async store => {
          const { hash } = dev.header(dev.heightOf(mined.txid)! - 1)!.header
          const { active } = chain.collections
          await store.batch().use(active).at(dev.heightOf(mined.txid)!).set(hash)
          const batch = store.batch()
          batch.use(active).at(dev.heightOf(mined.txid)!).set(hash)
          await batch.commit()
        },
        false
      ]
    ],
    'spend-unknown-spender': [
      [store => store.hset(SPENDS, makeOutpoint(mined.txid, 1), new Uint8Array(32).fill(9)), true]
    ],
    'spend-no-input': [[store => store.hset(SPENDS, makeOutpoint(mined.txid, 1), late.txid), true]],
    'spend-missing': [
      [store => store.hdel(SPENDS, makeOutpoint(coin.txid, 0)), true],
      [
        async store => {
          await store.hdel(SPENDS, makeOutpoint(coin.txid, 0))
          await setRecord(store, late.txid, { ...(await recordOf(store, late.txid)), spends: [] })
        },
        true
      ]
    ],
    'admission-orphan': [
      [
        store =>
          setAdmission(store, new Uint8Array(32).fill(5) as Txid, {
            outputsToAdmit: [],
            coinsToRetain: [],
            coinsRemoved: [],
            previousCoins: []
          }),
        true
      ],
      [store => store.hdel(SPENDS, mined.txid), true],
      [store => store.hdel(SPENDS, late.txid), true]
    ],
    'admission-topic': [
      [
        async store => setRecord(store, mined.txid, { ...(await recordOf(store, mined.txid)), topics: [] }),
        true
      ]
    ],
    'admission-output': [
      [
        async store => {
          const fields = await store.hgetall(output(mined, 0))
          await store.hdel(output(mined, 0), ...fields.map(({ field }) => field))
        },
        true
      ]
    ],
    'admission-unadmitted': [
      [
        async store => {
          const [field] = (await store.hgetall(output(mined, 0))).filter(({ field }) => field[0] === 0x69)
          await store.hset(output(mined, 1), field!.field, field!.value)
        },
        true
      ]
    ],
    'index-missing': [
      [store => store.zrem(keys.collections.topicOutputs.encode(TOPIC), makeOutpoint(late.txid, 0)), true],
      [store => store.hdel(output(mined, 1), Buffer.from('sa')), true]
    ],
    'index-unexpected': [
      [
        store =>
          store.zadd(keys.collections.topicOutputs.encode(TOPIC), {
            member: makeOutpoint(late.txid, 9),
            score: 4
          }),
        true
      ],
      [
        store =>
          store.hset(
            keys.collections.output.encode(new Uint8Array(32).fill(3) as Txid, 1),
            Buffer.from('ev'),
            Uint8Array.of(6, 0)
          ),
        true
      ]
    ],
    'index-different': [
      [
        async store => {
          const [first] = await store.zrange(Buffer.from('z:balance:satoshis'))
          await store.zcounter(Buffer.from('z:balance:satoshis'), first!.member, 5)
        },
        true
      ],
      [
        store =>
          store.zadd(keys.collections.topicOutputs.encode(TOPIC), {
            member: makeOutpoint(mined.txid, 0),
            score: 4
          }),
        true
      ],
      [store => store.hset(output(mined, 1), Buffer.from('sa'), Uint8Array.of(3, 0)), true]
    ]
  }

describe.each(
  Object.entries(MENDABLE).flatMap(([kind, cases]) => cases.map((each, i) => [kind, i, ...each] as const))
)('%s, %i', (kind, _, change, asBefore) => {
  it('is found, mended, and not found again', async () => {
    const before = await stateOf()
    await changed(change)
    const found = await verified()
    expect(found.code).toBe(1)
    expect(kindsOf(found)).toContain(kind)
    const dry = await repaired({ dryRun: true })
    expect(dry.json.wouldMend).toHaveProperty([kind])
    const { json, code } = await repaired()
    // Without its proof a transaction needs its ancestors, of which some were never stored.
    const mayBeLeft = kind.startsWith('proof-') ? ['beef-incomplete'] : []
    for (const each of json.left!) expect(mayBeLeft).toContain(each.kind)
    expect(code).toBe(json.left!.length > 0 ? 1 : 0)
    expect((await verified()).json.findings).toEqual(json.left)
    if (asBefore) expect(await stateOf()).toEqual(before)
  })
})

describe('a fact that the store does not have twice', () => {
  it.each([
    [
      'transaction-damaged',
      (store: Store) => store.set(txidKey(mined.txid), Uint8Array.of(1, 2, 3)),
      () => formatTxid(mined.txid)
    ],
    ['beef-incomplete', (store: Store) => store.del(txidKey(coin.txid)), () => formatTxid(late.txid)],
    [
      'admission-damaged',
      (store: Store) => store.set(admissionsKey(coin.txid), Buffer.from('[1')),
      () => formatTxid(coin.txid)
    ],
    ['admission-missing', (store: Store) => store.del(admissionsKey(coin.txid)), () => formatTxid(coin.txid)]
  ] as const)('%s is left, with advice', async (kind, change, subject) => {
    await changed(change)
    expect(kindsOf(await verified())).toContain(kind)
    const { json, code } = await repaired()
    expect(code).toBe(1)
    const left = json.left!.find(each => each.subject === subject())
    expect(left?.advice).toMatch(/submit/)
    const again = await verified()
    expect(again.json.findings!.every(({ advice }) => advice !== undefined)).toBe(true)
  })
})

it('an output that an operator evicted stays evicted', async () => {
  await changed(async store => {
    const engine = new Engine({
      outputs: new Outputs(store),
      tracker: dev,
      topics: { [TOPIC]: ones },
      index: true
    })
    await engine.evict(makeOutpoint(late.txid, 0))
    await engine.close()
  })
  expect((await verified()).json.findings).toEqual([])
})

it('rows that a node writes meanwhile are not touched', async () => {
  await changed(async store => {
    await store.zrem(keys.collections.topicOutputs.encode(TOPIC), makeOutpoint(late.txid, 0))
    const rebuilt = await openStore('memory:')
    const { IndexRepair, compareIndexes, rebuildIndex } = await import('@quoin/txo')
    await rebuildIndex(store, rebuilt)
    const differences = []
    for await (const each of compareIndexes(store, rebuilt, { transactions: false })) differences.push(each)
    const record = await recordOf(store, late.txid)
    await setRecord(store, late.txid, { ...record, revision: record.revision + 1, seen: record.seen + 1 })
    const mending = new IndexRepair(store, rebuilt)
    for (const each of differences) await mending.mend(each, 'index-missing')
    await mending.flush()
    expect([mending.mended.size, mending.changed]).toEqual([0, differences.length])
    await rebuilt.close()
  })
})

it('names the outpoint of a spend', async () => {
  await changed(store => store.hdel(SPENDS, makeOutpoint(coin.txid, 0)))
  const { json } = await verified()
  expect(json.findings!.map(({ subject }) => subject)).toContain(formatOutpoint(makeOutpoint(coin.txid, 0)))
})

it('refuses a store whose key layouts are not recorded', async () => {
  const store = await openStore(url)
  await store.del(storeLayouts.collections.layouts.encode())
  await store.close()
  await expect(verify(url, OPTIONS)).rejects.toMatchObject({ code: 'ERR_STORE_UPGRADE' })
  await expect(repair(url, OPTIONS)).rejects.toMatchObject({ code: 'ERR_STORE_UPGRADE' })
})

describe('damaged rows', () => {
  const damage = async (
    which: (key: Uint8Array) => boolean,
    change: (value: Uint8Array) => void
  ): Promise<number> => {
    const volume = await openVolume('lmdb', url.slice('lmdb:'.length), 'write')
    let changed = 0
    for await (const rows of volume.chunks()) {
      for (const { key, value } of rows) {
        if (key[0] === TAG.meta || !which(key)) continue
        const copy = value.slice()
        change(copy)
        await volume.put({ key, value: copy })
        changed++
      }
    }
    await volume.close()
    return changed
  }
  const contains = (key: Uint8Array, part: Uint8Array): boolean =>
    Buffer.from(key).includes(Buffer.from(part))

  it('with one flipped bit each are reported, corrected, and the store is as before', async () => {
    const before = await stateOf()
    let row = 0
    const changed = await damage(
      () => row++ % 40 === 0,
      value => {
        value[0]! ^= 32
      }
    )
    expect(changed).toBeGreaterThan(5)
    const found = await verified()
    expect(found.json.findings!.filter(({ kind }) => kind === 'row-damaged')).toHaveLength(changed)
    expect((await repaired({ dryRun: true })).json.wouldMend).toEqual({ 'row-damaged': changed })
    expect(await repaired()).toMatchObject({
      code: 0,
      json: { mended: { 'row-damaged': changed }, left: [] }
    })
    expect((await verified()).json.findings).toEqual([])
    expect(await stateOf()).toEqual(before)
  })

  it.each([
    ['an output', (key: Uint8Array) => key[0] === TAG.hash && contains(key, late.txid)],
    ['a record', (key: Uint8Array) => key[0] === TAG.field && contains(key, late.txid) && key.length === 39],
    ['a spend', (key: Uint8Array) => key[0] === TAG.field && contains(key, makeOutpoint(coin.txid, 0))]
  ] as const)('with more damage are deleted and derived again: %s', async (_, which) => {
    const before = await stateOf()
    const changed = await damage(which, value => value.fill(0x5a))
    expect(changed).toBeGreaterThan(0)
    expect(kindsOf(await verified())).toContain('row-damaged')
    expect(await repaired()).toMatchObject({
      code: 0,
      json: { mended: { 'row-damaged': changed }, left: [] }
    })
    expect((await verified()).json.findings).toEqual([])
    expect(await stateOf()).toEqual(before)
  })

  it('of sorted sets with more damage are left, with advice, and nothing else is touched', async () => {
    await damage(
      key => key[0] === TAG.member && contains(key, late.txid),
      value => value.fill(0x5a)
    )
    const { code, json } = await repaired()
    expect(code).toBe(1)
    expect(json.mended).toEqual({})
    expect(json.left![0]!.advice).toContain('restore a backup')
  })
})
