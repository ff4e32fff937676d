/** The interface of a parser of output scripts. */
import type { Transaction } from '@quoin/chain'
import type { Outpoint } from '@quoin/primitives'
import type { ScriptView } from './view.ts'

export interface ScriptContext {
  readonly outpoint: Outpoint
  readonly script: Uint8Array
  readonly satoshis: number
  /** The transaction of the output. SIGMA signs over one of its inputs, and is invalid without it. */
  readonly transaction?: Transaction | undefined
}

export interface ParseResult {
  /** The tag of the parser, and of the field that keeps the data: `dt:{tag}`. */
  readonly tag: string
  /** Plain JSON. Bytes are hexadecimal, amounts of tokens are decimal text. */
  readonly data: unknown
  /** Events, each of a type in `scriptEvents`. */
  readonly events: readonly string[]
  /** Mainnet addresses that can spend the output or cancel its sale. */
  readonly owners: readonly string[]
}

export interface ScriptParser {
  readonly tag: string
  readonly about: string
  /** Undefined for a script of another protocol. Never throws. */
  parse(view: ScriptView, context: ScriptContext): Omit<ParseResult, 'tag'> | undefined
}

/** The events or owners of most parsers. */
export const NONE: readonly string[] = []
