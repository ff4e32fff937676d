import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Case, Cost, Race, RepeatedCase, Row, Sheet } from './case.ts'
import { findBenches } from './find.ts'
import { suite } from './harness.ts'
import { measure, takeTurns } from './measure.ts'
import { peer } from './peer.ts'
import { jsonLine, sheetJsonLines, sheetLines, table } from './report.ts'
import { costRows, costSamples, rowsOf, runCases, share } from './schedule.ts'
import { mean, median, spread } from './stats.ts'
import { fromNanoseconds, ratio } from './unit.ts'

/** A clock that moves only when work does, so that nothing here depends on the machine. */
function fakeTime() {
  let now = 0
  const log: string[] = []
  return {
    clock: () => now,
    log,
    work: (name: string, milliseconds: number) => () => {
      log.push(name)
      now += milliseconds
    },
    asyncWork: (name: string, milliseconds: number) => async () => {
      await Promise.resolve()
      log.push(name)
      now += milliseconds
    }
  }
}

function aCase(fields: Partial<RepeatedCase>): RepeatedCase {
  const works = async () => []
  return { kind: 'repeated', name: 'encode', unit: 'ns/op', ops: 1, peerNames: [], works, ...fields }
}

function aRace(fields: Partial<Race>): Race {
  const nothing = async () => []
  const common = { name: 'ingest', unit: 'ops/s', ops: 1, peerNames: [] } as const
  return { kind: 'race', ...common, slices: 1, works: nothing, after: nothing, ...fields }
}

describe('statistics', () => {
  it('takes the middle of an odd number of samples, whatever their order', () => {
    expect(median([9, 1, 100])).toBe(9)
  })

  it('takes the mean of the two in the middle of an even number', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('gives the spread as half the interquartile range in percent of the median', () => {
    expect(spread([50, 10, 30, 20, 40])).toBeCloseTo(((40 - 20) / 2 / 30) * 100)
  })

  it('is not moved by an outlier', () => {
    expect(median([10, 10, 10, 10, 5000])).toBe(10)
    expect(spread([10, 10, 10, 10, 5000])).toBe(0)
  })

  it('counts an outlier in the mean', () => {
    expect(mean([10, 10, 40])).toBe(20)
  })

  it('has no spread for a single sample, no median and no mean for none', () => {
    expect(spread([7])).toBeNull()
    expect(() => median([])).toThrow('no samples')
    expect(() => mean([])).toThrow('no samples')
  })
})

describe('units', () => {
  it('gives a ratio above 1 when ours takes less time', () => {
    expect(ratio('ns/op', 50, 100)).toBe(2)
    expect(ratio('ms/op', 100, 50)).toBe(0.5)
  })

  it('gives a ratio above 1 when ours takes less room', () => {
    expect(ratio('B/op', 50, 100)).toBe(2)
    expect(ratio('MB', 100, 50)).toBe(0.5)
  })

  it('gives a ratio above 1 when ours has the higher rate', () => {
    expect(ratio('ops/s', 100, 50)).toBe(2)
    expect(ratio('ops/s', 50, 100)).toBe(0.5)
  })

  it('converts from nanoseconds per operation', () => {
    expect(fromNanoseconds('ns/op', 2000)).toBe(2000)
    expect(fromNanoseconds('us/op', 2000)).toBe(2)
    expect(fromNanoseconds('ms/op', 2_000_000)).toBe(2)
    expect(fromNanoseconds('ops/s', 2000)).toBe(500_000)
  })
})

describe('measuring', () => {
  it('interleaves: everyone once per round, each round started by the next one', async () => {
    const { clock, log, work } = fakeTime()
    const works = [work('a', 10), work('b', 10), work('c', 10)]
    const samples = await measure(works, { budget: 0, minRounds: 4 }, clock)
    expect(samples.map(({ length }) => length)).toEqual([4, 4, 4])
    expect(log.slice(-12).join('')).toBe('abc' + 'bca' + 'cab' + 'abc')
  })

  it('interleaves asynchronous work just the same, and waits for it', async () => {
    const { clock, log, asyncWork } = fakeTime()
    const works = [asyncWork('a', 10), asyncWork('b', 10)]
    const samples = await measure(works, { budget: 0, minRounds: 2 }, clock)
    expect(samples).toEqual([
      [10, 10],
      [10, 10]
    ])
    expect(log.slice(-4).join('')).toBe('ab' + 'ba')
  })

  it('makes each sample last 10 ms and reports milliseconds per call', async () => {
    const { clock, log, work } = fakeTime()
    const samples = await measure([work('a', 2), work('b', 0.5)], { budget: 0, minRounds: 1 }, clock)
    expect(samples).toEqual([[2], [0.5]])
    expect(log.slice(-25).join('')).toBe('a'.repeat(5) + 'b'.repeat(20))
  })

  it('warms up for a fifth of the budget and measures until it is spent', async () => {
    const { clock, log, work } = fakeTime()
    const [samples] = await measure([work('a', 10)], { budget: 1000, minRounds: 1 }, clock)
    expect(samples).toHaveLength(80)
    expect(log).toHaveLength(100)
  })

  it('calls work that exceeds the budget only to warm up, to calibrate and for one sample', async () => {
    const { clock, log, work } = fakeTime()
    await measure([work('a', 5000)], { budget: 100, minRounds: 1 }, clock)
    expect(log).toEqual(['a', 'a', 'a'])
  })

  it('does not take the cost of a first call for the cost of all', async () => {
    const { clock, work } = fakeTime()
    const first = work('first', 5000)
    const later = work('later', 1)
    let called = false
    const lazy = () => {
      if (called) return later()
      called = true
      return first()
    }
    expect(await measure([lazy], { budget: 100, minRounds: 1 }, clock)).toEqual([[1]])
  })

  it('calls the works of a race in turn, once per slice and not to warm up', async () => {
    const { clock, log, work, asyncWork } = fakeTime()
    const samples = await takeTurns([work('a', 10), asyncWork('b', 30), work('c', 5)], 2, clock)
    expect(log.join('')).toBe('abc' + 'bca')
    expect(samples).toEqual([
      [10, 10],
      [30, 30],
      [5, 5]
    ])
  })
})

describe('suite', () => {
  const works = { ours: () => 1, peers: { x: () => 2, y: () => 3 } }
  const worksOf = async (each: Case | undefined) => (each as RepeatedCase | Race).works()

  it('registers a comparison with ours first, and measures nothing', async () => {
    const { cases } = await suite(({ compare }) =>
      compare('encode', { unit: 'ns/op', ops: 5, ...works })
    ).plan('quick')
    expect(cases).toMatchObject([{ name: 'encode', unit: 'ns/op', ops: 5, peerNames: ['x', 'y'] }])
    expect((await worksOf(cases[0])).map(work => work())).toEqual([1, 2, 3])
  })

  it('registers a case per size, and makes its work only when it is its turn', async () => {
    const made: number[] = []
    const make = (size: number) => {
      made.push(size)
      return () => size
    }
    const { cases } = await suite(({ growth }) => {
      growth('prove', [50, 200], make, { unit: 'ms/op', of: 'collections' })
      growth('sort', [7], make, { unit: 'ms/op' })
    }).plan('quick')
    expect(cases.map(({ name }) => name)).toEqual(['prove 50 collections', 'prove 200 collections', 'sort 7'])
    expect(made).toEqual([])
    expect((await worksOf(cases[1]))[0]!()).toBe(200)
    expect(made).toEqual([200])
  })

  it('prepares a comparison when it is its turn', async () => {
    const prepared: string[] = []
    const prepare = async () => prepared.push('x')
    const { cases } = await suite(({ compare }) =>
      compare('read', { unit: 'us/op', prepare, ...works })
    ).plan('normal')
    expect(prepared).toEqual([])
    expect(await worksOf(cases[0])).toHaveLength(3)
    expect(prepared).toEqual(['x'])
  })

  it('makes the sides of a race one after the other, ours first, when it is its turn', async () => {
    const made: string[] = []
    const make = (name: string) => async () => {
      made.push(name)
      return () => name
    }
    const { cases } = await suite(({ race }) =>
      race('ingest', { unit: 'ops/s', slices: 3, ours: make('a'), peers: { b: make('b'), c: make('c') } })
    ).plan('normal')
    expect(cases).toMatchObject([{ kind: 'race', slices: 3, ops: 1, peerNames: ['b', 'c'] }])
    expect(made).toEqual([])
    expect((await worksOf(cases[0])).map(work => work())).toEqual(['a', 'b', 'c'])
    expect(made).toEqual(['a', 'b', 'c'])
  })

  it('tells the suite its scale, and passes on its notes and its progress', async () => {
    const heard: string[] = []
    const plan = suite(({ compare, note, progress, scale, quick }) => {
      compare('encode', { unit: 'ns/op', ...works })
      note('over loopback')
      progress(`${scale} ${quick}`)
    }).plan
    expect((await plan('full', text => heard.push(text))).notes).toEqual(['over loopback'])
    await plan('quick', text => heard.push(text))
    expect(heard).toEqual(['full false', 'quick true'])
  })

  it('closes what the suite has opened, the last first, each once', async () => {
    const closed: string[] = []
    const { close } = await suite(({ compare, after }) => {
      compare('encode', { unit: 'ns/op', ...works })
      after(() => closed.push('server'))
      after(async () => closed.push('store'))
    }).plan('quick')
    await close()
    await close()
    expect(closed).toEqual(['store', 'server'])
  })

  it('closes what a suite has opened that cannot be defined', async () => {
    const closed: string[] = []
    const broken = suite(({ after }) => {
      after(() => closed.push('server'))
      throw new Error('boom')
    })
    await expect(broken.plan('quick')).rejects.toThrow('boom')
    expect(closed).toEqual(['server'])
  })

  it('refuses two cases of one name, a comparison with nothing, and an empty suite', async () => {
    const twice = suite(({ compare }) => {
      compare('encode', { unit: 'ns/op', ...works })
      compare('encode', { unit: 'ns/op', ...works })
    })
    const lonely = suite(({ compare }) => compare('encode', { unit: 'ns/op', ours: () => 1, peers: {} }))
    await expect(twice.plan('quick')).rejects.toThrow('two cases are named "encode"')
    await expect(lonely.plan('quick')).rejects.toThrow('no peers')
    await expect(suite(() => {}).plan('quick')).rejects.toThrow('no cases')
  })

  it('refuses a peer that is not pinned', async () => {
    await expect(peer('left-pad')).rejects.toThrow('"left-pad" is no peer')
  })
})

describe('rows', () => {
  it('holds one row per peer, per operation, with the spread of the noisier side', () => {
    const samples = [
      [2, 2, 2],
      [4, 4, 4],
      [1, 2, 3]
    ]
    const rows = rowsOf(aCase({ unit: 'us/op', ops: 10, peerNames: ['x', 'y'] }), samples)
    const common = { case: 'encode', ours: 200, unit: 'us/op' }
    expect(rows).toEqual([
      { ...common, peer: 400, peerName: 'x', ratio: 2, spread: 0 },
      { ...common, peer: 200, peerName: 'y', ratio: 1, spread: 25 }
    ])
  })

  it('turns the ratio round for a rate', () => {
    const [row] = rowsOf(aCase({ unit: 'ops/s', peerNames: ['x'] }), [[1], [4]])
    expect(row).toMatchObject({ ours: 1000, peer: 250, ratio: 4 })
  })

  it('takes the mean of the slices of a race, so that the time of a stall counts', () => {
    const race = aRace({ ops: 100, peerNames: ['x'] })
    const [row] = rowsOf(race, [
      [100, 100, 400],
      [400, 400, 400]
    ])
    expect(row).toMatchObject({ ours: 500, peer: 250, ratio: 2 })
  })

  it('has null for all that concerns a peer when there is none', () => {
    const [row] = rowsOf(aCase({}), [[1, 1]])
    expect(row).toMatchObject({ peer: null, peerName: null, ratio: null, spread: 0 })
  })
})

describe('costs', () => {
  const aCost = (fields: Partial<Cost>): Cost => {
    const base = { ops: 10, work: () => undefined }
    const common = {
      name: 'submit',
      unit: 'verifications',
      rounds: 3,
      peerNames: ['at most'],
      most: 4
    } as const
    return { kind: 'cost', ...common, base, ours: async () => base, ...fields }
  }

  it('takes turns with the unit, and states the median of the multiples of the rounds beside the bar', async () => {
    const { clock, log, work } = fakeTime()
    const [first, ...later] = [work('ours', 60), work('ours', 40), work('ours', 40)]
    const works = [first!, ...later]
    const cost = aCost({
      base: { ops: 10, work: work('base', 100) },
      ours: async () => ({ ops: 2, work: () => works.shift()!() })
    })
    const [row] = await costRows(cost, clock)
    expect(log.join(' ')).toBe('base ours ours base base ours')
    expect(row).toMatchObject({ case: 'submit', ours: 2, peer: 4, peerName: 'at most', ratio: 2 })
  })

  it('compares each round with the verifications of that round, and not with those of another frequency', async () => {
    const { clock, work } = fakeTime()
    const slow = [1, 2, 4].map(factor => [work('base', 10 * factor), work('ours', 30 * factor)] as const)
    const [bases, ours] = [slow.map(([base]) => base), slow.map(([, our]) => our)]
    const cost = aCost({
      base: { ops: 1, work: () => bases.shift()!() },
      ours: async () => ({ ops: 1, work: () => ours.shift()!() })
    })
    const [row] = await costRows(cost, clock)
    expect(row).toMatchObject({ ours: 3, spread: 0 })
  })

  it('counts the time of another process by its own meter, for the comparison of commits, too', async () => {
    const { clock, work } = fakeTime()
    let other = 0
    const cost = aCost({
      base: { ops: 10, work: work('base', 100) },
      ours: async () => ({ ops: 5, work: () => (other += 20), meter: () => other })
    })
    expect(await costSamples(cost, clock)).toEqual({ base: [10, 10, 10], ours: [4, 4, 4] })
  })

  it('has no bar unless one is given', async () => {
    const { clock, work } = fakeTime()
    const side = { ops: 1, work: work('x', 10) }
    const cost = aCost({ peerNames: [], most: undefined, base: side, ours: async () => side })
    expect(await costRows(cost, clock)).toMatchObject([{ ours: 1, peer: null, ratio: null }])
  })
})

describe('schedule', () => {
  const silent = { started: () => {}, finished: () => {}, sheet: () => {} }
  const time = { perCase: 3000, minRounds: 1, deadline: 40_000 }

  it('gives a case its part of the time left, but never more than the most a case may have', () => {
    expect(share({ perCase: 3000, deadline: 40_000 }, 0, 20)).toBe(2000)
    expect(share({ perCase: 3000, deadline: 40_000 }, 30_000, 20)).toBe(500)
    expect(share({ perCase: 3000, deadline: 40_000 }, 0, 2)).toBe(3000)
    expect(share({ perCase: 3000, deadline: 40_000 }, 50_000, 2)).toBe(0)
    expect(share({ perCase: 9000, deadline: Number.POSITIVE_INFINITY }, 50_000, 2)).toBe(9000)
  })

  it('names the cases that the deadline left out', async () => {
    const { clock, work } = fakeTime()
    const cases = ['a', 'b', 'c', 'd'].map(name => aCase({ name, works: async () => [work(name, 400)] }))
    const started: string[] = []
    const finished: Row[] = []
    const skipped = await runCases(cases, { perCase: 100, minRounds: 1, deadline: 2000 }, clock, {
      ...silent,
      started: name => started.push(name),
      finished: rows => finished.push(...rows)
    })
    expect(started).toEqual(['a', 'b'])
    expect(finished.map(row => row.case)).toEqual(['a', 'b'])
    expect(skipped).toEqual(['c', 'd'])
  })

  it('names the case that failed and keeps the cause', async () => {
    const cause = new TypeError('boom')
    const cases = [aCase({ works: () => Promise.reject(cause) })]
    const run = runCases(cases, { perCase: 1, minRounds: 1, deadline: 1 }, () => 0, silent)
    await expect(run).rejects.toMatchObject({ message: 'case "encode" failed', cause })
  })

  it('gives a case no more than the seconds it asks for', async () => {
    const { clock, log, work } = fakeTime()
    const cases = [aCase({ seconds: 0.1, works: async () => [work('a', 10)] })]
    await runCases(cases, time, clock, silent)
    expect(log).toHaveLength(10)
  })

  it('runs a race, a figure and a sheet', async () => {
    const { clock, log, work } = fakeTime()
    const rows: Row[] = []
    const sheets: [string, Sheet][] = []
    const sheet = { columns: ['rows'], rows: [[1]] }
    const cases: Case[] = [
      aRace({
        slices: 2,
        ops: 10,
        peerNames: ['x'],
        works: async () => [work('a', 5), work('b', 10)],
        after: async () => log.push('after')
      }),
      { kind: 'figure', name: 'size', unit: 'B/op', peerNames: ['y'], values: async () => [50, 100] },
      { kind: 'sheet', name: 'growth', make: async () => sheet }
    ]
    await runCases(cases, time, clock, {
      ...silent,
      finished: finished => rows.push(...finished),
      sheet: (...made) => sheets.push(made)
    })
    expect(log).toEqual(['a', 'b', 'b', 'a', 'after'])
    expect(rows).toMatchObject([
      { case: 'ingest', ours: 2000, peer: 1000, peerName: 'x', ratio: 2, unit: 'ops/s', spread: 0 },
      { case: 'size', ours: 50, peer: 100, peerName: 'y', ratio: 2, unit: 'B/op', spread: null }
    ])
    expect(sheets).toEqual([['growth', sheet]])
  })

  it('gives back what a race holds when it fails', async () => {
    const log: string[] = []
    const works = () => Promise.reject(new Error('boom'))
    const race = aRace({ works, after: async () => log.push('after') })
    await expect(runCases([race], time, () => 0, silent)).rejects.toThrow('case "ingest" failed')
    expect(log).toEqual(['after'])
  })
})

describe('report', () => {
  // Not in the order of the output, which must come from the report alone.
  const row: Row = {
    spread: 1.5,
    unit: 'ns/op',
    ratio: 2.000000001,
    peerName: 'x',
    peer: 2469.13578,
    ours: 1234.56789,
    case: 'encode'
  }

  it('writes the keys of a JSON line in the promised order', () => {
    expect(jsonLine('keyspace', row)).toBe(
      '{"bench":"keyspace","case":"encode","ours":1234.57,"peer":2469.14,"peerName":"x","ratio":2,' +
        '"unit":"ns/op","spread":1.5}'
    )
  })

  it('writes null, not zero, where there is no peer', () => {
    const alone = { ...row, peer: null, peerName: null, ratio: null, spread: null }
    expect(JSON.parse(jsonLine('keyspace', alone))).toMatchObject({
      peer: null,
      peerName: null,
      ratio: null,
      spread: null
    })
  })

  it('aligns the table', () => {
    const { head, line } = table([
      aCase({ name: 'encode', peerNames: ['x'] }),
      aCase({ name: 'decode a key' })
    ])
    const alone = {
      ...row,
      case: 'decode a key',
      ours: 7,
      peer: null,
      peerName: null,
      ratio: null,
      spread: null
    }
    expect([head, line(row), line(alone)]).toEqual([
      'case                 ours         peer  peer name     ratio    spread  unit',
      'encode              1,235        2,469  x                2x     ±1.5%  ns/op',
      'decode a key            7            -  -                 -         -  ns/op'
    ])
  })

  const sheet: Sheet = {
    columns: ['engine', 'rows', 'us'],
    rows: [
      ['lmdb', 10_000, 1.23456789],
      ['level', 1_000_000, null]
    ]
  }

  it('writes a sheet under its name, numbers to the right', () => {
    expect(sheetLines('growth', sheet)).toEqual([
      'growth',
      'engine       rows     us',
      'lmdb       10,000  1.235',
      'level   1,000,000      -'
    ])
  })

  it('writes a sheet as JSON lines with its columns as keys', () => {
    expect(sheetJsonLines('store', 'growth', sheet)).toEqual([
      '{"bench":"store","sheet":"growth","engine":"lmdb","rows":10000,"us":1.23457}',
      '{"bench":"store","sheet":"growth","engine":"level","rows":1000000,"us":null}'
    ])
  })
})

describe('finding benchmarks', () => {
  let directory: string
  const put = (path: string) => {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), '')
  }
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bench-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('finds them in any folder, by the name of the file', () => {
    for (const path of ['store/b.bench.ts', 'a/deep/a.bench.ts', 'a/a.test.ts']) put(path)
    expect([...findBenches(directory)]).toEqual([
      ['a', join(directory, 'a/deep/a.bench.ts')],
      ['b', join(directory, 'store/b.bench.ts')]
    ])
  })

  it('refuses two files of one name', () => {
    for (const path of ['x/a.bench.ts', 'y/a.bench.ts']) put(path)
    expect(() => findBenches(directory)).toThrow('two benchmarks are named "a"')
  })
})

describe('command', () => {
  const LOADER = './scripts/typescript.mjs'
  const repository = fileURLToPath(new URL('..', import.meta.url))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', LOADER, 'bench/run.ts', ...args], {
      cwd: repository,
      encoding: 'utf8'
    })

  it.each([
    ['a missing name', [], 'NAME is missing'],
    ['an unknown name', ['no-such-bench'], 'no benchmark named "no-such-bench"'],
    ['an unknown option', ['keyspace', '--fast'], "Unknown option '--fast'"],
    ['two names', ['keyspace', 'txo'], 'one NAME at a time'],
    ['--save of some cases', ['keyspace', '--save', '--only', 'x'], '--save and --only exclude each other'],
    ['--quick with --full', ['keyspace', '--quick', '--full'], '--quick and --full exclude each other']
  ])('exits with 2 for %s and lists the names on stderr', (_, args, reason) => {
    const { status, stdout, stderr } = run(...args)
    expect(stderr).toContain(reason)
    expect(stderr).toContain('Names:')
    expect(stdout).toBe('')
    expect(status).toBe(2)
  })

  it('exits with 0 for --help and teaches on stdout', () => {
    const { status, stdout } = run('--help')
    expect(stdout).toContain('npm run bench -- NAME [--quick] [--json]')
    expect(stdout).toContain('Names:')
    expect(status).toBe(0)
  })

  it('ends a process whose main thread is blocked for ever', () => {
    const script = `
      import { endAfter } from './bench/watchdog.ts'
      endAfter(1, 'time is up')
      for (;;) {}`
    const options = { cwd: repository, encoding: 'utf8', timeout: 30_000, killSignal: 'SIGTERM' } as const
    const node = ['--import', LOADER, '--input-type=module', '--eval', script]
    const { signal, stderr } = spawnSync(process.execPath, node, options)
    expect(stderr).toContain('time is up')
    expect(signal).toBe('SIGKILL')
  })
})
