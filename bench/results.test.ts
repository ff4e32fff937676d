/** Results in READMEs are those that are saved, and a comparison tells a slower commit from noise. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { changeLine, changeOf } from './compare.ts'
import { findBenches } from './find.ts'
import { processorTimes } from './processor-time.ts'
import { benchesIn, pagesOf, type Result, saveResult, withTables } from './results.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const result: Result = {
  bench: 'keyspace',
  command: 'npm run bench -- keyspace --quick --save',
  machine: { node: 'v20.20.2', cpu: 'a processor', cores: 2, commit: 'abc1234' },
  rows: [
    { case: 'encode', ours: 1234.56789, peer: 2469, peerName: 'x', ratio: 2, unit: 'ns/op', spread: 1 },
    { case: 'prove', ours: 7, peer: null, peerName: null, ratio: null, unit: 'ms/op', spread: 1 }
  ],
  sheets: [{ name: 'growth', columns: ['engine', 'us'], rows: [['lmdb', 1.5]] }]
}

describe('the tables of READMEs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-results-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bench'))
  saveResult(folder, result)
  const page = '# Layer\n\n<!-- bench: keyspace -->\n\nMore.\n'

  const written = withTables(page, folder)

  it('stand between their lines, and are replaced there', () => {
    expect(written).toBe(`# Layer

<!-- bench: keyspace -->

| case | ours | peer | ratio | unit |
|---|---|---|---|---|
| encode | 1,235 | 2,469 (x) | 2 | ns/op |
| prove | 7 |  |  | ms/op |

growth:

| engine | us |
|---|---|
| lmdb | 1.5 |

\`npm run bench -- keyspace --quick --save\` on node v20.20.2, a processor, 2 cores, commit abc1234.

<!-- /bench -->

More.
`)
    expect(withTables(written, folder)).toBe(written)
  })

  it('are empty without a result', () => {
    const without = page.replace('keyspace', 'store')
    expect(withTables(without, folder)).toBe(without)
    expect(withTables(written.replace('keyspace -->', 'store -->'), folder)).toBe(
      '# Layer\n\n<!-- bench: store -->\n<!-- /bench -->\n\nMore.\n'
    )
  })

  it.each(pagesOf(repository))('%s is current, and names benchmarks (npm run bench:tables)', path => {
    const text = readFileSync(join(repository, path), 'utf8')
    const names = [...findBenches(join(repository, 'packages')).keys()]
    for (const bench of benchesIn(text)) expect(names).toContain(bench)
    expect(withTables(text, repository)).toBe(text)
  })
})

describe('a comparison with a commit', () => {
  it('is slower when every run takes longer, beyond 5 %', () => {
    expect(changeOf('a', [100, 104, 102], [120, 110, 115])).toMatchObject({
      verdict: 'slower',
      ratio: 115 / 102
    })
    expect(changeOf('a', [100, 104, 102], [80, 90, 85])).toMatchObject({ verdict: 'faster' })
  })

  it('is the same when runs overlap, or differ by less', () => {
    expect(changeOf('a', [100, 130, 102], [120, 110, 125])).toMatchObject({
      verdict: 'same',
      spread: 1500 / 102
    })
    expect(changeOf('a', [100, 101, 102], [103, 104, 105])).toMatchObject({ verdict: 'same' })
  })

  it('says so in a line', () => {
    expect(changeLine(changeOf('encode', [100, 104, 102], [120, 110, 115])).replaceAll(/ +/g, ' ')).toBe(
      'encode 102 115 1.13x ±4.3% slower'
    )
  })
})

it('processor time is of our side alone, and of the work alone', async () => {
  let peerCalls = 0
  const spin = (): number => {
    let sum = 0
    for (let i = 0; i < 100_000; i++) sum += i
    return sum
  }
  const times = await processorTimes(
    [
      {
        kind: 'repeated',
        name: 'spin',
        unit: 'us/op',
        ops: 1,
        peerNames: ['idle'],
        works: async () => [spin, () => peerCalls++]
      },
      { kind: 'figure', name: 'bytes', unit: 'B/op', peerNames: [], values: async () => [1] }
    ],
    { perCase: 200, minRounds: 1, deadline: Number.POSITIVE_INFINITY },
    () => performance.now()
  )
  expect(times).toEqual([{ case: 'spin', microseconds: expect.any(Number) }])
  expect(times[0]!.microseconds).toBeGreaterThan(1)
  expect(peerCalls).toBe(0)
})
