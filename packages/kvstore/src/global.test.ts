/** The global profile of BRC-35 on a node: lifecycle, ambiguity and lookups, by section. */

import type { KvContent } from '@quoin/kvstore-client/token'
import { why } from '@quoin/overlay'
import { formatOutpoint, type Outpoint } from '@quoin/primitives'
import { verifyIndex } from '@quoin/txo'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Author, coinOf, compose, type Entry, KvNode, PROTOCOL, write } from './author.testing.ts'
import { historyOf } from './history.ts'
import { kvEvents } from './keys.ts'
import { readQuery } from './query.ts'
import { shows } from './shows.testing.ts'

const ann = new Author('ann')
const bob = new Author('bob')
let node: KvNode
beforeEach(async () => {
  node = await KvNode.open()
})
afterEach(async () => {
  const { store, events } = node.engine.outputs
  expect((await verifyIndex(store, { events })).differences).toEqual([])
  await node.close()
})

const reasons = async (outpoint: Outpoint) => (await why(node.engine, outpoint, 'tm_kvstore')).reasons
const codes = async (outpoint: Outpoint) => (await reasons(outpoint)).map(({ code }) => code)

describe('names', () => {
  it('§3.1 §C the topic is tm_kvstore, the lookup service ls_kvstore', () => {
    shows('3.1-1 C-2', [...node.engine.topics.keys()]).toEqual(['tm_kvstore'])
    shows('3.1-1 C-1', [...node.engine.lookups.keys()]).toEqual(['ls_kvstore'])
  })
})

describe('lifecycle', () => {
  it('§3.4 a token without a prior one creates an entry: one live token', async () => {
    const entry = await node.set(ann, { value: 'one' })
    const found = await node.lookup({ key: 'greeting', controller: ann.controller })
    shows('3.4-1', found).toHaveLength(1)
    expect(found[0]).toMatchObject({
      value: 'one',
      controller: ann.controller,
      protocolID: PROTOCOL,
      tags: []
    })
    expect(found[0]!.outpoint).toEqual(entry.outpoint)
    expect(found[0]!.context).toBeUndefined()
  })

  it('§3.4 an update spends the prior token and makes one of the same tuple', async () => {
    const first = await node.set(ann, { value: 'one' })
    const second = await node.set(ann, { value: 'two' }, first)
    shows('3.4-2', await node.values({ controller: ann.controller })).toEqual(['two'])
    expect(await reasons(first.outpoint)).toContainEqual(
      expect.objectContaining({
        code: 'admitted',
        message: 'tm_kvstore admitted it, and keeps it for its history.'
      })
    )
    expect(await codes(second.outpoint)).toContain('unspent')
  })

  it('§3.4 a delete spends the prior token without another, and its history leaves with it', async () => {
    const first = await node.set(ann, { value: 'one' })
    const second = await node.set(ann, { value: 'two' }, first)
    await node.remove(second)
    shows('3.4-3', await node.values({ key: 'greeting' })).toEqual([])
    expect(await codes(second.outpoint)).toContain('removed')
    expect(await codes(first.outpoint)).toContain('history-removed')
  })

  it('§2.3 what changes the key, the protocol or the controller is a delete and a create', async () => {
    for (const content of [{ key: 'other' }, { protocolID: [2, 'kvstore'] }] as const) {
      const first = await node.set(ann, { value: 'one' })
      const second = await node.set(ann, { value: 'two', ...content }, first)
      shows('2.3-2', await codes(first.outpoint)).toContain('removed')
      expect(await node.values({ controller: ann.controller })).toEqual(['two'])
      await node.remove(second)
    }
    const first = await node.set(ann)
    await node.set(bob, {}, first)
    expect(await node.values({ controller: ann.controller })).toEqual([])
    expect(await codes(first.outpoint)).toContain('removed')
  })

  it('§2.3 tags may change with an update: they are no part of the tuple', async () => {
    const first = await node.set(ann, { tags: ['a'] })
    await node.set(ann, { tags: ['b'] }, first)
    expect(await node.values({ tags: ['a'] })).toEqual([])
    expect(await node.values({ tags: ['b'] })).toEqual(['hello'])
  })

  it('§3.4 several entries in one transaction are created, updated and deleted each for itself', async () => {
    const [a, b, c] = await node.write([
      [ann, { key: 'a', value: 'a1' }],
      [ann, { key: 'b', value: 'b1' }],
      [bob, { key: 'c', value: 'c1' }]
    ])
    await node.write(
      [
        [bob, { key: 'c', value: 'c2' }],
        [ann, { key: 'd', value: 'd1' }],
        [ann, { key: 'a', value: 'a2' }]
      ],
      [a!, b!, c!]
    )
    expect((await node.values({ controller: ann.controller })).sort()).toEqual(['a2', 'd1'])
    expect(await node.values({ controller: bob.controller })).toEqual(['c2'])
    expect(await codes(b!.outpoint)).toContain('removed')
    expect(await codes(a!.outpoint)).toContain('admitted')
  })

  it('§2.3 state is what is unspent, in whatever order it was heard of', async () => {
    const first = await write(node.chain, [[ann, { value: 'one' }]])
    const second = await write(node.chain, [[ann, { value: 'two' }]], first.entries)
    await node.submit(second.transaction)
    await node.submit(first.transaction)
    shows('2.3-1', await node.values({ key: 'greeting' })).toEqual(['two'])
    const { tokens } = await historyOf(node.engine.outputs, second.entries[0]!.outpoint, 10)
    expect(tokens).toHaveLength(2)
  })

  it('§2.3 §3.4 of two that spend the same token one is refused', async () => {
    const first = await node.set(ann, { value: 'one' })
    const [left, right] = ['left', 'right'].map(value =>
      compose(coinOf(node.chain), [[ann, { value }]], [first])
    )
    await node.propose(left!)
    await expect(node.propose(right!)).rejects.toMatchObject({ code: 'ERR_TXO_CONFLICT' })
    expect(await node.values({ key: 'greeting' })).toEqual(['left'])
    expect(await codes(first.outpoint)).toContain('contested')
  })

  it('§2.3 what a reorg takes back is no state any more, and what it had spent is again', async () => {
    const first = await node.set(ann, { value: 'one' })
    await node.mine()
    const second = await node.set(ann, { value: 'two' }, first)
    await node.mine()
    expect(await node.values({ key: 'greeting' })).toEqual(['two'])
    const { fork } = await node.chain.reorg(1, { drop: [second.transaction.txid] })
    await node.engine.proofs.reconcile(fork + 1)
    shows('2.3-1', await node.values({ key: 'greeting' })).toEqual(['one'])
  })
})

describe('ambiguity', () => {
  it('§3.4 a second live token of a tuple is reported by lookups and by why, and nothing is merged', async () => {
    const first = await node.set(ann, { value: 'one' })
    const second = await node.set(ann, { value: 'two' })
    const found = await node.lookup({ key: 'greeting', controller: ann.controller })
    expect(found.map(({ value }) => value).sort()).toEqual(['one', 'two'])
    shows(
      '3.4-4',
      found.map(({ context }) => context)
    ).toEqual([{ ambiguous: 2 }, { ambiguous: 2 }])
    expect(await reasons(first.outpoint)).toContainEqual({
      code: 'ambiguous',
      topic: 'tm_kvstore',
      message: `The tuple is ambiguous: it has other live tokens, ${formatOutpoint(second.outpoint)}.`,
      details: { others: [formatOutpoint(second.outpoint)] }
    })
    expect(await codes(second.outpoint)).toContain('ambiguous')
  })

  it('§3.4 is reported even where only one of them is on the page', async () => {
    await node.set(ann, { value: 'one' })
    await node.set(ann, { value: 'two' })
    const [only] = await node.lookup({ key: 'greeting', limit: 1 })
    expect(only!.context).toMatchObject({ ambiguous: 2 })
  })

  it('§3.4 two tokens of a tuple in one transaction are ambiguous too', async () => {
    await node.write([
      [ann, { value: 'one' }],
      [ann, { value: 'two' }]
    ])
    expect((await node.lookup({ key: 'greeting' })).map(({ context }) => context)).toEqual([
      { ambiguous: 2 },
      { ambiguous: 2 }
    ])
  })

  it('§3.4 ends when a transaction spends them into one', async () => {
    const entries = [await node.set(ann, { value: 'one' }), await node.set(ann, { value: 'two' })]
    const third = await node.set(ann, { value: 'three' }, ...entries)
    const found = await node.lookup({ key: 'greeting' })
    expect(found.map(({ value, context }) => [value, context])).toEqual([['three', undefined]])
    expect(await codes(third.outpoint)).not.toContain('ambiguous')
  })

  it('§6.3 the same key under another protocol, or of another controller, is another tuple', async () => {
    await node.set(ann, { value: 'one' })
    await node.set(ann, { value: 'two', protocolID: [2, 'kvstore'] })
    await node.set(bob, { value: 'three' })
    const found = await node.lookup({ key: 'greeting' })
    expect(found).toHaveLength(3)
    shows(
      '6.3-1',
      found.map(({ context }) => context)
    ).toEqual([undefined, undefined, undefined])
    expect(
      await node.values({ key: 'greeting', controller: ann.controller, protocolID: [2, 'kvstore'] })
    ).toEqual(['two'])
  })
})

describe('lookup', () => {
  const contents: readonly (readonly [Author, Partial<KvContent>])[] = [
    [ann, { key: 'name', value: 'ann-name', tags: ['profile', 'public'] }],
    [ann, { key: 'age', value: 'ann-age', tags: ['profile'] }],
    [ann, { key: 'name', value: 'ann-other', protocolID: [2, 'other store'], tags: ['public'] }],
    [bob, { key: 'name', value: 'bob-name', tags: ['profile', 'public', 'old'] }],
    [bob, { key: 'note', value: 'bob-note' }]
  ]
  beforeEach(async () => {
    for (const [author, content] of contents) {
      await node.set(author, content)
      await node.mine()
    }
  })

  it.each<[string, object, string[]]>([
    ['key', { key: 'name' }, ['ann-name', 'ann-other', 'bob-name']],
    ['controller', { controller: ann.controller }, ['ann-name', 'ann-age', 'ann-other']],
    [
      'controller in capitals',
      { controller: ann.controller.toUpperCase() },
      ['ann-name', 'ann-age', 'ann-other']
    ],
    ['protocolID', { protocolID: [2, 'other store'] }, ['ann-other']],
    ['key and controller', { key: 'name', controller: ann.controller }, ['ann-name', 'ann-other']],
    ['key and protocolID', { key: 'name', protocolID: PROTOCOL }, ['ann-name', 'bob-name']],
    [
      'controller and protocolID',
      { controller: ann.controller, protocolID: PROTOCOL },
      ['ann-name', 'ann-age']
    ],
    ['all three', { key: 'name', controller: ann.controller, protocolID: [2, 'other store'] }, ['ann-other']],
    ['one tag', { tags: ['old'] }, ['bob-name']],
    ['tags, all unless said', { tags: ['profile', 'public'] }, ['ann-name', 'bob-name']],
    ['all tags', { tags: ['profile', 'public'], tagQueryMode: 'all' }, ['ann-name', 'bob-name']],
    [
      'any tag',
      { tags: ['profile', 'public'], tagQueryMode: 'any' },
      ['ann-name', 'ann-age', 'ann-other', 'bob-name']
    ],
    [
      'any tag and a key',
      { tags: ['old', 'profile'], tagQueryMode: 'any', key: 'name' },
      ['ann-name', 'bob-name']
    ],
    [
      'any tag, a key and a controller',
      { tags: ['old', 'public'], tagQueryMode: 'any', key: 'name', controller: ann.controller },
      ['ann-name', 'ann-other']
    ],
    [
      'any tag and a controller',
      { tags: ['old', 'profile'], tagQueryMode: 'any', controller: bob.controller },
      ['bob-name']
    ],
    ['tags and a controller', { tags: ['profile'], controller: ann.controller }, ['ann-name', 'ann-age']],
    [
      'tags, a protocol and a controller',
      { tags: ['public'], protocolID: PROTOCOL, controller: ann.controller },
      ['ann-name']
    ],
    ['a tag that nobody has', { tags: ['nobody'] }, []],
    ['a part of a key', { key: 'nam' }, []]
  ])('§3.5 §C finds entries by %s', async (_, query, expected) => {
    shows('3.5-2 3.5-3 3.5-4 C-3 C-4', await node.values({ ...query, sortOrder: 'asc' })).toEqual(expected)
    expect(await node.values(query)).toEqual(expected.toReversed())
  })

  it('§3.5 finds whatever a model finds, over random entries and queries', async () => {
    const keys = ['k1', 'k2', 'k\0/:|3', `${'long'.repeat(100)}é`]
    const tags = ['t1', 't2', '', `${'tag'.repeat(100)}`, 't:/|\0']
    const pick = <T>(from: readonly T[], seed: number): T => from[seed % from.length]!
    const made: (KvContent & { readonly entry: Entry })[] = []
    for (let i = 0; i < 40; i++) {
      const author = pick([ann, bob], i * 7 + (i >> 2))
      const content = author.content({
        key: pick(keys, i * 3 + (i >> 1)),
        value: `value ${i}`,
        protocolID: [pick([0, 1, 2] as const, i), pick(['kvstore', 'other store'], i >> 1)],
        tags: tags.filter((_, at) => (i * 37) & (1 << at))
      })
      made.push({ ...content, entry: await node.set(author, content) })
      if (i % 8 === 7) await node.mine()
    }
    await node.mine()
    const query = fc.record(
      {
        key: fc.constantFrom(...keys),
        controller: fc.constantFrom(ann.controller, bob.controller),
        protocolID: fc.tuple(fc.constantFrom(0, 1, 2), fc.constantFrom('kvstore', 'other store')),
        tags: fc.uniqueArray(fc.constantFrom(...tags), { minLength: 1, maxLength: 4 }),
        tagQueryMode: fc.constantFrom('all', 'any'),
        sortOrder: fc.constantFrom('asc', 'desc')
      },
      { requiredKeys: [] }
    )
    await fc.assert(
      fc.asyncProperty(query, async asked => {
        const { key, controller, protocolID, tags: wanted, tagQueryMode } = asked
        fc.pre([key, controller, protocolID, wanted].some(each => each !== undefined))
        const expected = made.filter(
          each =>
            (key === undefined || each.key === key) &&
            (controller === undefined || each.controller === controller) &&
            (protocolID === undefined || `${each.protocolID}` === `${protocolID}`) &&
            (wanted === undefined ||
              (tagQueryMode === 'any'
                ? wanted.some(tag => each.tags.includes(tag))
                : wanted.every(tag => each.tags.includes(tag))))
        )
        const found = (await node.values({ ...asked, limit: 1000, history: false })).filter(each =>
          each.startsWith('value')
        )
        shows('3.5-2 3.5-3 C-3', found.toSorted()).toEqual(expected.map(({ value }) => value).toSorted())
      }),
      { numRuns: 150 }
    )
  })

  it('§3.5 order is by score and outpoint: newest first, or as asked', async () => {
    const query = { key: 'name' }
    const newest = await node.lookup({ ...query, sortOrder: 'desc' })
    const oldest = await node.lookup({ ...query, sortOrder: 'asc' })
    expect(oldest.map(({ outpoint }) => outpoint)).toEqual(newest.map(({ outpoint }) => outpoint).reverse())
  })

  it('§3.5 limit and skip page through all of it, and so does the cursor', async () => {
    const all = await node.values({ protocolID: PROTOCOL })
    expect(all).toHaveLength(4)
    const skipped: string[] = []
    for (let skip = 0; skip < 5; skip += 2) {
      skipped.push(...(await node.values({ protocolID: PROTOCOL, limit: 2, skip })))
    }
    expect(skipped).toEqual(all)
    const paged: string[] = []
    let cursor: unknown
    do {
      const page = await node.lookup({ protocolID: PROTOCOL, limit: 1, ...(cursor ? { cursor } : {}) })
      paged.push(...page.map(({ value }) => value))
      cursor = page.at(-1)?.context?.['cursor']
    } while (cursor)
    expect(paged).toEqual(all)
  })

  it('§3.5 §C answers live outputs only', async () => {
    const [found] = await node.lookup({ key: 'note' })
    const { author: _, ...rest } = { author: bob, ...found! }
    expect(rest.value).toBe('bob-note')
    const prior = {
      author: bob,
      transaction: found!.transactions[0]!.transaction!,
      vout: 0,
      outpoint: found!.outpoint
    }
    await node.remove(prior)
    for (const query of [{ key: 'note' }, { controller: bob.controller, key: 'note' }]) {
      shows('C-5', await node.values(query)).toEqual([])
    }
    // Not by passing over what is spent: it is not there.
    const { store } = node.engine.outputs
    expect(await store.zcard(kvEvents.types.key.index.encode('note'))).toBe(0)
    expect(await store.zcard(kvEvents.types.key.spent.encode('note'))).toBe(0)
  })
})

describe('questions', () => {
  it('§3.5 need at least one selector', async () => {
    for (const query of [{}, { tags: [] }, { limit: 5 }, { key: null }]) {
      await shows('3.5-1', node.lookup(query)).rejects.toMatchObject({
        code: 'ERR_REQUEST',
        message: 'a query needs at least one selector: key, controller, protocolID or tags'
      })
    }
  })

  it('§3.5 §C without a mode are for all tags', () => {
    shows('3.5-4 C-4', readQuery({ tags: ['a'] }).tagQueryMode).toBe('all')
  })

  it('§3.5 take more than there is for as much as there is', () => {
    expect(readQuery({ key: 'a', limit: 1e9 }).limit).toBe(1000)
    expect(readQuery({ key: 'a' })).toMatchObject({ limit: 50, skip: 0, sortOrder: 'desc' })
  })

  it.each<[string, unknown]>([
    ['', null],
    ['', 'key'],
    ['', ['key']],
    ['/key', { key: 1 }],
    ['/key', { key: { $ne: null } }],
    ['/key', { key: '' }],
    ['/controller', { controller: 'me' }],
    ['/protocolID', { protocolID: 'kvstore' }],
    ['/protocolID', { protocolID: [1, 'kvstore', 1] }],
    ['/tags', { tags: 'a' }],
    ['/tags', { tags: [{ $gt: '' }] }],
    ['/tagQueryMode', { key: 'a', tagQueryMode: 'none' }],
    ['/limit', { key: 'a', limit: 0 }],
    ['/limit', { key: 'a', limit: 1.5 }],
    ['/skip', { key: 'a', skip: -1 }],
    ['/skip', { key: 'a', skip: 1e9 }],
    ['/sortOrder', { key: 'a', sortOrder: 'up' }],
    ['/history', { key: 'a', history: 1 }]
  ])('§3.5 that are wrong at %j are refused: %j', (path, query) => {
    expect(() => readQuery(query)).toThrow(
      expect.objectContaining({ code: 'ERR_REQUEST', details: { where: 'query', path } })
    )
  })

  it('§3.5 of any JSON whatsoever are read or refused, and fail in no other way', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        try {
          readQuery(value)
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_REQUEST' })
        }
      })
    )
  })

  it('§3.5 with a cursor of somebody else are refused', async () => {
    await expect(node.lookup({ key: 'a', cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'ERR_STORE_CURSOR'
    })
  })
})
