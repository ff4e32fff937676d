/** `keyspace audit` on files: references, YAML, places, repairs, SARIF, and the watch. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { auditLayout } from '../audit.ts'
import { layoutOf } from '../file/parse.ts'
import { STORIES } from '../stories.ts'
import { audit } from './audit.ts'
import { loadLayout } from './load.ts'
import { runCommand } from './main.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.restoreAllMocks()
})

const file = (name: string, text: string | object): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text))
  return path
}

const run = async (
  ...args: string[]
): Promise<{ code: typeof process.exitCode; out: string; err: string }> => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand(['audit', ...args])
  const code = process.exitCode
  process.exitCode = undefined
  process.stdout.removeAllListeners('error')
  const all = (spy: typeof out): string => spy.mock.calls.map(([chunk]) => String(chunk)).join('')
  const result = { code, out: all(out), err: all(err) }
  vi.restoreAllMocks()
  return result
}

const UNSOUND = `// The accruals of shares.
{ "name": "shares", /* one collection */
  "collections": [
    { "name": "accrual",
      "key": ["s|", { "text": "denom", "except": "|" }, "|", { "u64be": "epoch" }],
      "scans": [["denom"],
        { "prefix": ["denom"], "trailing": false, "delete": true }] } ] }`

describe('the answer', () => {
  it('has two recognisable keys byte by byte, what they share, the place and the remedies that are proved', async () => {
    const path = file('unsound.json', UNSOUND)
    const { code, out } = await run(path)
    expect(code).toBe(1)
    expect(out).toContain(`${path}:7:9`)
    expect(out).toContain('the delete for denom="gold" (prefix 737c676f6c64) also deletes denom="golden"')
    expect(out).toContain(`
  asked for   73 7c 67 6f 6c 64 7c 00 00 00 00 00 00 00 01
              's|' denom="gold" '|' epoch=1
              ^^ ^^ ^^ ^^ ^^ ^^ 6 bytes alike
  also found  73 7c 67 6f 6c 64 65 6e 7c 00 00 00 00 00 00 00 01
              's|' denom="golden" '|' epoch=1
  works  separator in the prefix: accrual: trailing: false → the prefix with its separator
`)
  })

  it('as JSON has the values, the shared bytes, the place and the remedies', async () => {
    const { out } = await run(file('unsound.json', UNSOUND), '--json')
    const { findings } = JSON.parse(out)
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject({
      property: 'P2',
      scanIndex: 1,
      shared: 6,
      place: expect.stringMatching(/unsound\.json:7:9$/),
      decoded: [
        {
          collection: 'accrual',
          spans: [{ text: "'s|'" }, { component: 'denom', text: '"gold"', start: 2, end: 6 }, {}, {}]
        },
        {
          collection: 'accrual',
          spans: [{}, { component: 'denom', text: '"golden"', start: 2, end: 8 }, {}, {}]
        }
      ]
    })
    expect(findings[0].remedies).toContainEqual({
      remedy: 'separator in the prefix',
      collection: 'accrual',
      change: 'accrual: trailing: false → the prefix with its separator',
      works: true
    })
  })

  it('as SARIF names the line of the scan', async () => {
    const { code, out } = await run(file('unsound.json', UNSOUND), '--sarif')
    expect(code).toBe(1)
    const { version, runs } = JSON.parse(out)
    expect(version).toBe('2.1.0')
    expect(runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual([
      'P1',
      'P2',
      'P3',
      'P4',
      'P5',
      'P6',
      'P7'
    ])
    expect(runs[0].results).toMatchObject([
      { ruleId: 'P2', locations: [{ physicalLocation: { region: { startLine: 7, startColumn: 9 } } }] }
    ])
    const sound = await run(file('sound.json', { name: 'x', collections: [] }), '--sarif')
    expect(sound.code).toBe(0)
    expect(JSON.parse(sound.out).runs[0].results).toEqual([])
  })
})

describe('--fix', () => {
  it('prints a layout that is proved sound, and says what it changed', async () => {
    const { code, out, err } = await run(file('unsound.json', UNSOUND), '--fix')
    expect(code).toBe(1)
    expect(err).toContain('changed: separator in the prefix: accrual: trailing: false')
    expect(err).toContain('the printed layout is proved sound')
    expect(JSON.parse(out).collections[0].scans[1]).toEqual({ prefix: ['denom'], delete: true })
    expect(await run(file('fixed.json', out))).toMatchObject({ code: 0 })
  })

  it.each(Object.entries(STORIES).filter(([property]) => property !== 'P5'))(
    'mends the story of %s',
    async (property, { broken }) => {
      const { out } = await run(file('story.json', broken), '--fix')
      expect(auditLayout(layoutOf(broken)).findings.map(each => each.property)).toContain(property)
      expect(auditLayout(layoutOf(JSON.parse(out))).sound).toBe(true)
    }
  )

  it.each([
    [
      'little-endian order',
      { name: 'f', key: ['f', { u32le: 'file' }], scans: [{ prefix: [], order: 'value' }] },
      'u32be file'
    ],
    [
      'unflipped order',
      { name: 'f', key: ['f', { i64be: 'n', flipped: false }], scans: [{ prefix: [], order: 'value' }] },
      'i64be n'
    ],
    [
      'varint order',
      { name: 'f', key: ['f', { leb128: 'n' }], scans: [{ prefix: [], order: 'value' }] },
      'u64be n'
    ],
    [
      'separator above characters',
      {
        name: 'f',
        key: [{ text: 'n', except: ':' }, ':', { u8: 'k' }],
        scans: [{ prefix: [], order: 'value' }]
      },
      '0x00'
    ],
    [
      'a seek',
      {
        name: 'f',
        key: ['f', { u8: 'a' }, { u64be: 'n' }],
        scans: [{ prefix: ['a'], reverse: true, seek: 'ff' }]
      },
      'the first key after the prefix'
    ],
    ['a truncated digest', { name: 'f', key: ['f', { truncated: 'script', length: 8 }] }, 'all 32 bytes'],
    [
      'a read of some components',
      { name: 'f', key: ['f', { u8: 'a' }, { u8: 'b' }], scans: [{ get: ['a'] }] },
      'a read by a, b'
    ]
  ])('mends %s', async (_, collection, change) => {
    const { out, err } = await run(file('broken.json', { name: 'x', collections: [collection] }), '--fix')
    expect(err).toContain(change)
    expect(auditLayout(layoutOf(JSON.parse(out))).sound).toBe(true)
  })

  it.each([
    [
      'a scan of the whole store',
      [
        { name: 'a', key: ['a/', { u8: 'n' }], scans: [{ all: true }] },
        { name: 'b', key: ['b/', { u8: 'n' }] }
      ],
      "own prefix: a: all keys of the store → keys under 'a/'"
    ],
    [
      'the order of lengths',
      [{ name: 'a', key: ['a/', { lengthPrefixed: 'n' }], scans: [{ prefix: [], order: 'value' }] }],
      'terminator: a: lengthPrefixed n → fdb n'
    ]
  ])('mends %s', async (_, collections, changed) => {
    const { out, err } = await run(file('two.json', { name: 'x', collections }), '--fix')
    expect(err).toContain(changed)
    expect(auditLayout(layoutOf(JSON.parse(out))).sound).toBe(true)
  })

  it('says what is left when no known remedy works', async () => {
    const open = {
      name: 'x',
      collections: [{ name: 'c', key: [{ optional: 'o', of: { alphabet: 'a', characters: 'x', min: 0 } }] }]
    }
    const { code, err } = await run(file('open.json', open), '--fix')
    expect(code).toBe(1)
    expect(err).toContain('left: P1 c: key')
    expect(err).toContain('no known remedy works against 1 finding')
  })
})

describe('files', () => {
  const OWNER = {
    definitions: { owner: { bytes: 'owner', length: 20 } },
    name: 'common',
    collections: [{ name: 'names', key: ['n/', { text: 'name' }] }]
  }

  it('refer to parts, collections and whole layouts of other files, and findings point there', async () => {
    mkdirSync(join(folder, 'parts'), { recursive: true })
    file('parts/common.json', OWNER)
    const main = file('main.json', {
      name: 'main',
      collections: [
        {
          name: 'balances',
          key: ['b/', { $ref: 'parts/common.json#/definitions/owner' }],
          scans: [['owner']]
        },
        { $ref: 'parts/common.json' },
        { name: 'again', key: { $ref: 'parts/common.json#/collections/names/key' } }
      ]
    })
    const { code, out } = await run(main, '--json')
    expect(code).toBe(1)
    const report = JSON.parse(out)
    expect(report.collections.map(({ key }: { key: string }) => key)).toEqual([
      'b/{owner}',
      'n/{name}',
      'n/{name}'
    ])
    expect(report.findings[0].place).toBe(`${join(folder, 'parts/common.json')}:1:87`)
  })

  it('are refused with the path of a reference that leads nowhere, in circles, or out of this text', async () => {
    const refused = async (collections: unknown[], rest = {}) =>
      (await run(file('refs.json', { name: 'x', collections, ...rest }))).err
    expect(await refused([{ $ref: '#/definitions/none' }])).toContain(
      '$.collections.$ref: /definitions/none leads nowhere'
    )
    expect(await refused([{ $ref: 'absent.json' }])).toContain('cannot read')
    const loop = { definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } } }
    expect(await refused([{ name: 'c', key: [{ $ref: '#/definitions/a' }] }], loop)).toContain(
      'a reference to itself'
    )
  })

  it('may be YAML, with places', async () => {
    const yaml = file(
      'layout.yaml',
      `# The same in YAML.
name: pools
collections:
  - name: ticks
    key: ["t", { decimal: pool }, { raw: "7c" }, { i64be: tick }]
    scans:
      - [pool]
      - { prefix: [pool], trailing: false }
`
    )
    const { code, out } = await run(yaml)
    expect(code).toBe(1)
    expect(out).toContain(`${yaml}:8:9`)
    expect(out).toContain('pool=1 (prefix 7431) also catches pool=10')
    expect((await run(file('bad.yaml', 'name: [x'))).err).toContain('is not YAML')
    expect((await run(file('twice.yml', 'name: x\nname: y\n'))).code).toBe(2)
  })

  it('with a name twice, a comma too many or a comment without an end are refused at their place', () => {
    const refusal = (text: string): string => {
      try {
        loadLayout(file('strict.json', text))
      } catch (error) {
        return (error as Error).message
      }
      return 'taken'
    }
    expect(refusal('{ "name": "x", "name": "y" }')).toBe('$.name: the name is twice in the object')
    expect(refusal('{ "name": "x",\n  "collections": [], }')).toContain('not JSON: "}" at 2:22')
    expect(refusal('{} /* ')).toContain('not JSON')
    expect(refusal('[01]')).toContain('a comma or ]')
    expect(refusal(`${'['.repeat(100)}${']'.repeat(100)}`)).toContain('64 values within each other')
    expect(refusal('{ "__proto__": 1, "name": "x", "collections": [] }')).toContain('$.__proto__: unknown')
  })
})

describe('--explain', () => {
  it.each(['P1', 'p2', 'P3', 'P4', 'P5', 'P6', 'P7'])('teaches %s with a real bug', async property => {
    const { code, out } = await run('--explain', property)
    expect(code).toBe(0)
    const { where, story } = STORIES[property.toUpperCase() as 'P1']
    expect(out).toContain(where)
    expect(out.replaceAll('\n', ' ')).toContain(story)
    expect(out).toContain('Sound:')
    if (property !== 'P5') expect(out).toMatch(/\^\^ .*alike|\^\^ .*same bytes/)
  })

  it('refuses an unknown property, and a missing file', async () => {
    expect(await run('--explain', 'P9')).toMatchObject({
      code: 2,
      err: expect.stringContaining('known: P1, P2')
    })
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('missing argument') })
    expect(await run('x.json', '--sarif', '--fix')).toMatchObject({
      code: 2,
      err: expect.stringContaining('choose one')
    })
  })
})

it('--watch audits again at each change, of a referenced file too, and survives a malformed one', async () => {
  file('watched-part.json', { definitions: { key: ['a', { decimal: 'n' }] } })
  const main = file('watched.json', {
    name: 'watched',
    collections: [{ name: 'c', key: { $ref: 'watched-part.json#/definitions/key' }, scans: [['n']] }]
  })
  const printed: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation(chunk => {
    printed.push(String(chunk))
    return true
  })
  const prints = (text: string): Promise<void> =>
    vi.waitFor(() => expect(printed.join('')).toContain(text), 20_000)
  const end = new AbortController()
  const watching = audit(main, undefined, { watch: true, signal: end.signal })
  await prints('watched: unsound, 1 finding')
  file('watched-part.json', '{ "definitions": ')
  await prints('ERR_AUDIT_FORMAT')
  file('watched-part.json', { definitions: { key: ['a', { u64be: 'n' }] } })
  await prints('watched: sound')
  end.abort()
  expect(await watching).toBe(0)
})
