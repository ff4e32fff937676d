/**
 * Plays many seeds: `npm run sim -- txo [--seeds N] [--from K] [--seed S] [--steps N] [--variant NAME]`. Prints the
 * command that repeats a failure, and appends it to `simulation-failures.txt`.
 */
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SimulationFailure, simulate, VARIANTS, type Variant, variantOf } from './simulation.testing.ts'

const FAILURES = 'simulation-failures.txt'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    steps: { type: 'string', default: '150' },
    variant: { type: 'string' }
  }
})
const print = (text: string): unknown => process.stdout.write(text)

const number = (name: 'seeds' | 'from' | 'seed' | 'steps', text: string): number => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new Error(`--${name} is a whole number, not ${text}`)
}
const isVariant = (name: string): name is Variant => name in VARIANTS
if (values.variant !== undefined && !isVariant(values.variant)) {
  throw new Error(`--variant is one of ${Object.keys(VARIANTS).join(', ')}, not ${values.variant}`)
}

const steps = number('steps', values.steps)
const first = values.seed === undefined ? number('from', values.from) : number('seed', values.seed)
const count = values.seed === undefined ? number('seeds', values.seeds) : 1
const counts = new Map<string, number>()
const started = Date.now()
let failures = 0

for (let seed = first; seed < first + count; seed++) {
  const variant = values.variant ?? variantOf(seed)
  try {
    for (const [name, times] of await simulate(seed, { steps, variant })) {
      counts.set(name, (counts.get(name) ?? 0) + times)
    }
  } catch (error) {
    if (!(error instanceof SimulationFailure)) throw error
    failures++
    const again = `npm run sim -- txo --seed ${seed} --steps ${steps} --variant ${variant}`
    appendFileSync(FAILURES, `${again}\n`)
    print(`\n${error.message}\nagain: ${again}\n`)
  }
  const done = seed - first + 1
  const seconds = (Date.now() - started) / 1000
  if (process.stdout.isTTY || done % 50 === 0 || done === count) {
    print(
      `${process.stdout.isTTY ? '\r' : ''}${done} of ${count} seeds, ${failures} failed, ${seconds.toFixed(0)} s`
    )
    if (!process.stdout.isTTY) print('\n')
  }
}
print('\n')
for (const [name, times] of [...counts].sort()) print(`${String(times).padStart(9)}  ${name}\n`)
if (failures > 0) print(`\n${failures} seeds failed; they are in ${FAILURES}\n`)
process.exit(failures > 0 ? 1 : 0)
