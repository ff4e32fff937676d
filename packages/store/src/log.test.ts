/** Logs: positions in the order of commits, pages that miss nothing, and trimming that forgets entries only. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes } from '../../store-contract/src/steps.ts'
import type { Engine } from './engine.ts'
import { Log, type LogPage } from './log.ts'
import { openEngine } from './open.ts'
import { RAW_ITEMS } from './queue.ts'
import { openStore, type Store } from './store.ts'
import { describeStores, EVERY_ENGINE, latin1, newKey } from './stores.testing.ts'

const OPTION = { name: 'QuoinError', code: 'ERR_STORE_OPTION' }

/** `entry@position`, in order. */
const shown = ({ entries }: LogPage): string =>
  entries.map(({ entry, position }) => `${latin1(entry)}@${position}`).join(' ')

const appendAll = async (store: Store, key: Uint8Array, entries: readonly string[]): Promise<Log> => {
  const batch = store.batch()
  for (const entry of entries) batch.append(key, bytes(entry))
  await batch.commit()
  return store.log(key)
}

const upTo = (count: number): string[] => Array.from({ length: count }, (_, i) => `e${i + 1}`)

describeStores(EVERY_ENGINE, opened => {
  it('a log that was never appended to is empty', async () => {
    const log = opened.store.log(newKey())
    expect(await log.read()).toStrictEqual({ entries: [], last: 0 })
    expect(await log.last()).toBe(0)
    expect(await log.first()).toBeUndefined()
    expect(await log.trim({ keep: 0 })).toBe(0)
    expect(await log.trim({ before: 7 })).toBe(0)
  })

  it('entries are appended alone or with other writes, and read in order', async () => {
    const { store } = opened
    const [key, other] = [newKey(), newKey()]
    const log = store.log(key)
    await log.append(bytes('b'))
    const batch = store.batch().set(other, bytes('1')).append(key, bytes('a'))
    log.appendIn(batch, bytes('c'))
    expect(await log.last()).toBe(1)
    await batch.commit()
    await log.append(bytes('b'))
    const page = await log.read()
    expect(shown(page)).toBe('b@1 a@2 c@3')
    expect(page.last).toBe(3)
    expect([await log.first(), await log.last()]).toStrictEqual([1, 3])
    expect(await store.get(other)).toBeDefined()
    const refused = store.batch().ifValue(other, undefined).append(key, bytes('d'))
    await expect(refused.commit()).rejects.toMatchObject({ code: 'ERR_STORE_PRECONDITION' })
    expect(await log.last()).toBe(3)
  })

  it('pages of any size from anywhere have what comes next, and say where the log ends', async () => {
    const log = await appendAll(opened.store, newKey(), upTo(9))
    for (let trimmed = 0; trimmed <= 9; trimmed += 3) {
      await log.trim({ before: trimmed + 1 })
      for (let after = 0; after <= 11; after++) {
        for (let limit = 1; limit <= 11; limit++) {
          const { entries, last } = await log.read({ after, limit })
          const first = Math.max(after, trimmed) + 1
          const count = Math.max(0, Math.min(limit, 9 - first + 1))
          expect(entries.map(({ position }) => position)).toStrictEqual(
            Array.from({ length: count }, (_, i) => first + i)
          )
          expect(last).toBe(9)
        }
      }
    }
  })

  it('reads a thousand entries unless told otherwise', async () => {
    const log = await appendAll(opened.store, newKey(), upTo(1003))
    const first = await log.read()
    expect(first.entries).toHaveLength(1000)
    expect(first.last).toBe(1003)
    expect(shown(await log.read({ after: 1000 }))).toBe('e1001@1001 e1002@1002 e1003@1003')
    expect((await log.read({ limit: 5000 })).entries).toHaveLength(1003)
  })

  it('trims to the newest, or from a position on, and goes on counting', async () => {
    const key = newKey()
    const log = await appendAll(opened.store, key, upTo(5))
    expect(await log.trim({ keep: 5 })).toBe(0)
    expect(await log.trim({ keep: 9 })).toBe(0)
    expect(await log.trim({ before: 0 })).toBe(0)
    expect(await log.trim({ before: 1 })).toBe(0)
    expect(await log.trim({ before: 3 })).toBe(2)
    expect([await log.first(), await log.last()]).toStrictEqual([3, 5])
    expect(await log.trim({ keep: 1 })).toBe(2)
    expect(shown(await log.read())).toBe('e5@5')
    expect([await log.first(), await log.last()]).toStrictEqual([5, 5])
    expect(await log.trim({ keep: 0 })).toBe(1)
    expect(await log.trim({ before: 100 })).toBe(0)
    expect([await log.first(), await log.last()]).toStrictEqual([undefined, 5])
    expect(await log.read()).toStrictEqual({ entries: [], last: 5 })
    await appendAll(opened.store, key, ['e1', 'e6'])
    expect(shown(await log.read())).toBe('e1@6 e6@7')
  })

  it('trims thousands of entries, by several at once, each of them once', async () => {
    const log = await appendAll(opened.store, newKey(), upTo(4500))
    const counts = await Promise.all([
      log.trim({ keep: 500 }),
      log.trim({ keep: 400 }),
      log.trim({ before: 2222 })
    ])
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4100)
    expect([await log.first(), await log.last()]).toStrictEqual([4101, 4500])
    expect((await log.read()).entries).toHaveLength(400)
  })

  it('a snapshot of it stands still', async () => {
    const { store } = opened
    const key = newKey()
    const log = await appendAll(store, key, ['a', 'b'])
    let isAppended = false
    const [before, page, first] = await store.snapshot(async reads => {
      const last = await reads.log(key).last()
      // Once: an engine that reads again what has changed sees it then, in all reads.
      if (!isAppended) await log.append(bytes('c'))
      isAppended = true
      return [last, await reads.log(key).read(), await reads.log(key).first()]
    })
    expect(page.last).toBe(before)
    expect(page.entries).toHaveLength(before)
    expect(first).toBe(1)
    expect(await log.last()).toBe(3)
  })
})

describe('a log', () => {
  /** A log, and the same as somebody sees it to whom something happens after each of the first reads of rows. */
  const disturbed = async (...happenings: ((log: Log) => Promise<unknown>)[]) => {
    const engine = await openEngine('memory:')
    const log = new Log(engine, bytes('l'), RAW_ITEMS)
    const slow = {
      reads: {
        ...engine.reads,
        zrows: async (key, rows) => {
          const found = await engine.reads.zrows(key, rows)
          await happenings.shift()?.(log)
          return found
        }
      },
      commit: program => engine.commit(program)
    } satisfies Partial<Engine>
    return { log, seen: new Log(slow as unknown as Engine, bytes('l'), RAW_ITEMS) }
  }

  it('does not count on an empty page what was appended after it was read', async () => {
    const { log, seen } = await disturbed(each => each.append(bytes('b')))
    await log.append(bytes('a'))
    expect(await seen.read({ after: 1 })).toStrictEqual({ entries: [], last: 1 })
    expect(shown(await seen.read({ after: 1 }))).toBe('b@2')
  })

  it('counts on a full page what was appended after it was read: there is more', async () => {
    const { log, seen } = await disturbed(each => each.append(bytes('d')))
    for (const entry of ['a', 'b', 'c']) await log.append(bytes(entry))
    const page = await seen.read({ limit: 1 })
    expect([shown(page), page.last]).toStrictEqual(['a@1', 4])
  })

  it('keeps an entry that was trimmed and appended again while it was being trimmed', async () => {
    const { log, seen } = await disturbed(async each => {
      await each.trim({ keep: 1 })
      await each.append(bytes('a'))
    })
    for (const entry of ['a', 'b', 'c', 'd']) await log.append(bytes(entry))
    expect(await seen.trim({ keep: 2 })).toBe(0)
    expect(shown(await log.read())).toBe('d@4 a@5')
  })

  it('fails to be trimmed as its store fails', async () => {
    const store = await openStore('memory:')
    const log = await appendAll(store, bytes('l'), ['a'])
    await store.close()
    await expect(log.trim({ before: 2 })).rejects.toMatchObject({ code: 'ERR_STORE_CLOSED' })
  })

  it('is what a list without repetitions would be, however it is appended to and trimmed', async () => {
    const entry = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const action = fc.oneof(
      fc.record({ append: fc.array(entry, { maxLength: 4 }) }),
      fc.record({ keep: fc.nat(6) }),
      fc.record({ before: fc.nat(20) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 20 }), async actions => {
        const store = await openStore('memory:')
        const log = store.log(bytes('l'))
        let [list, given] = [[] as string[], 0]
        for (const each of actions) {
          if ('append' in each) {
            for (const name of each.append) {
              if (!list.some(kept => kept.startsWith(name))) list.push(`${name}@${++given}`)
            }
            await appendAll(store, bytes('l'), each.append)
          } else {
            const isKept = (kept: string): boolean => {
              const position = Number(kept.slice(2))
              return 'keep' in each ? position > given - each.keep : position >= each.before
            }
            const before = list.length
            list = list.filter(isKept)
            expect(await log.trim(each)).toBe(before - list.length)
          }
          const page = await log.read()
          expect(shown(page)).toBe(list.join(' '))
          expect(page.last).toBe(given)
          expect(await log.first()).toBe(list[0] && Number(list[0].slice(2)))
        }
      })
    )
  })

  it.each([
    ['after', -1],
    ['after', 0.5],
    ['after', Number.NaN],
    ['after', '1'],
    ['limit', 0],
    ['limit', Infinity]
  ])('is not read with %s %s', async (name, value) => {
    const log = (await openStore('memory:')).log(bytes('l'))
    await expect(log.read({ [name]: value })).rejects.toMatchObject({ ...OPTION, details: { name } })
  })

  it.each([{ keep: -1 }, { keep: 0.5 }, { before: -1 }, { before: Number.NaN }, {}])(
    'is not trimmed by %j',
    async how => {
      const log = await appendAll(await openStore('memory:'), bytes('l'), ['a'])
      await expect(log.trim(how as never)).rejects.toMatchObject(OPTION)
      expect(await log.first()).toBe(1)
    }
  )

  it('has no entries that are empty, too long, or no bytes', async () => {
    const store = await openStore('memory:')
    for (const entry of [new Uint8Array(), new Uint8Array(1901), 'text' as never]) {
      const batch = store.batch()
      expect(() => batch.append(bytes('l'), entry)).toThrow(
        expect.objectContaining({ code: 'ERR_STORE_KEY' })
      )
      await expect(batch.commit()).rejects.toMatchObject(OPTION)
      await expect(store.log(bytes('l')).append(entry)).rejects.toMatchObject({ code: 'ERR_STORE_KEY' })
    }
    expect(() => store.log(new Uint8Array(1901))).toThrow(expect.objectContaining({ code: 'ERR_STORE_KEY' }))
    expect(await store.zkeys(bytes(''))).toStrictEqual([])
  })
})
