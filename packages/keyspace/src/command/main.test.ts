/** The command `keyspace`, on modules. */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { runCommand } from './main.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url))
const SHOP = fixture('shop')

const run = async (
  ...args: string[]
): Promise<{ code: typeof process.exitCode; out: string; err: string }> => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand(args)
  const code = process.exitCode
  process.exitCode = undefined
  const all = (spy: typeof out): string => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
  const result = { code, out: all(out), err: all(err) }
  process.stdout.removeAllListeners('error')
  vi.restoreAllMocks()
  return result
}

describe('keyspace check', () => {
  it('proves the keyspaces and the groups that a module exports', async () => {
    const { code, out } = await run('check', SHOP)
    expect(code).toBe(0)
    expect(out).toContain('orders  1 collection')
    expect(out).toContain('store: shop  orders, names')
    expect(out).toContain('sound: 2 keyspaces, 2 collections, 1 stores')
  })

  it('prints the witness of a module whose keyspace is unsound, and exits 1', async () => {
    const { code, out } = await run('check', fixture('unsound'), '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ sound: false, findings: [{ property: 'P2' }] })
  })
})

it('keyspace explain finds the owner of a key', async () => {
  const { code, out } = await run('explain', '6f3a000000000000000700000001', SHOP, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    found: true,
    matches: [{ keyspace: 'orders', collection: 'orders' }]
  })
  expect(await run('explain', 'ff', SHOP)).toMatchObject({ code: 1 })
  expect(await run('explain', '6f3a', SHOP, '--space', 'names')).toMatchObject({ code: 1 })
})

it('keyspace doc documents the keys', async () => {
  const { code, out } = await run('doc', SHOP)
  expect(code).toBe(0)
  expect(out).toContain('`o:{customer}{order}`')
})

it('keyspace diff compares two keyspaces', async () => {
  expect(await run('diff', 'orders', 'names', SHOP, '--exit-code')).toMatchObject({ code: 1 })
  const { code, out } = await run('diff', 'orders', 'orders', SHOP, '--exit-code')
  expect(code).toBe(0)
  expect(out).toContain('1 the same')
})

it('keyspace audit proves a layout file', async () => {
  const file = join(tmpdir(), `layout-${process.pid}.json`)
  writeFileSync(
    file,
    JSON.stringify({ name: 'x', collections: [{ name: 'a', key: [{ u8: 'n' }], scans: [] }] })
  )
  expect(await run('audit', file)).toMatchObject({ code: 0, out: expect.stringContaining('x: sound') })
})

describe('the command line', () => {
  it('has help for the command and for each of its commands', async () => {
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('keyspace check <module…>') })
    expect(await run('explain', '--help')).toMatchObject({ code: 0, out: expect.stringContaining('<hex>') })
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['walk'], 'unknown command walk; known: check, explain, doc, diff, audit'],
    [['check'], 'no module given'],
    [['explain'], 'missing argument; usage: keyspace explain <hex> <module…>'],
    [['audit', 'a.json', 'b.json'], 'unexpected argument b.json'],
    [['check', SHOP, '--space', 'x'], 'unknown option --space'],
    [['check', '--all'], "Unknown option '--all'"],
    [['check', './nowhere.mjs'], 'cannot load ./nowhere.mjs'],
    [['check', 'fast-check'], 'fast-check exports no keyspace'],
    [['diff', 'orders', 'x', SHOP], 'unknown keyspace x; known: orders, names']
  ])('is refused with the reason: %j', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })
})
