/** The command `npm run bench -- NAME`: reads the arguments, runs one benchmark, prints its rows. */

import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { findBenches } from './find.ts'
import type { Suite } from './harness.ts'
import { describeMachine } from './machine.ts'
import { jsonLine, table } from './report.ts'
import { runCases, type Time } from './schedule.ts'
import { endAfter } from './watchdog.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const source = fileURLToPath(new URL('../src', import.meta.url))

// performance.now() starts with the process, so a deadline covers loading and setup too.
const clock = (): number => performance.now()
const full: Time = { perCase: 10_000, minRounds: 5, deadline: Number.POSITIVE_INFINITY }
const quick: Time = { perCase: 3_000, minRounds: 1, deadline: 40_000 }
const quickLimit = 55_000

const print = (text: string): boolean => process.stdout.write(`${text}\n`)
const complain = (text: string): boolean => process.stderr.write(`${text}\n`)

function usage(names: readonly string[]): string {
  const example = names[0] ?? 'NAME'
  const examples = [
    ['', 'measure the cases of that benchmark'],
    [' --quick', 'within a minute, less precise'],
    [' --json', 'one JSON object per line, for programs']
  ].map(([option, meaning]) => `  npm run bench -- ${example}${option?.padEnd(10)}${meaning}`)
  return [
    'Usage: npm run bench -- NAME [--quick] [--json]',
    '',
    'Measures our code against its peers, turn by turn in one process.',
    '',
    ...examples,
    '',
    'Names:',
    ...(names.length === 0 ? ['  (none: there is no src/**/NAME.bench.ts)'] : names.map(name => `  ${name}`))
  ].join('\n')
}

function readArguments(): { names: string[]; quick: boolean; json: boolean; help: boolean } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  return { ...values, names: positionals }
}

async function loadSuite(file: string): Promise<Suite> {
  const module: { default?: Partial<Suite> } = await import(pathToFileURL(file).href)
  const cases = module.default?.cases
  if (cases === undefined) throw new Error(`${file} must default-export a suite(…) from bench/harness.ts`)
  return { cases }
}

/** On a terminal one line that each case overwrites, elsewhere a line per case. */
function progress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

async function runBench(name: string, file: string, isQuick: boolean, json: boolean): Promise<number> {
  if (isQuick) {
    const seconds = quickLimit / 1000
    endAfter(quickLimit - clock(), `\nbench: --quick ended after ${seconds} s with a case unfinished\n`)
  }
  const cases = await (await loadSuite(file)).cases(isQuick)
  const { head, line } = table(cases)
  if (!json) {
    print(`${name}: ${describeMachine(repository)}`)
    print(`Medians; a ratio above 1 means ours is better; spread is half the interquartile range.\n\n${head}`)
  }
  const skipped = await runCases(cases, isQuick ? quick : full, clock, {
    started: (title, index) => progress(`[${index + 1}/${cases.length}] ${title}`),
    finished: rows => {
      clearProgress()
      for (const row of rows) print(json ? jsonLine(name, row) : line(row))
    }
  })
  if (skipped.length === 0) return 0
  complain(`bench: no time was left in --quick for: ${skipped.join(', ')}`)
  return 1
}

async function main(): Promise<number> {
  const benches = findBenches(source)
  const help = usage([...benches.keys()])
  const refuse = (reason: string): number => {
    complain(`bench: ${reason}\n\n${help}`)
    return 2
  }
  let args: ReturnType<typeof readArguments>
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
  const [name, ...more] = args.names
  if (name === undefined) return refuse('which benchmark? A NAME is missing')
  if (more.length > 0) return refuse(`one NAME at a time; given: ${args.names.join(' ')}`)
  const file = benches.get(name)
  if (file === undefined) return refuse(`there is no benchmark named "${name}"`)
  return runBench(name, file, args.quick, args.json)
}

try {
  // Exits even if a benchmark left a database or a timer open.
  process.exit(await main())
} catch (error) {
  clearProgress()
  complain(`bench: failed: ${inspect(error)}`)
  process.exit(1)
}
