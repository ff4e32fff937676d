/** Results as text: JSON lines for programs, aligned tables for people. */

import type { Case, Row, Sheet } from './case.ts'

/** More digits than a measurement deserves, few enough to read. */
export function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(6))
}

export function jsonLine(bench: string, row: Row): string {
  return JSON.stringify({
    bench,
    case: row.case,
    ours: rounded(row.ours),
    peer: rounded(row.peer),
    peerName: row.peerName,
    ratio: rounded(row.ratio),
    unit: row.unit,
    spread: rounded(row.spread)
  })
}

export function digits(value: number, count: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: count })
}

const none = '-'
const numberWidth = 11
const shortWidth = 8

/** Widths come from the names, which are known before any result: rows can be printed as they arrive. */
export function table(cases: readonly Case[]): { head: string; line: (row: Row) => string } {
  const lines = cases.filter(each => each.kind !== 'sheet')
  const caseWidth = Math.max('case'.length, ...lines.map(({ name }) => name.length))
  const peerWidth = Math.max('peer name'.length, ...lines.flatMap(c => c.peerNames.map(name => name.length)))
  const align = (name: string, ours: string, peer: string, peerName: string, ...rest: string[]): string => {
    const [ratio = '', spread = '', unit = ''] = rest
    return [
      name.padEnd(caseWidth),
      ours.padStart(numberWidth),
      peer.padStart(numberWidth),
      peerName.padEnd(peerWidth),
      ratio.padStart(shortWidth),
      spread.padStart(shortWidth),
      unit
    ].join('  ')
  }
  return {
    head: align('case', 'ours', 'peer', 'peer name', 'ratio', 'spread', 'unit'),
    line: row =>
      align(
        row.case,
        digits(row.ours, 4),
        row.peer === null ? none : digits(row.peer, 4),
        row.peerName ?? none,
        row.ratio === null ? none : `${digits(row.ratio, 3)}x`,
        row.spread === null ? none : `±${digits(row.spread, 2)}%`,
        row.unit
      )
  }
}

/** One object for each row, with the columns as keys. */
export function sheetJsonLines(bench: string, name: string, { columns, rows }: Sheet): string[] {
  return rows.map(cells => {
    const named = columns.map((column, i) => {
      const cell = cells[i] ?? null
      return [column, typeof cell === 'number' ? rounded(cell) : cell]
    })
    return JSON.stringify({ bench, sheet: name, ...Object.fromEntries(named) })
  })
}

/** The name, then the table, with numbers to the right. */
export function sheetLines(name: string, { columns, rows }: Sheet): string[] {
  const texts = rows.map(cells =>
    cells.map(cell => (cell === null ? none : typeof cell === 'number' ? digits(cell, 4) : cell))
  )
  const widths = columns.map((column, i) => Math.max(column.length, ...texts.map(cells => cells[i]!.length)))
  const isText = columns.map((_, i) => rows.every(cells => typeof cells[i] === 'string'))
  const aligned = (cells: readonly string[]): string =>
    cells.map((cell, i) => (isText[i] ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return [name, aligned(columns), ...texts.map(aligned)].map(line => line.trimEnd())
}
