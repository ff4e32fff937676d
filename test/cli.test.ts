/** The command as a person or a script runs it: the built program, its output and its exit codes. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { shippedKeyspaces } from '../packages/node/src/keyspaces.ts'

const KEYSPACES = (await shippedKeyspaces()).length

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = join(ROOT, 'packages/node/bin/quoin.js')
const folder = mkdtempSync(join(tmpdir(), 'quoin-'))
afterAll(() => rmSync(folder, { recursive: true }))

const quoin = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    encoding: 'utf8',
    input: ''
  })
  return { status, stdout, stderr }
}
const json = (...args: string[]) => {
  const { status, stdout } = quoin(...args, '--json')
  return { status, data: JSON.parse(stdout) }
}
const file = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const EXAMPLE = join(ROOT, 'test/fixtures/example-layout.json')

describe('quoin', () => {
  it('without arguments teaches by example', () => {
    const { status, stdout } = quoin()
    expect(status).toBe(0)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain('quoin keyspace audit layout.json')
    expect(stdout).toContain('Exit codes:')
  })

  it.each([
    [['--help'], 'Examples:'],
    [['keyspace', '--help'], 'quoin keyspace check'],
    [['keyspace', 'audit', '--help'], '"u64be": "pool"'],
    [['keyspace', 'explain', '--help'], 'Exits 1 when the key fits nothing'],
    [['--version'], JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version as string]
  ])('%j answers and exits 0', (args, expected) => {
    const { status, stdout } = quoin(...args)
    expect(status).toBe(0)
    expect(stdout).toContain(expected)
  })

  it.each([
    [['nonsense'], 'unknown command'],
    [['keyspace', 'nonsense'], 'unknown command'],
    [['keyspace', 'check', '--nonsense'], 'unknown option'],
    [['keyspace', 'explain'], 'missing required argument'],
    [['keyspace', 'explain', 'xyz'], 'not hexadecimal'],
    [['keyspace', 'explain', '012'], 'odd number'],
    [['keyspace', 'explain', '01', '--space', 'nowhere'], 'unknown keyspace nowhere; known: chain'],
    [['keyspace', 'diff', 'liquidity-seed', 'nowhere'], 'unknown keyspace nowhere'],
    [['keyspace', 'audit', join(folder, 'absent.json')], 'cannot read']
  ])(
    '%j is wrong usage: exit 2, the reason on standard error, nothing on standard output',
    (args, reason) => {
      const { status, stdout, stderr } = quoin(...args)
      expect(status).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).toContain(reason)
    }
  )

  it('colours on a terminal, and nowhere else', () => {
    const onTerminal = spawnSync(
      'script',
      ['-qec', `${process.execPath} ${BIN} keyspace explain 0331`, '/dev/null'],
      {
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '' }
      }
    )
    expect(onTerminal.error).toBeUndefined()
    expect(onTerminal.stdout).toContain('\u001b[')
    expect(quoin('keyspace', 'explain', '0331').stdout).not.toContain('\u001b[')
  })

  it('says that it cannot write, and exits 2, not 1', () => {
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', `${process.execPath} ${BIN} keyspace check > /dev/full`],
      { encoding: 'utf8' }
    )
    expect(status).toBe(2)
    expect(stderr).toContain('cannot write the output')
  })

  it('gives wrong usage as JSON too', () => {
    const { status, stdout } = quoin('keyspace', 'explain', '--json')
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'ERR_USAGE', message: expect.stringContaining('argument') }
    })
  })

  it('does not mind a reader that stops early', () => {
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', `${process.execPath} ${BIN} keyspace doc | head -n 1`],
      { encoding: 'utf8' }
    )
    expect(status).toBe(0)
    expect(stderr).toBe('')
  })
})

describe('quoin keyspace check', () => {
  it('proves every shipped keyspace, each property with its verdict, automaton size and time', () => {
    const { status, stdout } = quoin('keyspace', 'check')
    expect(status).toBe(0)
    for (const name of ['outputs', 'bsv21', 'liquidity-seed', 'liquidity-chain', 'store: node'])
      expect(stdout).toContain(name)
    expect(stdout).toMatch(
      /P1 {2}holds {2}every key decodes one way +\d+ checks +\d+ states visited +[\d.]+ ms/
    )
    expect(stdout).toMatch(/, \d+ collections, 3 stores, in \d+ ms\n$/)
    expect(stdout).toContain(`\nsound: ${KEYSPACES} keyspaces, `)
  })

  it('as JSON has all seven verdicts of each', () => {
    const { status, data } = json('keyspace', 'check')
    expect(status).toBe(0)
    expect(data.sound).toBe(true)
    expect(data.keyspaces.length).toBe(KEYSPACES)
    for (const { verdicts, findings, states } of data.keyspaces) {
      expect(verdicts.map((verdict: { property: string }) => verdict.property)).toEqual([
        'P1',
        'P2',
        'P3',
        'P4',
        'P5',
        'P6',
        'P7'
      ])
      expect(verdicts.every((verdict: { holds: boolean }) => verdict.holds)).toBe(true)
      expect(findings).toEqual([])
      expect(states).toBeGreaterThan(0)
    }
  })
})

describe('quoin keyspace explain', () => {
  it('names the owner in every keyspace that has such keys', () => {
    const { status, data } = json('keyspace', 'explain', '01000000000000000105ffffffffffffff38')
    expect(status).toBe(0)
    expect(
      data.matches.map(({ keyspace, collection }: Record<string, string>) => `${keyspace}.${collection}`)
    ).toEqual(['liquidity-seed.ticks', 'liquidity-chain.ticks'])
    expect(data.matches[0].spans).toEqual([
      { start: 0, end: 1, hex: '01', text: '0x01' },
      { start: 1, end: 9, hex: '0000000000000001', component: 'pool', codec: 'u64be', text: '1' },
      { start: 9, end: 18, hex: '05ffffffffffffff38', component: 'tick', codec: 'tick9', text: '-200' }
    ])
  })

  it('looks in one keyspace when told to, and takes 0x and capitals', () => {
    const { status, stdout } = quoin(
      'keyspace',
      'explain',
      '0x027C616263647C317C31',
      '--space',
      'liquidity-chain'
    )
    expect(status).toBe(0)
    expect(stdout).toContain('liquidity-chain.positionsByOwner')
    expect(stdout).toMatch(/owner +hex +abcd/)
  })

  it('of a key that fits nothing, names the nearest and where it departs: exit 1', () => {
    const { status, stdout } = quoin('keyspace', 'explain', '027c61627c3001', '--space', 'liquidity-chain')
    expect(status).toBe(1)
    expect(stdout).toContain('fits nothing')
    expect(stdout).toContain(
      "Nearest: liquidity-chain.positionsByOwner: byte 6 is 01, where '|' (the literal '|') must stand."
    )
    expect(json('keyspace', 'explain', '00').data).toMatchObject({
      found: false,
      matches: [],
      nearest: { offset: 0 }
    })
  })
})

describe('quoin keyspace doc', () => {
  it('is what docs/keys.md holds: run `npx quoin keyspace doc > docs/keys.md` when it is stale', () => {
    expect(readFileSync(join(ROOT, 'docs/keys.md'), 'utf8')).toBe(quoin('keyspace', 'doc').stdout)
  })
})

describe('quoin keyspace doc --json', () => {
  it('has every collection as data', () => {
    const { status, data } = json('keyspace', 'doc')
    expect(status).toBe(0)
    const chain = data.find(({ name }: { name: string }) => name === 'liquidity-chain')
    expect(chain.collections[0]).toMatchObject({
      name: 'ticks',
      key: '{0x01}{pool}{tick}',
      parts: [
        { literal: '01' },
        { component: 'pool', codec: 'u64be', walksBy: 'value' },
        { component: 'tick', codec: 'tick9', walksBy: 'value' }
      ],
      minLength: 18,
      maxLength: 18,
      scans: [{ components: [] }, { components: ['pool'], order: 'tick numeric' }],
      holds: 'TickInfo'
    })
  })
})

describe('quoin keyspace diff', () => {
  it('shows what changed between the profiles of liquidity', () => {
    const { status, stdout } = quoin('keyspace', 'diff', 'liquidity-seed', 'liquidity-chain')
    expect(status).toBe(0)
    expect(stdout).toContain('  - {0x02}/{owner}/{pool}/{position}\n  + {0x02}|{owner}|{pool}|{position}')
    expect(stdout).toContain('    walked by owner lexicographic, then pool as text')
    expect(stdout).toContain('    walks by owner by the byte after it, then pool by the byte after it')
    expect(stdout).toContain('6 the same, 7 changed, 1 only in liquidity-seed, 8 only in liquidity-chain')
  })

  it('exits 1 on a difference only when asked to', () => {
    expect(quoin('keyspace', 'diff', 'liquidity-seed', 'liquidity-chain', '--exit-code').status).toBe(1)
    expect(quoin('keyspace', 'diff', 'outputs', 'outputs', '--exit-code').status).toBe(0)
    expect(json('keyspace', 'diff', 'outputs', 'outputs').data.same).toBe(true)
  })
})

describe('quoin keyspace audit', () => {
  it('of an unsound layout prints the witness and exits 1', () => {
    const { status, stdout } = quoin('keyspace', 'audit', EXAMPLE)
    expect(status).toBe(1)
    expect(stdout).toContain('also catches owner=a1b2 pool=10')
    expect(stdout).toContain('also found  02 7c 61 31 62 32 7c 31 30\n')
  })

  it('as JSON has the findings', () => {
    const { status, data } = json('keyspace', 'audit', EXAMPLE)
    expect(status).toBe(1)
    expect(data.sound).toBe(false)
    expect(data.findings).toMatchObject([
      { property: 'P2', collections: ['positions'], witness: ['027c613162327c31', '027c613162327c3130'] }
    ])
  })

  it('of a sound layout exits 0, from standard input too', () => {
    const example = JSON.parse(readFileSync(EXAMPLE, 'utf8'))
    const sound = JSON.stringify({ ...example, collections: example.collections.slice(0, 1) })
    expect(quoin('keyspace', 'audit', file('sound.json', sound)).status).toBe(0)
    const { status, stdout } = spawnSync(process.execPath, [BIN, 'keyspace', 'audit', '-'], {
      encoding: 'utf8',
      input: sound
    })
    expect(status).toBe(0)
    expect(stdout).toContain('example: sound')
  })

  it('of a malformed file exits 2 with the code and the path in the JSON', () => {
    const bad = file('bad.json', { name: 'x', collections: [{ name: 'c', key: [{ u65be: 'a' }] }] })
    const { status, stderr } = quoin('keyspace', 'audit', bad)
    expect(status).toBe(2)
    expect(stderr).toContain('$.collections[0].key[0]')
    expect(stderr).toContain('ERR_AUDIT_FORMAT')
    const asJson = json('keyspace', 'audit', bad)
    expect(asJson.status).toBe(2)
    expect(asJson.data.error).toMatchObject({ code: 'ERR_AUDIT_FORMAT', path: '$.collections[0].key[0]' })
  })

  it('of a file that is not UTF-8, or has no end, exits 2', () => {
    const latin1 = join(folder, 'latin1.json')
    writeFileSync(latin1, Buffer.from('{"name":"é","collections":[]}', 'latin1'))
    expect(quoin('keyspace', 'audit', latin1)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('not UTF-8')
    })
    expect(quoin('keyspace', 'audit', '/dev/zero')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('at most')
    })
  })

  it('of a file that is too large exits 2', () => {
    const { status, stderr } = quoin('keyspace', 'audit', file('large.json', ' '.repeat(5 * 1024 * 1024)))
    expect(status).toBe(2)
    expect(stderr).toContain('ERR_FILE')
  })
})
