/** The two faces of a row: a JSON line for programs, a line of an aligned table for people. */

import type { Case } from './harness.ts'
import type { Row } from './schedule.ts'

/** More digits than a measurement deserves, few enough to read. */
function rounded(value: number | null): number | null {
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

function digits(value: number, count: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: count })
}

const none = '-'
const numberWidth = 11
const shortWidth = 8

/** Widths come from the names, which are known before any result: rows can be printed as they arrive. */
export function table(cases: readonly Case[]): { head: string; line: (row: Row) => string } {
  const caseWidth = Math.max('case'.length, ...cases.map(({ name }) => name.length))
  const peerWidth = Math.max('peer name'.length, ...cases.flatMap(c => c.peerNames.map(name => name.length)))
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
