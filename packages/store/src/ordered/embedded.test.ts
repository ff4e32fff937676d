/** What the embedded engines share: commits in groups, and an end that nothing is lost by. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openStore } from '../store.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const folder = mkdtempSync(join(tmpdir(), 'quoin-embedded-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['memory:', `lmdb:${folder}/lmdb`, `level:${folder}/level`])('%s', url => {
  it('reads a hash as it was in a snapshot, though it has grown since', async () => {
    const store = await openStore(url)
    const [key, first] = [bytes('growing'), bytes('0')]
    const isMember = async (): Promise<boolean> => store.sismember(key, first)
    await store.hset(key, first, bytes('small'))
    await store.sadd(key, first)
    await store.snapshot(async before => {
      const batch = store.batch()
      for (let i = 0; i < 100; i++) {
        batch.hset(key, bytes(`${i}`), bytes('large'.repeat(20)))
        batch.sadd(key, bytes(`${i}`.padStart(40)))
      }
      await batch.commit()
      // What is found out about the present says nothing of the past.
      expect(await store.hget(key, bytes('99'))).toEqual(bytes('large'.repeat(20)))
      expect(await isMember()).toBe(true)
      expect(await before.hget(key, first)).toEqual(bytes('small'))
      expect(await before.hmget(key, [first, bytes('1')])).toEqual([bytes('small'), undefined])
      expect(await before.sismember(key, first)).toBe(true)
      expect(await before.sismember(key, bytes('1'.padStart(40)))).toBe(false)
    })
    await store.hdel(key, first)
    expect(await store.hmget(key, [first, bytes('1')])).toEqual([undefined, bytes('large'.repeat(20))])
    await store.close()
  })

  it('closes when what is read and committed has ended, and takes nothing more', async () => {
    const store = await openStore(url)
    await store.set(bytes('a'), bytes('1'))
    let pass = (): void => {}
    const gate = new Promise<void>(resolve => {
      pass = resolve
    })
    const snapshot = store.snapshot(async reads => {
      await gate
      return [await reads.get(bytes('a')), await reads.range(bytes(''))]
    })
    const commits = Array.from({ length: 20 }, (_, i) =>
      store.zadd(bytes('z'), { member: bytes(`${i}`), score: i })
    )
    const range = store.range(bytes(''))
    let isClosed = false
    const closing = store.close().then(() => {
      isClosed = true
    })
    await expect(store.set(bytes('b'), bytes('2'))).rejects.toMatchObject({ code: 'ERR_STORE_CLOSED' })
    await Promise.all(commits)
    expect(isClosed).toBe(false)
    pass()
    expect(await snapshot).toMatchObject([bytes('1'), [{ value: bytes('1') }]])
    expect(await range).toHaveLength(1)
    await closing
    await expect(store.get(bytes('a'))).rejects.toMatchObject({ code: 'ERR_STORE_CLOSED' })
  })

  it('gives plain bytes that are nobody else’s', async () => {
    const store = await openStore(url)
    await store.batch().set(bytes('k'), bytes('value')).hset(bytes('h'), bytes('f'), bytes('v')).commit()
    await store.zadd(bytes('y'), { member: bytes('m'), score: 1 })
    const read = async (): Promise<Uint8Array[]> => [
      (await store.get(bytes('k')))!,
      (await store.hget(bytes('h'), bytes('f')))!,
      (await store.zrange(bytes('y')))[0]!.member,
      (await store.range(bytes('k')))[0]!.value,
      (await store.hgetall(bytes('h')))[0]!.value
    ]
    const first = await read()
    for (const each of first) {
      expect(each.constructor).toBe(Uint8Array)
      each.fill(0)
    }
    expect((await read()).map(each => new TextDecoder().decode(each))).toEqual([
      'value',
      'v',
      'm',
      'value',
      'v'
    ])
    await store.close()
  })
})
