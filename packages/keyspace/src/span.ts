/** The parts of a key with their bytes and values, as plain data. */
import { toHex } from '@quoin/primitives'
import type { ParsedKey, Span } from './layout.ts'
import { printable } from './notation.ts'

export interface ExplainedSpan {
  readonly start: number
  readonly end: number
  readonly hex: string
  /** The component's name; undefined for a literal. */
  readonly component?: string
  readonly codec?: string
  /** The value as text for people, or the text of a literal. */
  readonly text: string
}

const explainSpan = (key: Uint8Array, { part, start, end }: Span): ExplainedSpan => {
  const bytes = key.subarray(start, end)
  const hex = toHex(bytes)
  if (part.kind === 'literal') return { start, end, hex, text: printable(bytes) }
  const { name, codec } = part.component
  return {
    start,
    end,
    hex,
    component: name,
    codec: codec.name,
    text: codec.show(codec.read(key, start, end))
  }
}

export const spansOf = ({ key, spans }: ParsedKey): readonly ExplainedSpan[] =>
  spans.map(span => explainSpan(key, span))
