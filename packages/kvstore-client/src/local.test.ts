/** The local profile of BRC-35 on a real wallet: @bsv/wallet-toolbox on its MockChain. */
import { LocalKVStore, LockingScript, OP, PushDrop, Utils, type WalletInterface } from '@bsv/sdk'
import { buildScript } from '@quoin/primitives'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { shows } from '../../kvstore/src/shows.testing.ts'
import { LocalKV } from './local.ts'
import { readLocalToken } from './local-token.ts'
import { startChain, type TestChain } from './wallet.testing.ts'

let chain: TestChain
let wallet: WalletInterface

beforeAll(async () => {
  chain = await startChain()
  wallet = await chain.wallet()
})
afterAll(() => chain.close())

let contexts = 0
/** Names that no other test uses. */
const newContext = (): string => `local test ${++contexts}`

const utf8 = (text: string): number[] => Utils.toArray(text, 'utf8')
const scope = (context: string, keyID: string) => ({ protocolID: [2, context] as [2, string], keyID })

/** The locking script of a token with these fields, made by the SDK. */
const tokenOf = (context: string, key: string, fields: number[][], isSigned = true): Promise<LockingScript> =>
  new PushDrop(wallet).lock(fields, [2, context], key, 'self', false, isSigned)
const encrypted = async (context: string, key: string, value: string): Promise<number[]> =>
  (await wallet.encrypt({ ...scope(context, key), plaintext: utf8(value) })).ciphertext

/** Outputs in the basket under the tag, in one transaction, with whatever scripts. */
const place = (context: string, key: string, scripts: readonly LockingScript[]): Promise<unknown> =>
  wallet.createAction({
    description: 'outputs of a test',
    outputs: scripts.map(script => ({
      lockingScript: script.toHex(),
      satoshis: 1,
      basket: context,
      tags: [key],
      outputDescription: 'output of a test'
    })),
    options: { acceptDelayedBroadcast: false, randomizeOutputs: false }
  })
const placeValues = async (context: string, key: string, values: readonly string[]): Promise<void> => {
  const scripts = values.map(async value => tokenOf(context, key, [await encrypted(context, key, value)]))
  await place(context, key, await Promise.all(scripts))
}
const listed = (context: string, key?: string) =>
  wallet.listOutputs({
    basket: context,
    ...(key !== undefined && { tags: [key] }),
    include: 'locking scripts',
    limit: 100
  })
const liveCount = async (context: string, key: string): Promise<number> =>
  (await listed(context, key)).outputs.length
const values = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i + 1}`)

describe('the local store', () => {
  it('§E local encrypted set, get, update, and remove', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    expect(await kv.get('welcome')).toBeUndefined()
    const made = await kv.set('welcome', 'Hello')
    expect(await kv.get('welcome')).toBe('Hello')
    const successor = await kv.set('welcome', 'Hello again')
    expect(successor).not.toBe(made)
    expect((await listed(context, 'welcome')).outputs.map(({ outpoint }) => outpoint)).toEqual([successor])
    shows('E-5', await kv.get('welcome')).toBe('Hello again')
    expect(await kv.remove('welcome')).toHaveLength(1)
    expect(await kv.get('welcome')).toBeUndefined()
    expect(await kv.remove('welcome')).toEqual([])
  })

  it('§E local plaintext profile operation', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context, plaintext: true })
    for (const value of ['one', '🜚 two', '\0', '\x01', '\x0f', 'x'.repeat(300)]) {
      await kv.set('note', value)
      shows('E-6', await kv.get('note')).toBe(value)
    }
    await kv.remove('note')
    expect(await kv.get('note')).toBeUndefined()
  })

  it('§4.2 asks nothing of a wallet but the methods of the table and the two that a PushDrop needs', async () => {
    const context = newContext()
    const asked = new Set<string>()
    const recording = new Proxy(wallet, {
      get(target, name) {
        asked.add(String(name))
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      }
    })
    const kv = new LocalKV({ wallet: recording, context })
    await kv.set('a', '1')
    await kv.set('a', '2')
    await kv.get('a')
    await place(context, 'a', [await tokenOf(context, 'a', [[1], [2], [3], [4]])])
    await kv.recover('a')
    await kv.remove('a')
    shows('4.2-1 D-1', [...asked].sort()).toEqual([
      'createAction',
      'createSignature',
      'decrypt',
      'encrypt',
      'getPublicKey',
      'listOutputs',
      'relinquishOutput',
      'signAction'
    ])
  })

  it('§4.3 the basket is the context and the tag is the key, and reads ask for both', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    const [a, b] = [await kv.set('a', 'of a'), await kv.set('b', 'of b')]
    await new LocalKV({ wallet, context: newContext() }).set('a', 'elsewhere')
    shows(
      '4.3-1 D-2',
      (await listed(context)).outputs.map(({ outpoint }) => outpoint)
    ).toEqual([a, b])
    shows(
      '4.3-2 D-2',
      (await listed(context, 'b')).outputs.map(({ outpoint }) => outpoint)
    ).toEqual([b])
    shows('4.3-3', [await kv.get('a'), await kv.get('b'), await kv.get('c')]).toEqual([
      'of a',
      'of b',
      undefined
    ])
  })

  it('§4.4 the lock is before the fields, derived under [2, context] and the key for self', async () => {
    const context = newContext()
    await new LocalKV({ wallet, context }).set('key', 'value')
    const [output] = (await listed(context, 'key')).outputs
    const script = LockingScript.fromHex(output!.lockingScript!)
    const { publicKey } = await wallet.getPublicKey({ ...scope(context, 'key'), counterparty: 'self' })
    shows('4.4-2', PushDrop.decode(script).lockingPublicKey.toString()).toBe(publicKey)
    shows('4.4-1', script.chunks[1]!.op).toBe(OP.OP_CHECKSIG)
    expect(output!.satoshis).toBe(1)
    const { lockKey, fields } = readLocalToken(Uint8Array.from(script.toBinary()))!
    expect(lockKey).toBe(publicKey)
    expect(fields).toHaveLength(2)
  })

  it('§4.4 one field is accepted, and two of which the second is ignored', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context, plaintext: true })
    await place(context, 'one', [await tokenOf(context, 'one', [utf8('alone')], false)])
    await place(context, 'two', [await tokenOf(context, 'two', [utf8('beside'), utf8('anything')], false)])
    shows('4.4-3 A-5', [await kv.get('one'), await kv.get('two')]).toEqual(['alone', 'beside'])
  })

  it('§4.4 no fields and more than two are no tokens', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context, plaintext: true })
    for (const [key, fields] of [
      ['none', []],
      ['three', [utf8('a'), utf8('b'), utf8('c')]],
      ['four', [utf8('a'), utf8('b'), utf8('c'), utf8('d')]]
    ] as const) {
      await place(context, key, [
        await tokenOf(
          context,
          key,
          fields.map(each => [...each]),
          false
        )
      ])
      await shows('4.4-4 A-7', kv.get(key)).rejects.toMatchObject({ code: 'ERR_KV_CORRUPT' })
      expect(await kv.inspect(key)).toMatchObject([
        { state: 'corrupt', reason: `${fields.length} fields, expected 1 or 2` }
      ])
    }
  })

  it('§A local parsers take the first field for the value, and nothing else', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context, plaintext: true })
    const forged = await tokenOf(context, 'k', [utf8('value'), utf8('no signature of anything')], false)
    await place(context, 'k', [forged])
    shows('A-6', await kv.get('k')).toBe('value')
    await place(context, 'k', [await tokenOf(context, 'k', [[0xff, 0xfe]])])
    expect(await kv.inspect('k')).toMatchObject([
      { state: 'live', value: 'value' },
      { state: 'corrupt', reason: 'the value is not UTF-8' }
    ])
    expect(await kv.get('k')).toBe('value')
  })

  it('§B local emitters store in the basket of the context, under the tag of the key, and collapse', async () => {
    const context = newContext()
    await placeValues(context, 'the key', values(3))
    const made = await new LocalKV({ wallet, context }).set('the key', 'value')
    const { outputs } = await wallet.listOutputs({ basket: context, includeTags: true })
    shows('B-6 B-7', outputs).toMatchObject([
      { outpoint: made, tags: ['the key'], satoshis: 1, spendable: true }
    ])
  })

  it('§D values are encrypted by default, and outputs without one are let go of by relinquishOutput', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    await kv.set('k', 'a secret')
    shows('D-3', (await listed(context, 'k')).outputs[0]!.lockingScript).not.toContain(
      Utils.toHex(utf8('a secret'))
    )
    await place(context, 'k', [LockingScript.fromHex('51')])
    const relinquished = vi.spyOn(wallet, 'relinquishOutput')
    const [bad] = await kv.recover('k')
    shows(
      'D-4',
      relinquished.mock.calls.map(([args]) => args)
    ).toEqual([{ basket: context, output: bad }])
    relinquished.mockRestore()
    expect(await kv.get('k')).toBe('a secret')
  })

  it('§4.5 encrypted unless told otherwise, under [2, context] and the key', async () => {
    const context = newContext()
    await new LocalKV({ wallet, context }).set('key', 'a secret')
    const script = LockingScript.fromHex((await listed(context, 'key')).outputs[0]!.lockingScript!)
    const [ciphertext] = PushDrop.decode(script).fields
    shows('4.5-3 D-3', Utils.toUTF8(ciphertext!)).not.toContain('secret')
    const { plaintext } = await wallet.decrypt({ ...scope(context, 'key'), ciphertext: ciphertext! })
    shows('4.5-1 4.5-2 4.5-3 B-8', Utils.toUTF8(plaintext)).toBe('a secret')
  })

  it('§4.5 plaintext is the first field as it is', async () => {
    const context = newContext()
    await new LocalKV({ wallet, context, plaintext: true }).set('key', 'no secret')
    const script = LockingScript.fromHex((await listed(context, 'key')).outputs[0]!.lockingScript!)
    shows('4.5-4', Utils.toUTF8(PushDrop.decode(script).fields[0]!)).toBe('no secret')
  })

  it('§4.6 get returns the newest live value, also of more than a page of duplicates (L1)', async () => {
    const context = newContext()
    await placeValues(context, 'k', values(12))
    expect(await new LocalKVStore(wallet, context).get('k')).toBe('v5')
    shows('4.6-1', await new LocalKV({ wallet, context }).get('k')).toBe('v12')
  })

  it('get returns a default value where there is none, as LocalKVStore does', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    expect(await kv.get('none', 'default')).toBe(
      await new LocalKVStore(wallet, context).get('none', 'default')
    )
    expect(await kv.get('none', 'default')).toBe('default')
    await placeValues(context, 'k', ['kept'])
    expect(await kv.get('k', 'default')).toBe('kept')
  })

  it('§4.6 set spends all duplicates and leaves one token, however many there were (L2)', async () => {
    const context = newContext()
    await placeValues(context, 'k', values(12))
    const kv = new LocalKV({ wallet, context })
    const made = await kv.set('k', 'the one')
    shows(
      '4.3-4 4.6-2 4.6-4 B-9',
      (await listed(context, 'k')).outputs.map(({ outpoint }) => outpoint)
    ).toEqual([made])
    expect(await kv.get('k')).toBe('the one')

    const other = newContext()
    await placeValues(other, 'k', values(12))
    await new LocalKVStore(wallet, other).set('k', 'the one')
    expect(await liveCount(other, 'k')).toBe(3)
  })

  it('§4.6 set collapses also where the value stays what it was (L3)', async () => {
    const context = newContext()
    await placeValues(context, 'k', values(3))
    await new LocalKVStore(wallet, context).set('k', 'v3')
    expect(await liveCount(context, 'k')).toBe(3)
    await new LocalKV({ wallet, context }).set('k', 'v3')
    shows('4.6-4 B-9', await liveCount(context, 'k')).toBe(1)
  })

  it('§4.6 remove spends until none remain', async () => {
    const context = newContext()
    await placeValues(context, 'k', values(7))
    await placeValues(context, 'k', values(8))
    const kv = new LocalKV({ wallet, context })
    await kv.remove('k')
    shows('4.6-3', await liveCount(context, 'k')).toBe(0)
    expect(await kv.get('k')).toBeUndefined()
  })

  it('§E local duplicate-output collapse and newest-live-value selection', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    await kv.set('k', 'first')
    await placeValues(context, 'k', ['second'])
    await placeValues(context, 'k', ['third'])
    expect((await kv.inspect('k')).map(({ value }) => value)).toEqual(['first', 'second', 'third'])
    shows('E-7', await kv.get('k')).toBe('third')
    await kv.set('k', 'fourth')
    expect((await kv.inspect('k')).map(({ value }) => value)).toEqual(['fourth'])
  })

  it('§4.7 what is malformed or cannot be decrypted is never a value', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    await place(context, 'k', [
      await tokenOf(context, 'k', [utf8('not encrypted at all, but long enough to be tried as if it were')]),
      await tokenOf(context, 'k', [[1], [2], [3], [4]])
    ])
    await shows('4.7-1 A-8', kv.get('k')).rejects.toMatchObject({ code: 'ERR_KV_CORRUPT' })
    await placeValues(context, 'k', ['good'])
    await place(context, 'k', [await tokenOf(context, 'k', [utf8('bad and newer')])])
    expect(await kv.get('k')).toBe('good')
  })

  it('§4.7 set overwrites corrupt state (L4)', async () => {
    const context = newContext()
    await place(context, 'k', [await tokenOf(context, 'k', [[1], [2], [3], [4]])])
    await expect(new LocalKVStore(wallet, context).set('k', 'good')).rejects.toThrow('call set to collapse')
    const kv = new LocalKV({ wallet, context })
    await kv.set('k', 'good')
    shows('4.7-2', await kv.inspect('k')).toMatchObject([{ state: 'live', value: 'good' }])
  })

  it('§4.7 recover lets go of what is corrupt, and of nothing else', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    const good = await kv.set('k', 'good')
    await place(context, 'k', [
      await tokenOf(context, 'k', [[1], [2], [3], [4]]),
      LockingScript.fromHex('51'),
      await tokenOf(context, 'K', [await encrypted(context, 'K', 'of another key')])
    ])
    const states = async () => (await kv.inspect('k')).map(({ state }) => state)
    expect(await states()).toEqual(['live', 'corrupt', 'stuck', 'foreign'])
    expect(await kv.recover('k')).toHaveLength(2)
    shows('4.7-2 D-4', await states()).toEqual(['live', 'foreign'])
    expect(await kv.recover('k', [good])).toEqual([good])
    expect(await kv.get('k')).toBeUndefined()
  })

  it('§E local corrupted-token handling and recovery guidance', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    await place(context, 'k', [LockingScript.fromHex('51'), LockingScript.fromHex('0000')])
    await shows('E-8', kv.get('k')).rejects.toMatchObject({
      code: 'ERR_KV_CORRUPT',
      message: /set overwrites it/
    })
    await kv.set('k', 'good')
    expect(await kv.get('k')).toBe('good')
    await expect(kv.remove('k')).rejects.toMatchObject({
      code: 'ERR_KV_CORRUPT',
      message: /recover relinquishes them/
    })
    await kv.recover('k')
    expect(await kv.remove('k')).toEqual([])
    expect(await kv.inspect('k')).toEqual([])
  })

  it('§4.3 keys that differ in case alone share a tag and nothing else (L5)', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context })
    await new LocalKVStore(wallet, context).set('Case', 'upper')
    await expect(new LocalKVStore(wallet, context).get('case')).rejects.toThrow('Decryption failed')
    expect([await kv.get('Case'), await kv.get('case')]).toEqual(['upper', undefined])
    await kv.set('case', 'lower')
    shows('4.3-5', [await kv.get('Case'), await kv.get('case')]).toEqual(['upper', 'lower'])
    await kv.remove('Case')
    expect([await kv.get('Case'), await kv.get('case')]).toEqual([undefined, 'lower'])
  })

  it('§4.5 an empty value is refused, which could be written and not read (L6)', async () => {
    const context = newContext()
    for (const plaintext of [false, true]) {
      const kv = new LocalKV({ wallet, context, plaintext })
      await expect(kv.set('k', '')).rejects.toMatchObject({
        code: 'ERR_KV_ENTRY',
        details: { field: 'value' }
      })
    }
    await new LocalKVStore(wallet, context).set('k', '')
    await expect(new LocalKVStore(wallet, context).get('k')).rejects.toThrow('must not be empty')
  })

  it('§2.2 what would not come back is refused before anything is made', async () => {
    const context = newContext()
    const kv = new LocalKV({ wallet, context, plaintext: true })
    const refused = { code: 'ERR_KV_ENTRY' }
    for (const value of ['\x10', '\ufeffmarked', 'half \ud800 a pair', 5 as unknown as string]) {
      await expect(kv.set('k', value)).rejects.toMatchObject(refused)
    }
    for (const key of ['', '  ', 'k'.repeat(301), '\udc00', undefined as unknown as string]) {
      await expect(kv.set(key, 'v')).rejects.toMatchObject(refused)
      await expect(kv.get(key)).rejects.toMatchObject(refused)
      await expect(kv.remove(key)).rejects.toMatchObject(refused)
    }
    for (const bad of ['', 'four', 'Upper Case', 'two  spaces', 'a protocol', 'x'.repeat(301)]) {
      expect(() => new LocalKV({ wallet, context: bad })).toThrow(expect.objectContaining(refused))
    }
    expect((await listed(context)).outputs).toEqual([])
  })

  it('§2.3 writes to one key take turns, through whichever object', async () => {
    const context = newContext()
    const writers = Array.from({ length: 3 }, () => new LocalKV({ wallet, context }))
    const made = await Promise.all(values(6).map((value, i) => writers[i % 3]!.set('k', value)))
    shows(
      '2.3-3 Security-4',
      (await listed(context, 'k')).outputs.map(({ outpoint }) => outpoint)
    ).toEqual([made.at(-1)])
    expect(await writers[0]!.get('k')).toBe('v6')
    const [, , last] = await Promise.all([
      writers[0]!.set('k', 'a'),
      writers[1]!.remove('k'),
      writers[2]!.set('k', 'b')
    ])
    expect((await listed(context, 'k')).outputs.map(({ outpoint }) => outpoint)).toEqual([last])
  })

  it('§2.3 what is read while it is written is what was or what will be', async () => {
    const context = newContext()
    const [writer, reader] = [new LocalKV({ wallet, context }), new LocalKV({ wallet, context })]
    await writer.set('k', 'before')
    const reads: (string | undefined)[] = []
    const writing = writer.set('k', 'after')
    for (let i = 0; i < 5; i++) reads.push(await reader.get('k'))
    await writing
    expect(new Set([...reads, 'before', 'after'])).toEqual(new Set(['before', 'after']))
  })

  it('what the network refuses is an error, which LocalKVStore takes for success', async () => {
    const context = newContext()
    const ours = new LocalKV({ wallet, context })
    const theirs = new LocalKVStore(wallet, context)
    await ours.set('by us', 'sent')
    await theirs.set('by them', 'sent')
    const { postBeef } = chain.services
    chain.services.postBeef = async (_, txids) => [
      {
        name: 'refusing',
        status: 'error',
        txidResults: txids.map(txid => ({ txid, status: 'error', doubleSpend: false }))
      }
    ]
    try {
      await expect(ours.set('by us', 'not sent')).rejects.toThrow('require review')
      await expect(theirs.set('by them', 'not sent')).resolves.toMatch(/\.0$/)
    } finally {
      chain.services.postBeef = postBeef
    }
  })

  describe('with a wallet that does not do what every wallet does', () => {
    const failed = { code: 'ERR_KV_WALLET' }
    /** The wallet, but for what is given. */
    const but = (part: Partial<WalletInterface>): WalletInterface =>
      new Proxy(wallet, {
        get(target, name) {
          const value = Reflect.get(name in part ? part : target, name)
          return typeof value === 'function' ? value.bind(target) : value
        }
      })

    it('says so when it does not say what it made', async () => {
      const silent = but({ createAction: async () => ({}), signAction: async () => ({}) })
      const context = newContext()
      await expect(new LocalKV({ wallet: silent, context }).set('k', 'v')).rejects.toMatchObject(failed)
      await new LocalKV({ wallet, context }).set('k', 'v')
      await expect(new LocalKV({ wallet: silent, context }).set('k', 'w')).rejects.toMatchObject(failed)
    })

    it('says so when it lists outputs and not their transactions', async () => {
      const context = newContext()
      const listing = but({
        listOutputs: async args => ({ ...(await wallet.listOutputs(args)), BEEF: undefined as never })
      })
      await new LocalKV({ wallet, context }).set('k', 'v')
      await expect(new LocalKV({ wallet: listing, context }).remove('k')).rejects.toMatchObject(failed)
    })

    it('says so when it lists what it has spent, and does not spend it for ever', async () => {
      const context = newContext()
      await new LocalKV({ wallet, context }).set('k', 'v')
      const before = await wallet.listOutputs({
        basket: context,
        tags: ['k'],
        include: 'entire transactions'
      })
      const stuck = but({ listOutputs: async () => before })
      await expect(new LocalKV({ wallet: stuck, context }).remove('k')).rejects.toMatchObject({
        ...failed,
        message: 'the wallet lists an output that it has spent'
      })
    })

    it('finds the token wherever it put the output', async () => {
      const context = newContext()
      const shuffling = but({
        createAction: (args, originator) =>
          wallet.createAction({ ...args, options: { ...args.options, randomizeOutputs: true } }, originator)
      })
      const kv = new LocalKV({ wallet: shuffling, context })
      for (let i = 0; i < 6; i++) {
        const outpoint = await kv.set('k', `v${i}`)
        expect((await listed(context, 'k')).outputs.map(each => each.outpoint)).toEqual([outpoint])
      }
    })
  })

  describe('and LocalKVStore of @bsv/sdk, on one wallet', () => {
    it.each([false, true])(
      'read, update and remove entries of each other (plaintext: %s)',
      async plaintext => {
        const context = newContext()
        const ours = new LocalKV({ wallet, context, plaintext })
        const theirs = new LocalKVStore(wallet, context, !plaintext)
        for (const value of ['x', '🜚 é 漢 \u{10ffff}', '\0', '\x0f', 'word '.repeat(200)]) {
          await ours.set('by us', value)
          expect(await theirs.get('by us')).toBe(value)
          await theirs.set('by them', value)
          expect(await ours.get('by them')).toBe(value)
        }
        await theirs.set('by us', 'updated')
        await ours.set('by them', 'updated')
        expect([await ours.get('by us'), await theirs.get('by them')]).toEqual(['updated', 'updated'])
        await theirs.remove('by us')
        await ours.remove('by them')
        expect([await ours.get('by us'), await theirs.get('by them')]).toEqual([undefined, undefined])
      }
    )
  })
})

describe('a local token', () => {
  const key = Uint8Array.of(2, ...new Uint8Array(32).fill(7))
  const drops = (count: number): number[] => [
    ...Array.from({ length: count >> 1 }, () => OP.OP_2DROP),
    ...(count & 1 ? [OP.OP_DROP] : [])
  ]

  it('is read from any number of fields', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), fields => {
        const script = buildScript([key, OP.OP_CHECKSIG, ...fields, ...drops(fields.length)])
        expect(readLocalToken(script)?.fields.map(each => [...each])).toEqual(fields.map(each => [...each]))
      })
    )
  })

  it('is nothing else: other drops, other bytes before or behind, a push that breaks off', () => {
    const script = buildScript([key, OP.OP_CHECKSIG, Uint8Array.of(9, 9), ...drops(1)])
    expect(readLocalToken(script.subarray(0, -1))).toBeUndefined()
    expect(readLocalToken(Uint8Array.of(...script, OP.OP_DROP))).toBeUndefined()
    expect(readLocalToken(Uint8Array.of(OP.OP_NOP, ...script))).toBeUndefined()
    expect(readLocalToken(new Uint8Array())).toBeUndefined()
    fc.assert(
      fc.property(fc.nat(script.length), fc.uint8Array({ minLength: 1, maxLength: 5 }), (at, more) => {
        const changed = Uint8Array.of(...script.subarray(0, at), ...more, ...script.subarray(at))
        const read = readLocalToken(changed)
        if (read)
          expect([...changed.slice(-drops(read.fields.length).length)]).toEqual(drops(read.fields.length))
      })
    )
  })
})
