/** The tables of the README, from the declarations. `npx vitest run packages/store/src/readme.test.ts -u` writes them. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CONDITIONS, OPERATIONS, type Step } from './operations.ts'

const README = new URL('../README.md', import.meta.url)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')

const steps = (declared: Readonly<Record<string, Step>>): string =>
  table(
    ['', 'code', 'arguments', ''],
    Object.entries(declared).map(([name, { code, args, about, answers }]) => [
      `\`${name}\``,
      String(code),
      args.join(', '),
      answers ? `${about} Answers the ${answers}.` : about
    ])
  )

const TABLES: Readonly<Record<string, string>> = {
  conditions: steps(CONDITIONS),
  operations: steps(OPERATIONS)
}

it('lists all conditions and operations', async () => {
  let text = readFileSync(README, 'utf8')
  for (const [name, content] of Object.entries(TABLES)) {
    const block = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`)
    expect(text).toMatch(block)
    text = text.replace(block, (_, start, end) => `${start}${content}\n${end}`)
  }
  await expect(text).toMatchFileSnapshot('../README.md')
})
