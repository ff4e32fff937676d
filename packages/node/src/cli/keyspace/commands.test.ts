/** What the built command cannot be made to show: a shipped keyspace that is unsound, and a defect. */

import { Command } from 'commander'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { addKeyspaceCommands } from './commands.ts'

const run = async (
  ...args: string[]
): Promise<{ code: typeof process.exitCode; out: string; err: string }> => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const program = new Command('quoin').exitOverride()
  await addKeyspaceCommands(program)
  await program.parseAsync(['node', 'quoin', ...args])
  const code = process.exitCode
  process.exitCode = undefined
  const all = (spy: typeof out): string => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
  return { code, out: all(out), err: all(err) }
}

afterEach(() => {
  vi.restoreAllMocks()
  vi.doUnmock('../../keyspaces.ts')
  vi.resetModules()
})

describe('quoin keyspace check of an unsound keyspace', () => {
  /** By the modules that the command loads: those of the test before were reset. */
  const unsound = async () => {
    const { collection, keyspace, text } = await import('@quoin/keyspace')
    return keyspace('broken', {
      a: collection({ key: ['z:', text('event')] }),
      b: collection({ key: ['z:', text('event'), ':spnd'] })
    })
  }

  it('prints the findings and exits 1', async () => {
    vi.doMock('../../keyspaces.ts', () => ({
      shippedKeyspaces: async () => [],
      storeKeyspaces: async () => [],
      shippedStores: async () => unsound()
    }))
    const { code, out } = await run('keyspace', 'check')
    expect(code).toBe(1)
    expect(out).toContain('unsound')
    expect(out).toContain('P3  key 7a3a3a73706e64 is one of a with event=":spnd" and one of b with event=""')
  })

  it('as JSON too', async () => {
    vi.doMock('../../keyspaces.ts', () => ({
      shippedKeyspaces: async () => [],
      storeKeyspaces: async () => [],
      shippedStores: async () => unsound()
    }))
    const { code, out } = await run('keyspace', 'check', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      sound: false,
      findings: [{ property: 'P3' }, { property: 'P6' }]
    })
  })
})

it('a defect exits 3 with its trace on standard error', async () => {
  vi.doMock('../../keyspaces.ts', () => ({
    shippedKeyspaces: async () => [],
    storeKeyspaces: async () => [],
    shippedStores: async () => {
      throw new TypeError('not ours')
    }
  }))
  const { code, out, err } = await run('keyspace', 'check')
  expect(code).toBe(3)
  expect(out).toBe('')
  expect(err).toContain('TypeError: not ours')
})
