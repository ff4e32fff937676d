/**
 * The `@example` blocks of doc comments, as modules that check themselves. An example sees the exports of its own package
 * and imports all others. A line `expression // value` states the value, as `util.inspect` prints it, with `…` for any
 * text; `expression // throws CODE` states an error. An example that uses `wallet` is given a BRC-100 wallet.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'

const PACKAGES = fileURLToPath(new URL('../packages/', import.meta.url))
const COMMENT = /\/\*\*([\s\S]*?)\*\//g
const EXPORTED = /^\s*export (?:abstract )?(?:async )?(?:const|class|function|interface) (\w+)/

export interface DocExample {
  readonly package: string
  /** `packages/store/src/store.ts: openStore`; a comment at the top of a file belongs to the file. */
  readonly title: string
  readonly code: string
}

const codeOf = (comment: string): string[] =>
  comment
    .replaceAll(/^ *\* ?/gm, '')
    .split(/^@example\b.*$/m)
    .slice(1)
    .map(block => block.split(/^@\w/m)[0]!.trim())

export const docExamples = (): DocExample[] =>
  readdirSync(PACKAGES).flatMap(folder => {
    const { name } = JSON.parse(readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'))
    const files = readdirSync(join(PACKAGES, folder, 'src'), { recursive: true, encoding: 'utf8' })
    return files
      .filter(path => /(?<!\.(test|testing|bench|d))\.ts$/.test(path) && !path.includes('fixtures/'))
      .flatMap(path => {
        const text = readFileSync(join(PACKAGES, folder, 'src', path), 'utf8')
        return [...text.matchAll(COMMENT)].flatMap(match => {
          const [, exported] = EXPORTED.exec(text.slice(match.index + match[0].length)) ?? []
          const title = `packages/${folder}/src/${path}${exported ? `: ${exported}` : ''}`
          return codeOf(match[1]!).map(code => ({ package: name, title, code }))
        })
      })
  })

/** Statements have no value to state. */
const STATED = /^(?!(?:const|let|for|if|return|import|\/\/)\b)(.*[^\s:]) \/\/ (.+)$/

/** The source of a module whose default export runs the example. */
export const moduleOf = ({ package: own, code }: DocExample, exported: readonly string[]): string => {
  const lines = code.split('\n')
  const imports = lines.filter(line => line.startsWith('import '))
  const body = lines
    .filter(line => !line.startsWith('import '))
    .map(line => {
      const [, expression, value] = STATED.exec(line) ?? []
      if (expression === undefined || value === undefined) return line
      const [, error] = /^throws (\w+)$/.exec(value) ?? []
      return error
        ? `await throwsCode(async () => ${expression}, '${error}')`
        : `check(${expression}, ${JSON.stringify(value)})`
    })
  const used = exported.filter(
    name => new RegExp(`(?<![.\\w'"])${name}\\b`).test(code) && !imports.some(line => line.includes(name))
  )
  return [
    ...(used.length > 0 ? [`import { ${used.join(', ')} } from '${own}'`] : []),
    ...imports,
    "import type { WalletInterface } from '@bsv/sdk'",
    'type Check = (value: unknown, expected: string) => void',
    'type ThrowsCode = (work: () => unknown, code: string) => Promise<void>',
    'export default async (check: Check, throwsCode: ThrowsCode, wallet: WalletInterface): Promise<void> => {',
    '  void [check, throwsCode, wallet]',
    ...body.map(line => `  ${line}`),
    '}',
    ''
  ].join('\n')
}

/** Whether a value prints as an example states. */
export const isPrinted = (value: unknown, expected: string): boolean => {
  const text = inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 5 })
  const parts = expected.split('…').map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
