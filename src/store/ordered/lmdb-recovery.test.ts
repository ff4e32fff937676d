/**
 * A machine that goes down: the disk then has the files that were synced and, of LMDB's, any mixture of the pages of
 * the last checkpoint and of what was written after it. Such a disk is put together here, page by page, and what is
 * recovered from it is compared with what was acknowledged.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { batchOf, bytes, set } from '../contract/steps.ts'
import { openStore, type Store } from '../store.ts'
import { bootId, CHECKPOINT_FILE, readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { digestRows, openVolume } from './copy.ts'
import { LMDB_FILE } from './directory.ts'
import { openLmdb } from './lmdb.ts'
import { recoverLmdb } from './lmdb-recovery.ts'
import { RedoLog, redoFiles, redoRecords } from './redo-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-recovery-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => {
  const path = join(folder, String(folders++))
  mkdirSync(path)
  return path
}

const WRITER = fileURLToPath(new URL('./presence.testing.ts', import.meta.url))
const PAGE = 4096
const LATER = 'a later boot'
const SYNCED = [CHECKPOINT_FILE, ...redoFiles]

/** What identifies the contents of a store. */
const contents = async (path: string): Promise<string> => {
  const volume = await openVolume('lmdb', path, 'read')
  try {
    return (await digestRows(volume.chunks(), {})).sha256
  } finally {
    await volume.close()
  }
}

/** The pages of LMDB's file as they were at some moments since the last checkpoint: any of them may be on the disk. */
class Disk {
  readonly #path: string
  #sequence = -1
  #images: Uint8Array[] = []

  constructor(path: string) {
    this.#path = path
  }

  look(): void {
    const sequence = readCheckpoint(this.#path)?.sequence ?? 0
    if (sequence !== this.#sequence) this.#images = []
    this.#sequence = sequence
    this.#images.push(readFileSync(join(this.#path, LMDB_FILE)))
  }

  /** Of each page one of its states. Pages that the file did not have yet may be missing at its end. */
  goDown(random: () => number): string {
    this.look()
    const path = newFolder()
    const last = this.#images.at(-1)!
    const mixed = last.slice()
    for (let at = 0; at < mixed.length; at += PAGE) {
      const image = this.#images[Math.floor(random() * this.#images.length)]!
      if (at + PAGE <= image.length) mixed.set(image.subarray(at, at + PAGE), at)
      else mixed.fill(0, at, at + PAGE)
    }
    writeFileSync(join(path, LMDB_FILE), mixed)
    for (const file of SYNCED) copyFileSync(join(this.#path, file), join(path, file))
    return path
  }
}

/** Changes of every kind, some of them large, so that several checkpoints fall among them. */
const change = (store: Store, n: number, random: () => number): Promise<unknown> => {
  const batch = store.batch()
  const some = (): Uint8Array => bytes(String(Math.floor(random() * 300)))
  for (let i = 0; i < 5; i++) {
    batch.zadd(bytes(`set ${i}`), { member: some(), score: n })
    batch.hset(bytes(`hash ${i}`), some(), bytes(`${n}`.repeat(Math.ceil(random() * 30))))
    batch.zrem(bytes(`set ${i}`), some())
  }
  batch.set(some(), new Uint8Array(Math.floor(random() ** 4 * 400_000)).fill(n))
  if (n % 7 === 0) batch.del(some())
  return batch.commit()
}

/** The same numbers from the same seed, so that a failure can be looked into. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    const digest = createHash('sha256').update(String(state++)).digest()
    return digest.readUInt32LE(0) / 2 ** 32
  }
}

describe('a store whose machine went down', () => {
  it.each([1, 2, 3])('has every acknowledged commit and nothing else (seed %i)', async seed => {
    const random = randomFrom(seed)
    const path = newFolder()
    const store = await openStore(`lmdb:${path}`)
    const disk = new Disk(path)
    const sequences = new Set<number>()
    let whileSyncing = 0
    for (let n = 1; n <= 240; n++) {
      await change(store, n, random)
      if (n % 8 === 0) disk.look()
      const checkpoint = readCheckpoint(path)!
      sequences.add(checkpoint.sequence)
      const isSyncing = [...redoRecords(path, { ...checkpoint, file: checkpoint.file + 1 })].length > 0
      if (n % 80 !== 0 && !(isSyncing && whileSyncing++ < 3)) continue
      const after = disk.goDown(random)
      expect(recoverLmdb(after, LATER)).toBeGreaterThanOrEqual(0)
      expect(await contents(after), `after commit ${n}`).toBe(await contents(path))
      rmSync(after, { recursive: true })
    }
    // Checkpoints were made meanwhile, and not for every commit.
    expect(sequences.size).toBeGreaterThan(2)
    expect(sequences.size).toBeLessThan(20)
    expect(whileSyncing).toBeGreaterThan(0)
    await store.close()
  })

  it('has what several writers committed in turn', async () => {
    const random = randomFrom(4)
    const path = newFolder()
    const stores = await Promise.all([openStore(`lmdb:${path}`), openStore(`lmdb:${path}`)])
    const disk = new Disk(path)
    for (let n = 1; n <= 60; n++) {
      await change(stores[random() < 0.7 ? 0 : 1]!, n, random)
      disk.look()
      if (n % 10 !== 0) continue
      const after = disk.goDown(random)
      recoverLmdb(after, LATER)
      expect(await contents(after), `after commit ${n}`).toBe(await contents(path))
    }
    // Closing ends nothing of another's.
    await change(stores[1], 61, random)
    await stores[0].close()
    for (let n = 62; n < 70; n++) {
      disk.look()
      await change(stores[1], n, random)
    }
    const after = disk.goDown(random)
    recoverLmdb(after, LATER)
    expect(await contents(after)).toBe(await contents(path))
    await stores[1].close()
  })

  it('has what was written in bulk, which is not logged, from its beginning up to some place, and all after a sync', async () => {
    const random = randomFrom(5)
    const path = newFolder()
    const engine = await openLmdb(path)
    await engine.commit(batchOf([set('before', 'it')]))
    const disk = new Disk(path)
    const states = [await contents(path)]
    for (let i = 0; i < 10; i++) {
      disk.look()
      await engine.commitMany([batchOf([set(`${i}`, 'x'.repeat(2e6))])])
      states.push(await contents(path))
      if (i % 3 !== 0) continue
      const after = disk.goDown(random)
      recoverLmdb(after, LATER)
      expect(states).toContain(await contents(after))
    }
    disk.look()
    await engine.sync()
    const synced = disk.goDown(random)
    recoverLmdb(synced, LATER)
    expect(await contents(synced)).toBe(await contents(path))

    // With the last of them a checkpoint is begun, which does not have it.
    for (let i = 0; i < 4; i++) {
      disk.look()
      await engine.commitMany([batchOf([set(`more ${i}`, 'x'.repeat(2e6))])])
    }
    await new Promise(resolve => setTimeout(resolve, 200))
    disk.look()
    await engine.commit(batchOf([set('after', 'it')]))
    const committed = disk.goDown(random)
    recoverLmdb(committed, LATER)
    expect(await contents(committed)).toBe(await contents(path))
    await engine.close()
  })

  it('has a last commit that had not wholly reached the log wholly or not at all', async () => {
    const random = randomFrom(6)
    const path = newFolder()
    const store = await openStore(`lmdb:${path}`)
    await change(store, 1, random)
    const disk = new Disk(path)
    disk.look()
    const before = await contents(path)
    await change(store, 2, random)
    const after = disk.goDown(random)
    const log = join(after, redoFiles[0])
    const [first, second] = [...redoRecords(after, readCheckpoint(after)!)]
    expect([first?.number, second?.number]).toEqual([1, 2])
    const whole = readFileSync(log)
    writeFileSync(log, whole.subarray(0, whole.length - 1))
    expect(recoverLmdb(after, LATER)).toBe(1)
    expect(await contents(after)).toBe(before)
    await store.close()
  })

  it('is recovered when it is opened, to read or to write, and goes on from there', async () => {
    for (const option of ['?read-only', '']) {
      const path = newFolder()
      const store = await openStore(`lmdb:${path}`)
      for (let n = 1; n <= 3; n++) await store.set(bytes(`key ${n}`), bytes('value'))
      const disk = new Disk(path)
      const after = disk.goDown(Math.random)
      await store.close()
      // As the machine that went down would have left it.
      const checkpoint = readCheckpoint(after)!
      writeCheckpoint(after, { ...checkpoint, sequence: checkpoint.sequence + 1, boot: 'an earlier boot' })
      const recovered = await openStore(`lmdb:${after}${option}`)
      expect((await recovered.range(bytes('key'))).length).toBe(3)
      expect(readCheckpoint(after)).toMatchObject({ closed: true })
      if (option === '') {
        await recovered.set(bytes('key 4'), bytes('value'))
        expect(readCheckpoint(after)).toMatchObject({ closed: false, boot: bootId() })
      }
      await recovered.close()
    }
  })

  it('has what was committed after another writer had begun a commit that came to nothing', async () => {
    const path = newFolder()
    const [first, second] = await Promise.all([openLmdb(path), openLmdb(path)])
    await first.commit(batchOf([set('a', '1')]))
    const disk = new Disk(path)
    await expect(second.commit(Uint8Array.of(1))).rejects.toMatchObject({ code: 'ERR_STORE_ENGINE' })
    disk.look()
    await first.commit(batchOf([set('a', '2'), set('b', 'x'.repeat(100_000))]))
    const after = disk.goDown(randomFrom(7))
    recoverLmdb(after, LATER)
    expect(await contents(after)).toBe(await contents(path))
    await first.close()
    await second.close()
  })

  it('is left alone while another process writes to it, though that says to run on another system', async () => {
    const path = newFolder()
    const args = ['--import', import.meta.resolve('tsx'), WRITER, path]
    const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(writer, 'exit')
    await once(writer.stdout, 'data')
    expect(recoverLmdb(path, LATER)).toBeUndefined()
    expect(readCheckpoint(path)).toMatchObject({ closed: false })
    writer.kill('SIGKILL')
    await ended
    expect(recoverLmdb(path, LATER)).toBeGreaterThan(0)
    expect(readCheckpoint(path)).toMatchObject({ closed: true })
  })

  it('is left alone while the system runs on, and when it was closed', async () => {
    const path = newFolder()
    const store = await openStore(`lmdb:${path}`)
    await store.set(bytes('a'), bytes('1'))
    const file = readFileSync(join(path, LMDB_FILE))
    expect(recoverLmdb(path)).toBeUndefined()
    await store.close()
    expect(readCheckpoint(path)).toMatchObject({ closed: true })
    expect(recoverLmdb(path, LATER)).toBeUndefined()
    expect(readFileSync(join(path, LMDB_FILE))).toEqual(file)
  })

  it('has a checkpoint that needs no log when nothing was committed for a while', async () => {
    const path = newFolder()
    const store = await openStore(`lmdb:${path}`)
    await store.set(bytes('a'), bytes('1'))
    expect(readCheckpoint(path)).toMatchObject({ closed: false })
    await expect.poll(() => readCheckpoint(path)?.closed, { timeout: 20_000 }).toBe(true)
    await store.set(bytes('a'), bytes('2'))
    expect(readCheckpoint(path)).toMatchObject({ closed: false })
    await store.close()
  })
})

describe('a checkpoint', () => {
  const checkpoint = (sequence: number) => {
    const head = new Uint8Array(2 * PAGE).fill(sequence)
    new DataView(head.buffer).setUint32(48, PAGE, true)
    return { sequence, boot: 'boot', closed: false, log: 'log', file: 3, head }
  }

  it('is the last one that is whole, whichever byte of the file is damaged', () => {
    const path = newFolder()
    const file = join(path, CHECKPOINT_FILE)
    expect(readCheckpoint(path)).toBeUndefined()
    writeCheckpoint(path, checkpoint(1))
    expect(readCheckpoint(path)).toEqual(checkpoint(1))
    writeCheckpoint(path, checkpoint(2))
    expect(readCheckpoint(path)).toEqual(checkpoint(2))
    const whole = readFileSync(file)
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Uint8Array.from(whole)
        damaged[at]! ^= change
        writeFileSync(file, damaged)
        const read = readCheckpoint(path)
        // Spaces after the text may be damaged without harm.
        expect([checkpoint(1), checkpoint(2)]).toContainEqual(read)
      })
    )
  })
})

describe('a redo log', () => {
  const row = fc.tuple(
    fc.uint8Array({ minLength: 1, maxLength: 2000 }),
    fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined })
  )

  it('gives back the rows of its records in their order, and none of an earlier turn', () => {
    const path = newFolder()
    const log = new RedoLog(path)
    fc.assert(
      fc.property(
        fc.array(fc.array(row, { maxLength: 20 }), { maxLength: 5 }),
        fc.stringMatching(/^[0-9a-f]{16}$/),
        (records, name) => {
          const place = { log: name, file: records.length }
          log.goTo(place)
          records.forEach((rows, i) => {
            for (const [key, value] of rows) {
              if (value) log.put(key, value)
              else log.del(key)
            }
            log.append(i + 1)
          })
          const expected = records.map((rows, i) => ({
            number: i + 1,
            rows: rows.map(([key, value]) => (value ? [key, value] : [key]))
          }))
          expect([...redoRecords(path, place)]).toEqual(expected)
          expect([...redoRecords(path, { ...place, file: place.file + 2 })]).toEqual([])
          expect([...redoRecords(path, { ...place, log: `${name}0` })]).toEqual([])
        }
      )
    )
    log.close()
  })

  it('does not have a record that was taken back', () => {
    const path = newFolder()
    const log = new RedoLog(path)
    const place = { log: 'log', file: 0 }
    log.goTo(place)
    for (const number of [1, 2]) {
      log.put(bytes('key'), bytes(`value ${number}`))
      log.append(number)
    }
    log.retract()
    expect([...redoRecords(path, place)].map(({ number }) => number)).toEqual([1])
    log.put(bytes('key'), bytes('value'))
    log.append(2)
    expect([...redoRecords(path, place)].map(({ number }) => number)).toEqual([1, 2])
    log.close()
  })
})
