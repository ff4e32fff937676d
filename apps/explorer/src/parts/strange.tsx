/**
 * Untrusted text, always as a text node. Characters that would reorder, hide or break the text around them are shown
 * by their numbers, and its length on the page is bounded.
 */
import { useState } from 'preact/hooks'
import { count } from '../format.ts'

/** Control, format, private and unpaired characters, line separators, and stacked combining marks. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]|(?<=\p{M}{2})\p{M}/u
const LINES = /[\n\t]/
const STEP = 20_000

interface Run {
  readonly text: string
  readonly unseen: boolean
}

/** Runs of plain text, and single characters that are shown by number. */
export const runsOf = (text: string, keepLines: boolean): readonly Run[] => {
  const runs: Run[] = []
  let plain = ''
  for (const [at, char] of splitted(text)) {
    const isLine = keepLines && LINES.test(char)
    const before = text.slice(Math.max(0, at - 4), at)
    if (isLine || !UNSEEN.test(/\p{M}/u.test(char) ? before + char : char)) plain += char
    else {
      if (plain !== '') runs.push({ text: plain, unseen: false })
      plain = ''
      runs.push({
        text: `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
        unseen: true
      })
    }
  }
  if (plain !== '') runs.push({ text: plain, unseen: false })
  return runs
}

function* splitted(text: string): Generator<readonly [number, string]> {
  let at = 0
  for (const char of text) {
    yield [at, char]
    at += char.length
  }
}

/** The cut does not split a surrogate pair. */
const cut = (text: string, length: number): string =>
  /[\ud800-\udbff]$/.test(text.slice(0, length)) ? text.slice(0, length - 1) : text.slice(0, length)

interface StrangeProps {
  readonly text: string
  /** The limit on characters at first. */
  readonly most?: number
  /** Keeps line breaks. */
  readonly lines?: boolean
  /** As a block, with line breaks. */
  readonly block?: boolean
}

export const Strange = ({ text, most = 120, block = false, lines = block }: StrangeProps) => {
  const [shown, setShown] = useState(most)
  if (text === '') return <span class="quiet">(empty)</span>
  const visible = cut(text, shown)
  const rest = text.length - visible.length
  const runs = runsOf(visible, lines).map((run, i) =>
    run.unseen ? (
      <span key={i} class="unseen" title="a character that cannot be seen">
        {run.text}
      </span>
    ) : (
      run.text
    )
  )
  const Tag = block ? 'pre' : 'span'
  return (
    <Tag class={block ? 'strange block' : 'strange'}>
      <bdi>{runs}</bdi>
      {rest > 0 && (
        <>
          <span class="quiet">…</span>{' '}
          {block ? (
            <button type="button" class="small" onClick={() => setShown(shown + STEP)}>
              Show more of {count(rest)} characters
            </button>
          ) : (
            <span class="quiet">({count(rest)} more)</span>
          )}
        </>
      )}
    </Tag>
  )
}
