/** Search beside its definition: the whole result by plain arrays, then slices of it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Reads, ScoredMember } from './engine.ts'
import { openEngine } from './open.ts'
import { type FoundRow, type Join, MAX_LIMIT, type Search, type SearchPage, search } from './search.ts'
import { Store } from './store.ts'
import { describeStores, latin1, newKey } from './stores.testing.ts'

/** A row as text: `score member from`. */
type Row = readonly [score: number, member: string, from: number]
/** The scores of the members of a sorted set. */
type Model = ReadonlyMap<string, number>
interface Question {
  /** Which of the sets, in what order; a set that is not there is empty. */
  readonly sets: readonly number[]
  readonly join: Join
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly reverse: boolean
}

const compareRows = ([a, m]: Row, [b, n]: Row): number =>
  a !== b ? (a < b ? -1 : 1) : m < n ? -1 : m > n ? 1 : 0

/** The whole result, word for word by the definition. */
const wholeResult = (models: readonly Model[], { sets, join, from, to, reverse }: Question): Row[] => {
  const asked = sets.map(index => models[index] ?? new Map<string, number>())
  const rowsOf = (set: Model, index: number): Row[] =>
    [...set].map(([member, score]) => [score, member, index])
  const [first, ...others] = asked
  if (!first) return []
  let rows: Row[]
  if (join === 'union') {
    const all = asked.flatMap(rowsOf)
    rows = all.filter((row, i) => all.findIndex(other => compareRows(row, other) === 0) === i)
  } else {
    rows = rowsOf(first, 0).filter(([, member]) =>
      join === 'intersect' ? others.every(set => set.has(member)) : !others.some(set => set.has(member))
    )
  }
  rows = rows
    .filter(([score]) => (from === undefined || score >= from) && (to === undefined || score <= to))
    .sort(compareRows)
  return reverse ? rows.reverse() : rows
}

const rowOf = ({ score, member, from }: FoundRow): Row => [score, latin1(member), from]
const rowsOf = ({ rows }: SearchPage): Row[] => rows.map(rowOf)

/** All pages, by their cursors. */
const pagesOf = async (ask: (cursor: string | undefined) => Promise<SearchPage>): Promise<SearchPage[]> => {
  const pages: SearchPage[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ask(cursor)
    pages.push(page)
    if (page.cursor === undefined) return pages
    expect(page.cursor).not.toBe(cursor)
    cursor = page.cursor
  }
}

const withCursor = (query: Search, cursor: string | undefined): Search =>
  cursor === undefined ? query : { ...query, cursor }

const queryOf = (keys: readonly Uint8Array[], { sets, join, from, to, reverse }: Question): Search => ({
  keys: sets.map(index => keys[index] ?? bytes('nothing has this key')),
  join,
  reverse,
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to })
})

const store = async (to: Store, models: readonly Model[]): Promise<Uint8Array[]> => {
  const keys = models.map(newKey)
  const batch = to.batch()
  models.forEach((model, i) => {
    for (const [member, score] of model) batch.zadd(keys[i]!, { member: bytes(member), score })
  })
  await batch.commit()
  return keys
}

// So few of each that rows tie, and members meet in several sets under one score and under several.
const SCORES = [-Infinity, -1, -0, 0.5, 1, 5, 5.000000001, Infinity]
const MEMBERS = [
  '',
  '\0',
  'a',
  'a\0',
  'a\0b',
  'b',
  '\x7f',
  '\x80',
  '\xff',
  '\xff\xff',
  ...'cdefghijklmnopqrstuvwxyz'
]
const score = fc.constantFrom(...SCORES)
const model = fc
  .array(fc.tuple(fc.constantFrom(...MEMBERS), score), { maxLength: 60, size: 'max' })
  .map(rows => new Map(rows.map(([member, each]) => [member, each === 0 ? 0 : each])))
const models = fc.array(model, { minLength: 2, maxLength: 4 })
const question: fc.Arbitrary<Question> = fc.record({
  sets: fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(5) }), {
    minLength: 1,
    maxLength: 5
  }),
  join: fc.constantFrom<Join>('union', 'intersect', 'difference'),
  from: fc.option(fc.oneof(score, fc.double({ noNaN: true, min: -2, max: 6 })), { nil: undefined }),
  to: fc.option(fc.oneof(score, fc.double({ noNaN: true, min: -2, max: 6 })), { nil: undefined }),
  reverse: fc.boolean()
})
const limit = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 200 }),
  fc.constant(MAX_LIMIT)
)
const effort = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }))
/** Keeps about every `every`th row, by what is in it. */
const keeps =
  (every: number) =>
  ([at, member]: Row): boolean =>
    (member.length + (member.charCodeAt(0) || 0) + (Number.isFinite(at) ? Math.ceil(at) : 7)) % every === 0

const RUNS: Record<string, number> = { memory: 800, lmdb: 100, redis: 150, postgres: 40 }

describeStores(Object.keys(RUNS), (opened, engineName) => {
  const numRuns = RUNS[engineName]!

  it('gives the result by its definition, in one page when the limit allows it', async () => {
    await fc.assert(
      fc.asyncProperty(
        models,
        fc.array(question, { minLength: 1, maxLength: 6 }),
        async (sets, questions) => {
          const keys = await store(opened.store, sets)
          for (const each of questions) {
            const page = await opened.store.search({ ...queryOf(keys, each), limit: MAX_LIMIT })
            expect(rowsOf(page)).toStrictEqual(wholeResult(sets, each))
            expect(page.cursor).toBeUndefined()
          }
        }
      ),
      { numRuns }
    )
  })

  it('gives the whole result once, page by page, each as full as it can be', async () => {
    await fc.assert(
      fc.asyncProperty(models, question, limit, async (sets, each, most) => {
        const query = { ...queryOf(await store(opened.store, sets), each), limit: most }
        const pages = await pagesOf(cursor => opened.store.search(withCursor(query, cursor)))
        expect(pages.flatMap(rowsOf)).toStrictEqual(wholeResult(sets, each))
        for (const { rows } of pages.slice(0, -1)) expect(rows).toHaveLength(most)
      }),
      { numRuns }
    )
  })

  it('gives the rows that a filter keeps, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        models,
        question,
        limit,
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (sets, each, most, every, isAsync) => {
          const keep = (rows: readonly FoundRow[]): boolean[] => rows.map(row => keeps(every)(rowOf(row)))
          const query: Search = {
            ...queryOf(await store(opened.store, sets), each),
            limit: most,
            filter: isAsync ? async rows => keep(rows) : keep
          }
          const pages = await pagesOf(cursor => opened.store.search(withCursor(query, cursor)))
          expect(pages.flatMap(rowsOf)).toStrictEqual(wholeResult(sets, each).filter(keeps(every)))
          for (const { rows } of pages.slice(0, -1)) expect(rows).toHaveLength(most)
        }
      ),
      { numRuns }
    )
  })

  it('gives the whole result once however little effort a page may take', async () => {
    await fc.assert(
      fc.asyncProperty(
        models,
        question,
        limit,
        effort,
        fc.option(fc.integer({ min: 1, max: 9 })),
        async (sets, each, most, little, every) => {
          const query: Search = {
            ...queryOf(await store(opened.store, sets), each),
            limit: most,
            effort: little,
            ...(every === null ? {} : { filter: rows => rows.map(row => keeps(every)(rowOf(row))) })
          }
          const pages = await pagesOf(cursor => opened.store.search(withCursor(query, cursor)))
          const expected = wholeResult(sets, each).filter(every === null ? () => true : keeps(every))
          expect(pages.flatMap(rowsOf)).toStrictEqual(expected)
          for (const { rows } of pages) expect(rows.length).toBeLessThanOrEqual(Math.min(most, little))
        }
      ),
      { numRuns }
    )
  })

  it('goes on after the last row of a page, whatever was added and removed since', async () => {
    const change = fc.record({ set: fc.nat(3), member: fc.constantFrom(...MEMBERS), score: fc.option(score) })
    const changes = fc.array(fc.array(change, { maxLength: 6 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(models, question, limit, changes, async (sets, each, most, between) => {
        const now = sets.map(set => new Map(set))
        const keys = await store(opened.store, sets)
        const isSame = (a: Row) => (b: Row) => compareRows(a, b) === 0
        const given: Row[] = []
        let always = wholeResult(now, each)
        let last: Row | undefined
        let turn = 0
        await pagesOf(async cursor => {
          const page = await opened.store.search(withCursor({ ...queryOf(keys, each), limit: most }, cursor))
          const sign = each.reverse ? -1 : 1
          const rest = wholeResult(now, each).filter(row => !last || sign * compareRows(row, last) > 0)
          expect(rowsOf(page)).toStrictEqual(rest.slice(0, most))
          given.push(...rowsOf(page))
          last = given.at(-1)

          const batch = opened.store.batch()
          for (const { set, member, score: to } of between[turn++] ?? []) {
            const [key, model] = [keys[set], now[set]]
            if (!key || !model) continue
            if (to === null) {
              batch.zrem(key, bytes(member))
              model.delete(member)
            } else {
              batch.zadd(key, { member: bytes(member), score: to })
              model.set(member, to === 0 ? 0 : to)
            }
          }
          await batch.commit()
          const present = wholeResult(now, each)
          if (page.cursor !== undefined) always = always.filter(row => present.some(isSame(row)))
          return page
        })
        for (const row of given) expect(given.filter(isSame(row))).toHaveLength(1)
        for (const row of always) expect(given.some(isSame(row))).toBe(true)
      }),
      { numRuns: numRuns / 2 }
    )
  })

  it('joins sets that are much longer than what is read at once', async () => {
    const long = fc
      .tuple(
        fc.integer({ min: 1, max: 1500 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 400 })
      )
      .map(
        ([size, step, ties]) =>
          new Map(
            Array.from({ length: size }, (_, i) => [`m${(i * step) % 2003}`, Math.floor(i / ties)] as const)
          )
      )
    await fc.assert(
      fc.asyncProperty(
        fc.array(long, { minLength: 2, maxLength: 3 }),
        question,
        fc.constantFrom(50, 129, 1000),
        async (sets, each, most) => {
          const keys = await store(opened.store, sets)
          const pages = await pagesOf(cursor =>
            opened.store.search(withCursor({ ...queryOf(keys, each), limit: most }, cursor))
          )
          const expected = sorted(wholeResultOfLong(sets, each), each.reverse)
          expect(pages.flatMap(rowsOf)).toStrictEqual(expected)
        }
      ),
      { numRuns: Math.ceil(numRuns / 10) }
    )
  })
})

/** `wholeResult` without its square of comparisons. */
const wholeResultOfLong = (sets: readonly Model[], each: Question): Row[] => {
  if (each.join !== 'union') return wholeResult(sets, each)
  const rows = new Map<string, Row>()
  for (const [i, index] of each.sets.entries()) {
    for (const row of wholeResult(sets, { ...each, sets: [index], join: 'intersect' })) {
      const name = `${row[0]} ${row[1]}`
      if (!rows.has(name)) rows.set(name, [row[0], row[1], i])
    }
  }
  return [...rows.values()]
}
const sorted = (rows: readonly Row[], reverse: boolean): Row[] =>
  [...rows].sort((a, b) => (reverse ? -1 : 1) * compareRows(a, b))

/** A store in memory with the sets given as `member: score`. */
const storeOf = async (
  ...sets: readonly Readonly<Record<string, number>>[]
): Promise<{ store: Store; reads: Reads; keys: Uint8Array[] }> => {
  const engine = await openEngine('memory:')
  const opened = new Store(engine)
  return {
    store: opened,
    reads: engine.reads,
    keys: await store(
      opened,
      sets.map(set => new Map(Object.entries(set)))
    )
  }
}
const found = async (from: Store, query: Search): Promise<Row[]> => rowsOf(await from.search(query))
const numbered = (count: number, scoreAt: (i: number) => number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${String(i).padStart(6, '0')}`, scoreAt(i)]))

describe('ties', () => {
  it('an intersection finds a member that stands behind another of its score', async () => {
    const { store, keys } = await storeOf({ m2: 5 }, { m1: 5, m2: 5 })
    expect(await found(store, { keys, join: 'intersect' })).toStrictEqual([[5, 'm2', 0]])
    expect(await found(store, { keys, join: 'intersect', reverse: true })).toStrictEqual([[5, 'm2', 0]])
  })

  it('a difference leaves out a member that stands behind another of its score', async () => {
    const { store, keys } = await storeOf({ m2: 5 }, { m1: 5, m2: 5 })
    expect(await found(store, { keys, join: 'difference' })).toStrictEqual([])
    expect(await found(store, { keys: keys.toReversed(), join: 'difference' })).toStrictEqual([[5, 'm1', 0]])
  })

  it('more rows of one score than a page holds are passed', async () => {
    const { store, keys } = await storeOf(numbered(1000, () => 7))
    for (const reverse of [false, true]) {
      const pages = await pagesOf(cursor => store.search(withCursor({ keys, limit: 30, reverse }, cursor)))
      const members = pages.flatMap(rowsOf).map(([, member]) => member)
      expect(members).toHaveLength(1000)
      expect(members).toStrictEqual(reverse ? [...members].sort().reverse() : [...members].sort())
    }
  })

  it('a member comes once for each of its scores, and a row once, under the first set that has it', async () => {
    const { store, keys } = await storeOf({ b: 1, a: 2 }, { a: 2, b: 3 }, { a: 2, b: 1, c: 1 })
    expect(await found(store, { keys })).toStrictEqual([
      [1, 'b', 0],
      [1, 'c', 2],
      [2, 'a', 0],
      [3, 'b', 1]
    ])
  })
})

describe('bounds', () => {
  it('from is the lower and to the upper one in both directions, and both belong to the result', async () => {
    const { store, keys } = await storeOf({ a: 1, b: 2, c: 3, d: 4 })
    const members = async (query: Partial<Search>) =>
      (await found(store, { keys, ...query })).map(([, member]) => member).join('')
    expect(await members({ from: 2, to: 3 })).toBe('bc')
    expect(await members({ from: 2, to: 3, reverse: true })).toBe('cb')
    expect(await members({ from: 3, to: 2 })).toBe('')
    expect(await members({ from: -0, to: 1 })).toBe('a')
  })

  it('are of the scores in the first set when sets are intersected', async () => {
    const { store, keys } = await storeOf({ a: 1, b: 2 }, { a: 20, b: 10 })
    expect(await found(store, { keys, join: 'intersect', from: 2 })).toStrictEqual([[2, 'b', 0]])
  })

  it('hold for a page whose cursor lies outside of them', async () => {
    const { store, keys } = await storeOf({ a: 1, b: 2, c: 3 })
    const cursorAfter = async (query: Partial<Search>) =>
      (await store.search({ keys, limit: 1, ...query })).cursor!
    expect(await found(store, { keys, from: 3, cursor: await cursorAfter({}) })).toStrictEqual([[3, 'c', 0]])
    expect(await found(store, { keys, to: 1, cursor: await cursorAfter({ from: 2 }) })).toStrictEqual([])
    const above = await cursorAfter({ reverse: true })
    expect(await found(store, { keys, to: 1, reverse: true, cursor: above })).toStrictEqual([[1, 'a', 0]])
  })
})

describe('a filter', () => {
  it('that keeps what is unspent gives full pages, though most is spent', async () => {
    const outputs = numbered(5000, i => Math.floor(i / 10))
    const { store, keys } = await storeOf(outputs)
    const spent = newKey()
    const batch = store.batch()
    Object.keys(outputs).forEach((member, i) => {
      if (i % 50 !== 0) batch.hset(spent, bytes(member), bytes('by another'))
    })
    await batch.commit()
    const unspentOnly = async (rows: readonly FoundRow[]) =>
      (
        await store.hmget(
          spent,
          rows.map(({ member }) => member)
        )
      ).map(spend => spend === undefined)
    const pages = await pagesOf(cursor =>
      store.search(withCursor({ keys, limit: 30, filter: unspentOnly }, cursor))
    )
    expect(pages.map(({ rows }) => rows.length)).toStrictEqual([30, 30, 30, 10])
    expect(new Set(pages.flatMap(rowsOf).map(([, member]) => member)).size).toBe(100)
  })

  it('sees the rows in their order, each once in a page, and is not asked about none', async () => {
    const { store, keys } = await storeOf(numbered(1000, i => i))
    const seen: Row[] = []
    const filter = (rows: readonly FoundRow[]) => {
      expect(rows.length).toBeGreaterThan(0)
      seen.push(...rows.map(rowOf))
      return rows.map(() => false)
    }
    expect(await store.search({ keys, filter })).toStrictEqual({ rows: [], cursor: undefined })
    expect(seen).toStrictEqual(wholeResult([new Map(Object.entries(numbered(1000, i => i)))], ALL))
    await store.search({ keys: [newKey()], filter })
  })

  it('that fails fails the search', async () => {
    const { store, keys } = await storeOf({ a: 1 })
    const failure = new Error('of the filter')
    await expect(store.search({ keys, filter: () => Promise.reject(failure) })).rejects.toBe(failure)
  })
})
const ALL: Question = { sets: [0], join: 'union', reverse: false }

describe('an intersection driven by a set that is not the first', () => {
  it('has the scores of the first, in its order', async () => {
    const large = numbered(1000, i => Math.floor(i / 3))
    const { store, keys } = await storeOf(large, { m000007: 100, m000300: 1, m000004: 50, other: 1 })
    expect(await found(store, { keys, join: 'intersect' })).toStrictEqual([
      [1, 'm000004', 0],
      [2, 'm000007', 0],
      [100, 'm000300', 0]
    ])
    const pages = await pagesOf(cursor =>
      store.search(withCursor({ keys, join: 'intersect', limit: 1, reverse: true }, cursor))
    )
    expect(pages.flatMap(rowsOf).map(([at]) => at)).toStrictEqual([100, 2, 1])
  })

  it('gives all that a filter keeps of more rows than are handled at once', async () => {
    const { store, keys } = await storeOf(
      numbered(5000, i => i),
      numbered(600, () => 0)
    )
    const filter = (rows: readonly FoundRow[]) => rows.map(({ score }) => score % 5 === 0)
    const pages = await pagesOf(cursor =>
      store.search(withCursor({ keys, join: 'intersect', limit: 50, filter }, cursor))
    )
    expect(pages.flatMap(rowsOf).map(([at]) => at)).toStrictEqual(
      Array.from({ length: 120 }, (_, i) => 5 * i)
    )
    expect(pages.map(({ rows }) => rows.length)).toStrictEqual([50, 50, 20])
  })
})

/** The reads of an engine, and how many rows they have given. */
const counting = (reads: Reads): { reads: Reads; rows: number; calls: number; lookups: number } => {
  const counts = {
    rows: 0,
    calls: 0,
    lookups: 0,
    reads: {
      zcard: key => reads.zcard(key),
      zrows: async (key, range) => {
        const rows: ScoredMember[] = await reads.zrows(key, range)
        counts.calls++
        counts.rows += rows.length
        return rows
      },
      zscores: async (keys, members) => {
        counts.lookups += keys.length * members.length
        return reads.zscores(keys, members)
      }
    } as Pick<Reads, 'zcard' | 'zrows' | 'zscores'> as Reads
  }
  return counts
}

describe('what a page reads', () => {
  const large = numbered(20_000, i => Math.floor(i / 3))
  const small = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`m00${i}500`, i]))

  it('an intersection of a small set and a large one does not read the large one', async () => {
    const { reads, keys } = await storeOf(large, small)
    for (const each of [keys, keys.toReversed()]) {
      const counted = counting(reads)
      const page = await search(counted.reads, { keys: each, join: 'intersect' })
      expect(page.rows).toHaveLength(10)
      expect(counted.rows).toBe(10)
      expect(counted.lookups).toBeLessThanOrEqual(20)
    }
  })

  it('an intersection with a set that is empty reads nothing', async () => {
    const { reads, keys } = await storeOf(large)
    const counted = counting(reads)
    expect(
      (await search(counted.reads, { keys: [...keys, newKey()], join: 'intersect' })).rows
    ).toStrictEqual([])
    expect(counted.rows).toBe(0)
  })

  it('an intersection of sets of about one size reads no more of the first than it needs', async () => {
    const { reads, keys } = await storeOf(
      large,
      numbered(19_000, i => i),
      numbered(5000, i => -i)
    )
    const counted = counting(reads)
    expect((await search(counted.reads, { keys, join: 'intersect', limit: 50 })).rows).toHaveLength(50)
    expect(counted.rows).toBeLessThanOrEqual(128)
  })

  it.each([1, 50, 100, 1000, 5000, 10_000])('a page of %d rows does not take far more', async most => {
    const { reads, keys } = await storeOf(
      large,
      numbered(20_000, i => i),
      numbered(20_000, i => i % 10)
    )
    for (const each of [keys.slice(0, 1), keys]) {
      let cursor: string | undefined
      for (let page = 0; page < 3; page++) {
        const counted = counting(reads)
        const { rows, cursor: next } = await search(
          counted.reads,
          withCursor({ keys: each, limit: most, from: 1 }, cursor)
        )
        if (rows.length === most) {
          // A chunk too many at most, of each of the sets.
          expect(counted.rows).toBeLessThanOrEqual(2 * each.length * most + 128 * each.length)
        }
        cursor = next
      }
    }
  })

  it('a set that has given all it has is not asked again', async () => {
    const { reads, keys } = await storeOf({ m000000: -1 }, large, {})
    const counted = counting(reads)
    expect((await search(counted.reads, { keys, limit: 1000 })).rows).toHaveLength(1000)
    expect(counted.calls).toBeLessThanOrEqual(5)
  })

  it('a page far behind costs what the first one does', async () => {
    const { reads, keys } = await storeOf(large)
    const costs: number[] = []
    await pagesOf(async cursor => {
      const counted = counting(reads)
      const page = await search(counted.reads, withCursor({ keys, limit: 500 }, cursor))
      costs.push(counted.rows)
      return page
    })
    expect(costs).toHaveLength(41)
    expect(Math.max(...costs)).toBe(500)
  })

  it('a page stops where its effort ends, and the next goes on from there', async () => {
    const { reads, keys } = await storeOf(
      large,
      small,
      numbered(20_000, () => 1)
    )
    const rare = (rows: readonly FoundRow[]) => rows.map(({ score }) => score === 6000)
    const queries: Search[] = [
      { keys: keys.slice(0, 1), filter: rare },
      { keys: [keys[0]!, keys[2]!], join: 'intersect', filter: rare },
      { keys: [keys[0]!, keys[2]!], join: 'difference' }
    ]
    for (const query of queries) {
      const counted = counting(reads)
      const page = await search(counted.reads, { ...query, effort: 3000 })
      expect(page.rows).toStrictEqual([])
      expect(counted.rows).toBe(3000)
      const next = counting(reads)
      const rest = await search(next.reads, { ...query, cursor: page.cursor! })
      expect(rest.rows).toHaveLength(query.filter ? 3 : 0)
      expect(next.rows).toBe(17_000)
    }
  })

  it('an intersection is driven by another set only if the effort allows to read all of that', async () => {
    const { reads, keys } = await storeOf(large, small)
    const [counted, more] = [counting(reads), counting(reads)]
    await search(counted.reads, { keys, join: 'intersect', effort: 9 })
    expect(counted.rows).toBe(9)
    const { rows, cursor } = await search(more.reads, { keys, join: 'intersect', effort: 10 })
    expect([rows.length, cursor, more.rows]).toStrictEqual([10, undefined, 10])
  })
})

describe('a search within a snapshot', () => {
  it('pages through one state', async () => {
    const { store, keys } = await storeOf(numbered(100, i => i))
    const pages = await store.snapshot(reads =>
      pagesOf(async cursor => {
        const page = await reads.search(withCursor({ keys, limit: 10 }, cursor))
        await store.zadd(keys[0]!, { member: bytes(`new ${page.cursor}`), score: 1000 })
        return page
      })
    )
    expect(pages.flatMap(rowsOf)).toHaveLength(100)
  })
})

describe('a wrong question', () => {
  const refused = async (query: Partial<Search>, code: string) => {
    const { store, keys } = await storeOf({ a: 1 })
    await expect(store.search({ keys, ...query })).rejects.toMatchObject({ name: 'QuoinError', code })
  }

  it.each([0, -1, 1.5, NaN, Infinity, MAX_LIMIT + 1, '5' as never, null as never])('limit %s', limit =>
    refused({ limit }, 'ERR_STORE_OPTION')
  )
  it.each([0, -1, 1.5, NaN, Infinity, '5' as never])('effort %s', effort =>
    refused({ effort }, 'ERR_STORE_OPTION')
  )
  it.each([NaN, '5' as never, null as never])('from and to %s', async bound => {
    await refused({ from: bound }, 'ERR_STORE_SCORE')
    await refused({ to: bound }, 'ERR_STORE_SCORE')
  })
  it('a join that there is not', () => refused({ join: 'xor' as never }, 'ERR_STORE_OPTION'))
  it('more than a thousand keys', async () => {
    const { store, keys } = await storeOf({ a: 1 })
    const many = (count: number) => Array.from({ length: count }, () => keys[0]!)
    for (const join of ['union', 'intersect'] as const) {
      expect(await found(store, { keys: many(1000), join })).toStrictEqual([[1, 'a', 0]])
      await refused({ keys: many(1001), join }, 'ERR_STORE_OPTION')
    }
  })
  it('keys that are none', async () => {
    await refused({ keys: ['text' as never] }, 'ERR_STORE_KEY')
    await refused({ keys: [new Uint8Array(1901)] }, 'ERR_STORE_KEY')
  })
  it('a cursor that is none', () => refused({ cursor: 'not a cursor' }, 'ERR_STORE_CURSOR'))
  it('no keys at all have no rows', async () => {
    const { store } = await storeOf()
    for (const join of ['union', 'intersect', 'difference'] as const) {
      expect(await store.search({ keys: [], join })).toStrictEqual({ rows: [], cursor: undefined })
    }
  })
})
