/** Saved results, `bench/results/NAME.json`, and their tables in the READMEs of layers and in `docs`. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row, Sheet } from './case.ts'
import { describeMachine, type Machine } from './machine.ts'
import { digits, rounded } from './report.ts'

export type Result = {
  readonly bench: string
  readonly command: string
  readonly machine: Machine
  readonly rows: readonly Row[]
  readonly sheets: readonly (Sheet & { readonly name: string })[]
}

const START = /^<!-- bench: ([\w-]+) -->$/
const END = '<!-- /bench -->'

const pathOf = (repository: string, bench: string): string =>
  join(repository, 'bench/results', `${bench}.json`)

export function saveResult(repository: string, result: Result): string {
  const path = pathOf(repository, result.bench)
  mkdirSync(join(path, '..'), { recursive: true })
  const round = (_: string, value: unknown): unknown => (typeof value === 'number' ? rounded(value) : value)
  writeFileSync(path, `${JSON.stringify(result, round, 2)}\n`)
  return path
}

function readResult(repository: string, bench: string): Result | undefined {
  const path = pathOf(repository, bench)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Result) : undefined
}

/** The READMEs of packages and apps, and the pages of `docs`. */
export function pagesOf(repository: string): string[] {
  const readmes = ['packages', 'apps'].flatMap(folder =>
    readdirSync(join(repository, folder))
      .map(name => join(folder, name, 'README.md'))
      .filter(path => existsSync(join(repository, path)))
  )
  const pages = readdirSync(join(repository, 'docs')).filter(name => name.endsWith('.md'))
  return [...readmes, ...pages.map(name => join('docs', name))]
}

/** The benchmarks whose tables a page contains. */
export function benchesIn(page: string): string[] {
  return page.split('\n').flatMap(line => START.exec(line)?.[1] ?? [])
}

/** The page with its tables, each between the line `<!-- bench: NAME -->` and the line `<!-- /bench -->`. */
export function withTables(page: string, repository: string): string {
  const lines = page.split('\n')
  const written: string[] = []
  for (let at = 0; at < lines.length; at++) {
    written.push(lines[at]!)
    const [, bench] = START.exec(lines[at]!) ?? []
    if (bench === undefined) continue
    const next = lines.findIndex((line, i) => i > at && (line === END || START.test(line)))
    const hasEnd = lines[next] === END
    if (hasEnd) at = next
    const result = readResult(repository, bench)
    if (result) written.push('', ...tables(result), '')
    if (result || hasEnd) written.push(END)
  }
  return written.join('\n')
}

function tables({ rows, sheets, machine, command }: Result): string[] {
  return [
    ...(rows.length > 0 ? [...markdown(rowSheet(rows)), ''] : []),
    ...sheets.flatMap(sheet => [`${sheet.name}:`, '', ...markdown(sheet), '']),
    `\`${command}\` on ${describeMachine(machine)}.`
  ]
}

function rowSheet(rows: readonly Row[]): Sheet {
  const columns = ['case', 'ours', 'peer', 'ratio', 'unit']
  return {
    columns,
    rows: rows.map(row => [
      row.case,
      row.ours,
      row.peer === null ? null : `${digits(row.peer, 4)} (${row.peerName})`,
      row.ratio === null ? null : digits(row.ratio, 3),
      row.unit
    ])
  }
}

function markdown({ columns, rows }: Sheet): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const text = (cell: string | number | null): string =>
    cell === null ? '' : typeof cell === 'number' ? digits(cell, 4) : cell.replaceAll('|', '\\|')
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(cells => line(cells.map(text)))]
}
