/**
 * Vectors of the chain's keeper (osmosis v31), as facts: random programs with the raw store after each operation, keys,
 * and arithmetic. Numbers are decimal text, keys and values hexadecimal.
 */
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

/** One operation of a program: its arguments, the chain's result, and the rows that the chain wrote or deleted. */
export interface Operation {
  readonly op: string
  /** The block time, in nanoseconds. */
  readonly now: string
  readonly result: Readonly<Record<string, unknown>>
  /** Null for a deleted row. */
  readonly rows: Readonly<Record<string, string | null>>
  /** The arguments, by the names that each operation has. */
  readonly [argument: string]: unknown
}

export interface Program {
  readonly seed: number
  /** The last pools whose accumulators are not scaled. */
  readonly thresholdIncentive: string
  readonly thresholdSpread: string
  readonly ops: readonly Operation[]
}

/** Rows of a raw store: hexadecimal value by hexadecimal key. */
export type RawState = Map<string, string>

const lines = <T>(name: string): T[] =>
  brotliDecompressSync(readFileSync(new URL(`../fixtures/chain/${name}.jsonl.br`, import.meta.url)))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

export const chainPrograms = (): Program[] => lines('programs')
export const chainKeys = (): Readonly<Record<string, string | number>>[] => lines('keys')
export const chainMath = (): Readonly<Record<string, string | boolean>>[] => lines('math')

/** Next ids and thresholds, which the chain has before its first operation. */
const GENESIS_KEYS = ['07', '12', '15', '16']

/** The rows before the first operation of a program, which creates a pool. */
export const genesisOf = ({ ops }: Program): RawState =>
  new Map(GENESIS_KEYS.map(key => [key, ops[0]!.rows[key]!]))

/** Changes a state by the rows of an operation. */
export const applyRows = (state: RawState, { rows }: Operation): void => {
  for (const [key, value] of Object.entries(rows)) {
    if (value === null) state.delete(key)
    else state.set(key, value)
  }
}
