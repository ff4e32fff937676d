/** The command `npm run bench -- NAME`: reads the arguments, runs one benchmark, prints its rows. */

import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import type { Row, Sheet } from './case.ts'
import { compareWith } from './compare.ts'
import { findBenches } from './find.ts'
import type { Scale, Suite } from './harness.ts'
import { describeMachine, machineOf } from './machine.ts'
import { processorTimes } from './processor-time.ts'
import { jsonLine, sheetJsonLines, sheetLines, table } from './report.ts'
import { saveResult } from './results.ts'
import { runCases, type Time } from './schedule.ts'
import { endAfter } from './watchdog.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const source = fileURLToPath(new URL('../packages', import.meta.url))

// performance.now() starts with the process, so a deadline covers loading and setup too.
const clock = (): number => performance.now()
const unhurried: Time = { perCase: 10_000, minRounds: 5, deadline: Number.POSITIVE_INFINITY }
const quick: Time = { perCase: 3_000, minRounds: 1, deadline: 40_000 }
const quickLimit = 55_000

const print = (text: string): boolean => process.stdout.write(`${text}\n`)
const complain = (text: string): boolean => process.stderr.write(`${text}\n`)

function usage(names: readonly string[]): string {
  const example = names[0] ?? 'NAME'
  const examples = [
    ['', 'measure the cases of that benchmark'],
    [' --quick', 'within a minute, less precise'],
    [' --full', 'with the largest sizes, which may take long'],
    [' --only TEXT', 'only the cases with that text in their names'],
    [' --json', 'one JSON object per line, for programs'],
    [' --save', 'write bench/results/NAME.json; then: npm run bench:tables']
  ].map(([option, meaning]) => `  npm run bench -- ${example}${option?.padEnd(14)}${meaning}`)
  return [
    'Usage: npm run bench -- NAME [--quick] [--json] [--full] [--only TEXT] [--save]',
    '       npm run bench -- --compare REF [NAME…] [--rounds N]',
    '',
    'Measures our code against its peers, turn by turn in one process. With --compare: the processor time of the',
    'working tree against that of a commit; the exit code is 1 if a case became slower beyond noise.',
    '',
    ...examples,
    '',
    'Names:',
    ...(names.length === 0
      ? ['  (none: there is no packages/**/NAME.bench.ts)']
      : names.map(name => `  ${name}`))
  ].join('\n')
}

type Arguments = {
  readonly names: readonly string[]
  readonly scale: Scale
  readonly only: string
  readonly json: boolean
  readonly save: boolean
  readonly compare: string | undefined
  readonly rounds: number
  readonly isProcessorTime: boolean
  readonly help: boolean
}

function readArguments(): Arguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      compare: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      // What --compare runs at both commits.
      'processor-time': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  const { quick, full, only, json, save, compare, help } = values
  if (quick && full) throw new Error('--quick and --full exclude each other')
  if (save && only !== '') throw new Error('--save and --only exclude each other: a result has all cases')
  const rounds = Number(values.rounds)
  if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`invalid --rounds: ${values.rounds}`)
  return {
    names: positionals,
    scale: quick ? 'quick' : full ? 'full' : 'normal',
    only,
    json,
    save,
    compare,
    rounds,
    isProcessorTime: values['processor-time'],
    help
  }
}

async function loadSuite(file: string): Promise<Suite> {
  const module: { default?: Partial<Suite> } = await import(pathToFileURL(file).href)
  const plan = module.default?.plan
  if (plan === undefined) throw new Error(`${file} must default-export a suite(…) from bench/harness.ts`)
  return { plan }
}

/** On a terminal one line that each case overwrites, elsewhere a line per case. */
function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

/** The command that reproduces a result. */
function commandOf(name: string, scale: Scale): string {
  return `npm run bench -- ${name}${scale === 'normal' ? '' : ` --${scale}`} --save`
}

async function runBench(name: string, file: string, args: Arguments): Promise<number> {
  const { scale, only, json, save } = args
  const isQuick = scale === 'quick'
  if (isQuick) {
    const seconds = quickLimit / 1000
    endAfter(quickLimit - clock(), `\nbench: --quick ended after ${seconds} s with a case unfinished\n`)
  }
  let running = ''
  const { cases, notes, close } = await (await loadSuite(file)).plan(scale, text =>
    progress(`${running}: ${text}`)
  )
  const chosen = cases.filter(each => each.name.includes(only))
  const rows: Row[] = []
  const sheets: (Sheet & { readonly name: string })[] = []
  const machine = machineOf(repository)
  closeWhenInterrupted(close)
  try {
    if (chosen.length === 0) throw new Error(`no case of "${name}" has "${only}" in its name`)
    const time = isQuick ? quick : unhurried
    if (args.isProcessorTime) {
      for (const each of await processorTimes(chosen, time, clock)) print(JSON.stringify(each))
      return 0
    }
    const { head, line } = table(chosen)
    if (!json) {
      print(`${name}: ${describeMachine(machine)}`)
      print(
        'Medians, of races means; a ratio above 1 means ours is better; spread is half the interquartile range.'
      )
      for (const note of notes) print(note)
      if (chosen.some(each => each.kind !== 'sheet')) print(`\n${head}`)
    }
    const skipped = await runCases(chosen, time, clock, {
      started: (title, index) => {
        running = `[${index + 1}/${chosen.length}] ${title}`
        progress(running)
      },
      finished: found => {
        clearProgress()
        rows.push(...found)
        for (const row of found) print(json ? jsonLine(name, row) : line(row))
      },
      sheet: (title, sheet) => {
        sheets.push({ name: title, ...sheet })
      }
    })
    if (skipped.length === 0) {
      if (save) {
        const result = { bench: name, command: commandOf(name, scale), machine, rows, sheets }
        complain(`bench: saved ${saveResult(repository, result)}`)
      }
      return 0
    }
    complain(`bench: no time was left in --quick for: ${skipped.join(', ')}`)
    return 1
  } finally {
    clearProgress()
    // The finished sheets, also when a later case has failed.
    for (const { name: title, ...sheet } of sheets)
      for (const text of json ? sheetJsonLines(name, title, sheet) : ['', ...sheetLines(title, sheet)])
        print(text)
    await close()
  }
}

let isInterrupted = false

/** Closes servers and files of a benchmark when it is interrupted. */
function closeWhenInterrupted(close: () => Promise<void>): void {
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143]
  ] as const) {
    process.once(signal, () => {
      isInterrupted = true
      clearProgress()
      complain(`bench: ended by ${signal}`)
      close().finally(() => process.exit(status))
    })
  }
}

async function main(): Promise<number> {
  const benches = findBenches(source)
  const help = usage([...benches.keys()])
  const refuse = (reason: string): number => {
    complain(`bench: ${reason}\n\n${help}`)
    return 2
  }
  let args: Arguments
  try {
    args = readArguments()
  } catch (error) {
    // Node adds advice on positional arguments after the first sentence, which misleads here.
    return refuse((error as Error).message.split('. ', 1).join())
  }
  if (args.help) {
    print(help)
    return 0
  }
  for (const name of args.names)
    if (!benches.has(name)) return refuse(`there is no benchmark named "${name}"`)
  if (args.compare !== undefined) {
    const isSame = await compareWith({
      repository,
      ref: args.compare,
      benches: args.names.length > 0 ? args.names : [...benches.keys()],
      rounds: args.rounds,
      print,
      progress: text => (process.stderr.isTTY ? undefined : complain(`bench: ${text}`))
    })
    return isSame ? 0 : 1
  }
  const [name, ...more] = args.names
  if (name === undefined) return refuse('which benchmark? A NAME is missing')
  if (more.length > 0) return refuse(`one NAME at a time; given: ${args.names.join(' ')}`)
  return runBench(name, benches.get(name)!, args)
}

try {
  // Exits even if a benchmark left a database or a timer open.
  process.exit(await main())
} catch (error) {
  clearProgress()
  // Closing fails the measured work, which is of no interest after an interrupt.
  if (!isInterrupted) {
    complain(`bench: failed: ${inspect(error)}`)
    process.exit(1)
  }
}
