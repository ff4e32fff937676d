/** The tables of the README, from the declarations. `npx vitest run packages/store/src/readme.test.ts -u` writes them. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Engine, Manifest } from './engine.ts'
import { ENGINES } from './engines.testing.ts'
import { CONDITIONS, OPERATIONS, type StepSpec } from './operations.ts'

const README = new URL('../README.md', import.meta.url)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')

const steps = (declared: Readonly<Record<string, StepSpec>>): string =>
  table(
    ['', 'code', 'arguments', ''],
    Object.entries(declared).map(([name, { code, args, about, answers }]) => [
      `\`${name}\``,
      String(code),
      args.join(', '),
      answers ? `${about} Answers the ${answers}.` : about
    ])
  )

const cell = (value: boolean | string): string => (typeof value === 'string' ? value : value ? 'yes' : '')

const manifests = async (): Promise<string> => {
  const engines: Engine[] = []
  for (const [name, harness] of Object.entries(ENGINES)) {
    if (name === 'model') continue
    await harness.start?.()
    const engine = await harness.open()
    engines.push(engine)
    await engine.close()
    await harness.stop?.()
  }
  const features = Object.keys(engines[0]!.manifest) as (keyof Manifest)[]
  return table(
    ['', ...engines.map(({ name }) => `\`${name}\``)],
    features.map(feature => [feature, ...engines.map(({ manifest }) => cell(manifest[feature]))])
  )
}

it('lists all conditions and operations, and the features of engines', async () => {
  const tables: Readonly<Record<string, string>> = {
    conditions: steps(CONDITIONS),
    operations: steps(OPERATIONS),
    manifests: await manifests()
  }
  let text = readFileSync(README, 'utf8')
  for (const [name, content] of Object.entries(tables)) {
    const block = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`)
    expect(text).toMatch(block)
    text = text.replace(block, (_, start, end) => `${start}${content}\n${end}`)
  }
  await expect(text).toMatchFileSnapshot('../README.md')
})
