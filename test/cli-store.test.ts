/** `quoin store …` as a person or a script runs it: the built program, its output and its exit codes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore, type Store } from '@quoin/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = join(ROOT, 'packages/node/bin/quoin.js')
const folder = mkdtempSync(join(tmpdir(), 'quoin-'))
const at = (name: string): string => join(folder, name)
const bytes = (name: string): Uint8Array => new TextEncoder().encode(name)

const start = (...args: string[]): ChildProcess & { stdout: object; stderr: object } =>
  spawn(process.execPath, [BIN, 'store', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
const ended = async (child: ReturnType<typeof start>) => {
  const [stdout, stderr, [status, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit')
  ])
  return { status, signal, stdout, stderr }
}
/** Not waited for by blocking, so that a store of this process goes on being written to. */
const quoin = (...args: string[]) => ended(start(...args))
const json = async (...args: string[]) => {
  const { status, stdout } = await quoin(...args, '--json')
  return { status, data: JSON.parse(stdout) }
}

const LARGE = `lmdb:${at('large')}`
const make = async (url: string, rows: number, size: number): Promise<Store> => {
  const store = await openStore(url)
  const bulk = store.bulk()
  for (let i = 0; i < rows; i++) {
    const batch = bulk.batch()
    batch.set(bytes(`key ${i}`), new Uint8Array(size).fill(i))
    await bulk.write(batch)
  }
  await bulk.checkpoint()
  return store
}

let live: Store
beforeAll(async () => {
  await (await make(`level:${at('level')}`, 100, 10)).close()
  await (await make(LARGE, 4000, 20_000)).close()
  live = await make(`lmdb:${at('live')}`, 100, 10)
  await live.backup(at('backup'))
})
afterAll(async () => {
  await live?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('quoin store', () => {
  it.each([
    [['--help'], 'quoin store backup lmdb:./data ./backup'],
    [['stats', '--help'], 'quoin store stats lmdb:./data'],
    [['backup', '--help'], 'it must be new or empty'],
    [['restore', '--help'], 'quoin store restore ./backup level:./data'],
    [['verify', '--help'], 'Exits 1 when something is damaged']
  ])('%j teaches by example', async (args, expected) => {
    const { status, stdout } = await quoin(...args)
    expect(status).toBe(0)
    expect(stdout).toContain(expected)
  })

  it('does not load a database to print help', () => {
    const { stderr } = spawnSync(process.execPath, [BIN, 'store', '--help'], {
      encoding: 'utf8',
      env: { ...process.env, NODE_DEBUG: 'esm,module' }
    })
    expect(stderr).toMatch(/bundle\/main\.js|cli\/store\/commands\.js/)
    expect(stderr).not.toMatch(/node_modules\/(lmdb|classic-level)\//)
  })

  it.each([
    [['stats'], 'missing required argument'],
    [['stats', 'nonsense'], 'unknown store URL "nonsense"; expected memory:, lmdb:PATH'],
    [['stats', `lmdb:${at('none')}`], 'no lmdb store in'],
    [['stats', `level:${at('none')}`], 'no level store in'],
    [['stats', `level:${at('live')}`], `open it as lmdb:${at('live')}`],
    [['backup', `lmdb:${at('none')}`, at('copy')], 'no lmdb store in'],
    [['backup', 'memory:', at('copy')], 'has no files to back up'],
    [['backup', `lmdb:${at('live')}`, at('level')], 'is not empty'],
    [['restore', at('none'), `lmdb:${at('copy')}`], 'directory does not exist'],
    [['restore', at('level'), `lmdb:${at('copy')}`], 'no finished backup'],
    [['restore', at('backup'), `lmdb:${at('live')}`], 'is not empty'],
    [['restore', at('backup'), 'redis://localhost'], 'restored to lmdb:PATH or level:PATH'],
    [['verify', at('none')], 'directory does not exist']
  ])('%j is refused: exit 2, the reason on standard error, nothing made', async (args, reason) => {
    const { status, stdout, stderr } = await quoin(...args)
    expect(stderr).toContain(reason)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(existsSync(at('none'))).toBe(false)
    expect(existsSync(at('copy'))).toBe(false)
  })
})

describe('quoin store stats', () => {
  it('of LMDB, beside the process that writes to it', async () => {
    const { status, stdout } = await quoin('stats', `lmdb:${at('live')}`)
    expect(status).toBe(0)
    expect(stdout).toMatch(/^lmdb\n {2}size +[\d.]+ kB\n/)
    expect(stdout).toMatch(/\n {2}rows +102\n/)
  })

  it('of LevelDB', async () => {
    const { status, data } = await json('stats', `level:${at('level')}`)
    expect(status).toBe(0)
    expect(data).toMatchObject({ engine: 'level', bytes: expect.any(Number), schema: 2 })
  })

  it('names the build of LMDB, and how to get the fast one', async () => {
    expect((await json('stats', `lmdb:${at('live')}`)).data.build).toMatch(/^(optimised|prebuilt)$/)
    const { stdout } = spawnSync(process.execPath, [BIN, 'store', 'stats', `lmdb:${at('live')}`], {
      encoding: 'utf8',
      cwd: ROOT,
      env: { ...process.env, PREBUILDS_ONLY: '1' }
    })
    expect(stdout).toMatch(/build +prebuilt/)
    expect(stdout).toContain('scripts/native.mjs compiles a fast one; it needs a C++ compiler')
  })
})

describe('quoin store backup, verify, restore', () => {
  it('of LMDB while another process writes', async () => {
    let writing = true
    const writer = (async () => {
      for (let i = 0; writing; i++) await live.set(bytes('counter'), bytes(String(i)))
    })()
    const { status, stdout } = await quoin('backup', `lmdb:${at('live')}`, at('beside'))
    writing = false
    await writer
    expect(status).toBe(0)
    expect(stdout).toMatch(/beside: 10\d rows, [\d.]+ kB, of lmdb, [\dT:.-]+Z\n {2}sha256 [0-9a-f]{64}\n$/)
    expect(await quoin('verify', at('beside'))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('valid')
    })
  })

  it('of LevelDB, into LMDB, as JSON', async () => {
    const made = await json('backup', `level:${at('level')}`, at('of level'))
    expect(made).toMatchObject({ status: 0, data: { engine: 'level', rows: 101, schema: 2 } })
    const verified = await json('verify', at('of level'))
    expect(verified).toMatchObject({ status: 0, data: { valid: true, sha256: made.data.sha256 } })
    const restored = await json('restore', at('of level'), `lmdb:${at('restored')}`)
    expect(restored).toMatchObject({ status: 0, data: { from: { sha256: made.data.sha256 } } })
    const store = await openStore(`lmdb:${at('restored')}`)
    expect(await store.get(bytes('key 99'))).toHaveLength(10)
    await store.close()
  })

  it('of LevelDB that is open elsewhere says so', async () => {
    const store = await openStore(`level:${at('level')}`)
    const { status, stderr } = await quoin('backup', `level:${at('level')}`, at('copy'))
    await store.close()
    expect(status).toBe(2)
    expect(stderr).toContain('another process has the store open; close it there first [ERR_STORE_LOCKED]')
    expect(existsSync(at('copy'))).toBe(false)
  })

  it('of a backup that was written to: exit 1, with what differs', async () => {
    await live.backup(at('changed'))
    const store = await openStore(`lmdb:${at('changed')}`)
    await store.set(bytes('key 1'), bytes('1'))
    await store.close()
    const { status, stdout } = await quoin('verify', at('changed'))
    expect(status).toBe(1)
    expect(stdout).toMatch(/changed: not valid: .* should be \d+, and is \d+/)
    expect(await json('verify', at('changed'))).toMatchObject({ status: 1, data: { valid: false } })
    expect((await quoin('restore', at('changed'), `lmdb:${at('copy')}`)).status).toBe(2)
    expect(existsSync(at('copy'))).toBe(false)
  })

  it('of a backup without its manifest: exit 1', async () => {
    await live.backup(at('unfinished'))
    rmSync(at('unfinished/backup.json'))
    expect(await quoin('verify', at('unfinished'))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('no finished backup')
    })
    writeFileSync(at('unfinished/backup.json'), '{')
    expect((await quoin('verify', at('unfinished'))).status).toBe(1)
  })

  it('says how far it is, on a terminal only', () => {
    const command = `${process.execPath} ${BIN} store verify ${at('backup')}`
    const onTerminal = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
    expect(onTerminal.stdout).toContain('verifying: 101 rows')
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
    expect(stdout + stderr).not.toContain('verifying')
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ended by %s leaves nothing, and ends by it', async signal => {
    const backup = start('backup', LARGE, at('copy'))
    const end = ended(backup)
    while (!existsSync(at('copy'))) await sleep(1)
    backup.kill(signal)
    expect(await end).toMatchObject({ status: null, signal, stdout: '' })
    expect(existsSync(at('copy'))).toBe(false)
  })

  it('that is killed leaves no backup, and no store', async () => {
    const backup = start('backup', LARGE, at('killed'))
    while (!existsSync(at('killed/data.mdb'))) await sleep(1)
    backup.kill('SIGKILL')
    await once(backup, 'exit')
    expect(readdirSync(at('killed'))).not.toContain('backup.json')
    expect(await quoin('verify', at('killed'))).toMatchObject({ status: 1 })
    await expect(openStore(`lmdb:${at('killed')}`)).rejects.toMatchObject({ code: 'ERR_STORE_VERSION' })
    const again = await quoin('backup', LARGE, at('killed'))
    expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('delete it first') })
    const { details } = await openStore(`${LARGE}?read-only`).then(async store => {
      const stats = await store.stats()
      await store.close()
      return stats
    })
    expect(details).toMatchObject({ rows: 4002 })
  })

  it.each(['lmdb', 'level'])('into %s that has no room says so, and leaves nothing', async kind => {
    const limited = (...args: string[]) =>
      spawnSync(
        'sh',
        ['-c', `trap '' XFSZ; ulimit -f 20000; exec "$0" "$@"`, process.execPath, BIN, ...args],
        {
          encoding: 'utf8'
        }
      )
    if (!existsSync(at('of large'))) expect((await quoin('backup', LARGE, at('of large'))).status).toBe(0)
    const { status, stderr } = limited('store', 'restore', at('of large'), `${kind}:${at('copy')}`)
    expect(stderr).toContain('ERR_STORE_FULL')
    expect(status).toBe(2)
    expect(existsSync(at('copy'))).toBe(false)
  })
})

describe('quoin store verify of a store', () => {
  it('reads every row beside the process that writes, and says that all is well', async () => {
    const { status, stdout, stderr } = await quoin('verify', `lmdb:${at('live')}`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^lmdb:.*: valid, \d+ rows read\n$/)
    expect((await quoin('verify', `level:${at('level')}`)).status).toBe(0)
  })

  it('names each damaged row, and exits with 1', async () => {
    const path = at('damaged')
    await (await make(`lmdb:${path}`, 100, 10)).close()
    const file = join(path, 'data.mdb')
    const content = readFileSync(file)
    for (let from = content.indexOf('vkey 42'); from !== -1; from = content.indexOf('vkey 42', from + 1)) {
      content[from + 9]! ^= 1
    }
    writeFileSync(file, content)
    const { status, stdout } = await quoin('verify', `lmdb:${path}`)
    expect(status).toBe(1)
    expect(stdout).toContain(
      `value  ${Buffer.from('vkey 42').toString('hex')}\n  its checksum does not fit\n`
    )
    expect(stdout).toMatch(/not valid: 1 damaged row, \d+ rows read/)
    const { data } = await json('verify', `lmdb:${path}`)
    expect(data).toMatchObject({
      valid: false,
      damaged: 1,
      listed: [{ collection: 'value', fault: 'checksum' }]
    })
  })

  it('refuses what has no rows in files', async () => {
    const { status, stderr } = await quoin('verify', `lmdb:${at('nowhere')}`)
    expect(status).toBe(2)
    expect(stderr).toContain('ERR_STORE_OPTION')
  })
})
