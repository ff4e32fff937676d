/** `quoin liquidity`: a state goes in, and every command says what is in it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { Command } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { addLiquidityCommands } from './commands.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/genesis-2023-04.json.gz', import.meta.url))
const OWNER = 'osmo10qfrpash5g2vk3hppvu45x0g860czur8ff5yx0'
const directory = mkdtempSync(join(tmpdir(), 'quoin-liquidity-'))
const url = `lmdb:${join(directory, 'store')}`

const run = async (
  ...args: string[]
): Promise<{ code: typeof process.exitCode; out: string; err: string }> => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const program = new Command('quoin').exitOverride()
  addLiquidityCommands(program)
  await program.parseAsync(['node', 'quoin', 'liquidity', ...args])
  const code = process.exitCode
  process.exitCode = undefined
  const all = (spy: typeof out): string => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
  const said = { code, out: all(out), err: all(err) }
  vi.restoreAllMocks()
  return said
}
const json = async (...args: string[]) => JSON.parse((await run(...args, '--store', url, '--json')).out)

beforeAll(async () => {
  writeFileSync(join(directory, 'no.gz'), 'nothing of the kind')
  expect(await run('import', FIXTURE, '--store', url)).toEqual({
    code: 0,
    out: '1 pool, 161 ticks, 1,752 positions, under the profile chain\n',
    err: ''
  })
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => rmSync(directory, { recursive: true }))

describe('quoin liquidity', () => {
  it('pools', async () => {
    expect((await run('pools', '--store', url)).out).toBe(
      'pool  price          tick  liquidity      has\n' +
        '1     1 uweth/uusdc  0     407.000000307  651607919 uusdc  407 uweth\n'
    )
    expect((await json('pools')).pools[0]).toMatchObject({ id: '1', reserve0: '651607919' })
  })

  it('ticks, from anywhere and back', async () => {
    const { out } = await run('ticks', '1', '--store', url, '--from', '90', '--reverse')
    expect(out.split('\n').map(line => line.split(/\s+/).slice(0, 2))).toEqual([
      ['tick', 'price'],
      ['90', '10'],
      ['-1620', '1e-18'],
      ['']
    ])
    const { ticks, more } = await json('ticks', '1', '--from', '-1620', '--exclusive', '--limit', '1')
    expect([ticks.map((each: { tick: string }) => each.tick), more]).toEqual([['90'], true])
    expect((await run('ticks', '1', '--store', url, '--limit', '2')).out).toContain(
      'More: --from 90 --exclusive'
    )
  })

  it('positions: one, of an owner, of a pool', async () => {
    expect((await json('positions', '10')).positions[0]).toMatchObject({
      id: '10',
      owner: OWNER,
      amount0: '1184717'
    })
    const { positions, more } = await json('positions', '--owner', OWNER, '--pool', '1', '--limit', '3')
    expect(positions.map((each: { owner: string }) => each.owner)).toEqual([OWNER, OWNER, OWNER])
    expect(more).toBe(true)
    expect((await json('positions', '--owner', OWNER, '--pool', '2')).positions).toEqual([])
    expect((await run('positions', '--pool', '1', '--limit', '1', '--store', url)).out).toContain(
      'There are more'
    )
  })

  it('depth, with a picture', async () => {
    const file = join(directory, 'depth.svg')
    const { out } = await run('depth', '1', '--store', url, '--percent', '50', '--svg', file)
    expect(out).toContain('█')
    expect(out).toContain(`The picture is in ${file}`)
    expect(readFileSync(file, 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
    expect((await json('depth', '1')).asks).toHaveLength(1)
  })

  it('quote, both ways', async () => {
    const { out } = await run('quote', '1', '100uweth', '--store', url)
    expect(out).toMatch(/^pay +100 uweth\nget +80 uusdc\n/)
    expect((await json('quote', '1', '80uusdc', '--buy')).bought).toEqual({ denom: 'uusdc', amount: '80' })
  })

  it('explain, with a value that is given or in the store', async () => {
    const given = await run('explain', '0x01000000000000000105ffffffffffffff38', '0a013512022d352200')
    expect(given.out).toContain('"liquidityNet": "-0.000000000000000005"')
    const stored = await run('explain', '083130', '--store', url, '--json')
    expect(JSON.parse(stored.out)).toMatchObject({
      found: true,
      collection: 'positions',
      value: { id: '10' }
    })
    const none = await run('explain', '0109')
    expect([none.code, none.out.split('\n')[0]]).toEqual([1, '0109 fits nothing.'])
    expect((await run('explain', '022f30302f312f31', '--profile', 'seed')).out).toContain('positionsByOwner')
  })

  it('verify', async () => {
    expect(await run('verify', '--store', url)).toMatchObject({
      code: 0,
      out: 'everything is what follows from the positions\n'
    })
    expect(await json('verify')).toEqual({ valid: true, differences: [] })
  })

  it('diff, with the fields that changed', async () => {
    const other = `lmdb:${join(directory, 'other-height')}`
    const raw = (await run('export', '--store', url, '--format', 'raw')).out
    const file = join(directory, 'other-height.ndjson')
    const pool = raw.split('\n').find(line => line.startsWith('{"key":"0331"'))!
    const { value } = JSON.parse(pool) as { value: string }
    const liquidity = Buffer.from('407000000307000000317').toString('hex')
    expect(value).toContain(liquidity)
    const changed = pool.replace(liquidity, Buffer.from('407000000307000000318').toString('hex'))
    writeFileSync(file, `${raw.replace(pool, changed)}{"key":"12","value":"0809"}`)
    await run('import', file, '--store', other)
    expect(await run('diff', url, other)).toEqual({
      code: 1,
      out:
        'pools pool 1\n  liquidity: 407.000000307000000317 -> 407.000000307000000318\n' +
        'nextIncentive 12\n  only in the second\n2 differences\n',
      err: ''
    })
    const { same, differences } = JSON.parse((await run('diff', url, other, '--json')).out)
    expect([same, differences[1].after]).toEqual([false, '9'])
    expect(await run('diff', url, url)).toMatchObject({ code: 0, out: 'the states are the same\n' })
  })

  it('export, into what was imported', async () => {
    const { out } = await run('export', '--store', url, '--schema', '2023')
    const original = JSON.parse(gunzipSync(readFileSync(FIXTURE)).toString())
    expect(JSON.parse(out).concentratedliquidity).toEqual(original.concentratedliquidity)
  })

  it('export and import of raw pairs', async () => {
    const file = join(directory, 'pairs.ndjson')
    const { out } = await run('export', '--store', url, '--format', 'raw', '--encoding', 'base64')
    writeFileSync(file, out)
    const other = `level:${join(directory, 'other')}`
    const report = await run('import', file, '--store', other, '--encoding', 'base64', '--json')
    expect(JSON.parse(report.out)).toMatchObject({ positions: 1752, drift: [] })
    expect((await run('export', '--store', other, '--format', 'raw', '--encoding', 'base64')).out).toBe(out)
  })

  it.each(['hex', 'base64'])('import of an own raw export in %s, by its content', async encoding => {
    const file = join(directory, `${encoding}.json`)
    const { out } = await run('export', '--store', url, '--format', 'raw', '--encoding', encoding)
    writeFileSync(file, out)
    const other = `lmdb:${join(directory, `own-${encoding}`)}`
    expect(await run('import', file, '--store', other)).toMatchObject({ code: 0, err: '' })
    expect((await run('export', '--store', other, '--format', 'raw', '--encoding', encoding)).out).toBe(out)
  })

  it('import with progress', async () => {
    const { err } = await run('import', FIXTURE, '--store', 'memory:', '--progress')
    expect(err).toMatch(/^reading: [0-9,]+ rows.* % of the file\nindexing: 1,752 positions/)
  })

  it('import that fails, after which the store can be used', async () => {
    const spoiled = join(directory, 'spoiled.json')
    const whole = gunzipSync(readFileSync(FIXTURE)).toString()
    writeFileSync(spoiled, whole.slice(0, 400_000))
    const other = `lmdb:${join(directory, 'spoiled')}`
    expect((await run('import', spoiled, '--store', other)).err).toContain('[ERR_LIQUIDITY_IMPORT]')
    expect(JSON.parse((await run('pools', '--store', other, '--json')).out).pools).toEqual([])
    expect((await run('import', FIXTURE, '--store', other, '--profile', 'seed')).code).toBe(0)
  })

  it.each([
    ['a pool that is not there', ['ticks', '7', '--store', url], 'ERR_NOT_FOUND'],
    ['a tick that is none', ['ticks', '1', '--from', 'x', '--store', url], 'ERR_USAGE'],
    ['a position that is not there', ['positions', '9999999', '--store', url], 'ERR_NOT_FOUND'],
    ['an owner who is none', ['positions', '--owner', 'me', '--store', url], 'ERR_LIQUIDITY_VALUE'],
    ['a coin that is none', ['quote', '1', 'uweth', '--store', url], 'ERR_USAGE'],
    [
      'a store that is not there',
      ['pools', '--store', `lmdb:${join(directory, 'nowhere')}`],
      'ERR_STORE_OPTION'
    ],
    ['a file that is not there', ['import', join(directory, 'nothing'), '--store', 'memory:'], 'ERR_USAGE'],
    [
      'a file that is not what its name says',
      ['import', join(directory, 'no.gz'), '--store', 'memory:'],
      'ERR_USAGE'
    ],
    ['a store that has something', ['import', FIXTURE, '--store', url], 'ERR_LIQUIDITY_NOT_EMPTY'],
    ['another schema', ['export', '--schema', '2022', '--store', url], 'ERR_USAGE']
  ])('refuses %s', async (_, args, code) => {
    const { code: exit, err } = await run(...args)
    expect(exit).toBe(2)
    expect(err).toContain(`[${code}]`)
  })
})
