/** Code blocks and links of documentation pages. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './node.testing.ts'

export interface Block {
  readonly language: string
  readonly code: string
  /** The `text` block after it; empty without one. */
  readonly output: string
}

export const blocksOf = (page: string): Block[] => {
  const all = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
  return all.map(([, language = '', code = ''], i) => ({
    language,
    code,
    output: all[i + 1]?.[1] === 'text' ? all[i + 1]![2]! : ''
  }))
}

/** Relative links of a page to files that do not exist. */
export const brokenLinks = (page: string): string[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)]
    .map(([, target]) => target!)
    .filter(target => !existsSync(join(ROOT, page, '..', target)))
