/** A witness for the terminal: both keys byte by byte, their components below, and the bytes that they share marked. */
import { type Colour, paint } from '@quoin/primitives/command'
import type { Finding } from '../proof/findings.ts'
import type { ExplainedSpan } from '../span.ts'

const COLOURS: readonly Colour[] = ['cyan', 'yellow', 'magenta', 'green', 'blue']
/** Longer keys are cut in the middle of the picture; their components are printed whole. */
const MAX_BYTES = 40

/** The lines of a witness, each indented. */
export const witnessLines = ({ decoded, shared = 0, witness, property }: Finding): readonly string[] => {
  if (!decoded) return witness.map(key => `  ${key}`)
  const [first, second] = decoded
  const same = witness[0] === witness[1]
  const labels = LABELS[property] ?? ['one', 'other']
  const width = Math.max(...labels.map(label => label.length))
  const row = (label: string, { spans }: { readonly spans: readonly ExplainedSpan[] }): string[] => [
    `  ${label.padEnd(width)}  ${hexOf(spans)}`,
    `  ${' '.repeat(width)}  ${valuesOf(spans)}`
  ]
  const mark =
    shared > 0
      ? [
          `  ${' '.repeat(width)}  ${paint('red', marks(shared, longest(decoded)))} ${sharedText(shared, same)}`
        ]
      : []
  return [...row(labels[0], first), ...mark, ...row(labels[1], second)]
}

const LABELS: Readonly<Record<string, readonly [string, string]>> = {
  P1: ['one reading', 'another'],
  P2: ['asked for', 'also found'],
  P3: ['one key', 'another'],
  P4: ['smaller value', 'sorts before'],
  P6: ['one owner', 'another'],
  P7: ['one key', 'another']
}

const longest = (keys: readonly { readonly spans: readonly ExplainedSpan[] }[]): number =>
  Math.min(MAX_BYTES, Math.max(...keys.map(({ spans }) => spans.at(-1)?.end ?? 0)))

const marks = (shared: number, length: number): string =>
  Array.from({ length: Math.min(shared, length) }, () => '^^').join(' ')

const sharedText = (shared: number, same: boolean): string =>
  same ? 'the same bytes' : `${shared} ${shared === 1 ? 'byte' : 'bytes'} alike`

/** The bytes of a key two digits each, the components in colours. */
const hexOf = (spans: readonly ExplainedSpan[]): string => {
  let shown = 0
  const cells = spans.map(({ hex, component }, i) => {
    const bytes = hex.match(/../g) ?? []
    const cut = bytes.slice(0, Math.max(0, MAX_BYTES - shown))
    shown += bytes.length
    return paint(component === undefined ? 'dim' : COLOURS[i % COLOURS.length]!, cut.join(' '))
  })
  return `${cells.filter(Boolean).join(' ')}${shown > MAX_BYTES ? ` … (${shown} bytes)` : ''}`
}

const valuesOf = (spans: readonly ExplainedSpan[]): string =>
  spans
    .map(({ component, text }, i) =>
      component === undefined
        ? paint('dim', text)
        : paint(COLOURS[i % COLOURS.length]!, `${component}=${shortened(text) || '(empty)'}`)
    )
    .join(' ')

const shortened = (text: string): string =>
  text.length > 48 ? `${text.slice(0, 24)}…${text.slice(-12)}` : text
