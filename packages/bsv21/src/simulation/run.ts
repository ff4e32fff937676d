/**
 * Plays many seeds through the token pipeline: `npm run sim -- bsv21 [--seeds N] [--from K] [--steps N]
 * [--engine NAME]`; or feeds nodes with each history by different ways: `npm run sim -- feeding`. Prints those that fail, and what happened how often in the others.
 */
import { parseArgs } from 'node:util'
import { feed } from './feeding.testing.ts'
import { ENGINES, type SimulationEngine, SimulationFailure, simulate } from './simulation.testing.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    steps: { type: 'string', default: '60' },
    engine: { type: 'string', default: 'memory' },
    play: { type: 'string', default: 'bsv21' }
  }
})
const number = (name: 'seeds' | 'from' | 'steps'): number => {
  const text = values[name]
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new Error(`--${name} is a whole number, not ${text}`)
}
const isEngine = (name: string): name is SimulationEngine => ENGINES.some(each => each === name)
const { engine } = values
if (!isEngine(engine)) throw new Error(`--engine is one of ${ENGINES.join(', ')}, not ${engine}`)
const print = (text: string): unknown => process.stdout.write(text)

const [first, count, steps] = [number('from'), number('seeds'), number('steps')]
const counts = new Map<string, number>()
let failures = 0
for (let seed = first; seed < first + count; seed++) {
  try {
    const played = values.play === 'feeding' ? feed(seed, { steps }) : simulate(seed, { steps, engine })
    for (const [name, times] of await played) {
      counts.set(name, (counts.get(name) ?? 0) + times)
    }
  } catch (error) {
    if (!(error instanceof SimulationFailure)) throw error
    failures++
    print(
      `\n${error.message}\nagain: npm run sim -- ${values.play} --seeds 1 --from ${seed} --steps ${steps} --engine ${engine}\n`
    )
  }
  const done = seed - first + 1
  if (done % 50 === 0 || done === count) print(`${done} of ${count} seeds, ${failures} failed\n`)
}
for (const [name, times] of [...counts].sort()) print(`${String(times).padStart(9)}  ${name}\n`)
process.exit(failures > 0 ? 1 : 0)
