/**
 * Plays seeded histories and compares what comes of them: `npm run sim -- [txo | bsv21 | feeding] [options]`, one after the other
 * unless one is named. The options are those of each: `--seeds N --from K --steps N`.
 */
import { spawnSync } from 'node:child_process'

const SIMULATIONS = {
  txo: ['packages/txo/src/simulation/run.ts'],
  bsv21: ['packages/bsv21/src/simulation/run.ts'],
  feeding: ['packages/bsv21/src/simulation/run.ts', '--play', 'feeding', '--seeds', '100']
}

const [first, ...rest] = process.argv.slice(2)
const isNamed = Object.hasOwn(SIMULATIONS, first ?? '')
const options = isNamed ? rest : process.argv.slice(2)
for (const name of isNamed ? [first] : Object.keys(SIMULATIONS)) {
  process.stdout.write(`${name}\n`)
  const { status } = spawnSync(
    process.execPath,
    ['--import', './scripts/typescript.mjs', ...SIMULATIONS[name], ...options],
    {
      stdio: 'inherit'
    }
  )
  if (status !== 0) process.exit(status ?? 1)
}
