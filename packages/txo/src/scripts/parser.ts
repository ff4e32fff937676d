/** What a parser of output scripts is given, and what it answers. */
import type { Transaction } from '@quoin/chain'
import type { Outpoint } from '@quoin/primitives'
import type { ScriptView } from './view.ts'

export interface ScriptContext {
  readonly outpoint: Outpoint
  readonly script: Uint8Array
  readonly satoshis: number
  /** The transaction of the output. SIGMA signs over one of its inputs, and without it no such signature is valid. */
  readonly transaction?: Transaction | undefined
}

export interface ParseResult {
  /** Which parser found it, and the name of the field that keeps the data: `dt:{tag}`. */
  readonly tag: string
  /** Plain JSON. Bytes are hexadecimal, amounts of tokens are decimal text. */
  readonly data: unknown
  /** Events, each of a type in `scriptEvents`. */
  readonly events: readonly string[]
  /** Mainnet addresses of those who can spend the output, or could take it back. */
  readonly owners: readonly string[]
}

export interface ScriptParser {
  readonly tag: string
  readonly about: string
  /** Undefined when the script is none of the parser's. Never throws, whatever the script is. */
  parse(view: ScriptView, context: ScriptContext): Omit<ParseResult, 'tag'> | undefined
}

/** Most parsers say no events, or know no owners. */
export const NONE: readonly string[] = []
