/**
 * The conformance table of BRC-35, made of the requirements (conformance.json) and of the tests that name their section:
 *
 *     npx tsx packages/kvstore/src/conformance.testing.ts > docs/brc-35.md
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Requirement {
  /** Of the standard: `3.2`, or an appendix: `A`. */
  readonly section: string
  readonly level: string
  readonly requirement: string
  /** The titles of the tests that show it. */
  readonly tests: readonly string[]
}

const here = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The packages that implement the standard. */
const FOLDERS = ['packages/kvstore/src', 'packages/kvstore-client/src']

export const requirements = (): readonly Requirement[] =>
  JSON.parse(readFileSync(join(here, 'conformance.json'), 'utf8'))

/** Titles of tests that begin with a section, with the file that each is in, from the root of the repository. */
export const titles = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const files = FOLDERS.flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.test.ts'))
      .map(name => `${folder}/${name}`)
      .sort()
  )
  for (const file of files) {
    const source = readFileSync(join(ROOT, file), 'utf8')
    for (const [, , title] of source.matchAll(/(?:\bit\(|\]\)\()\s*(['"`])(§(?:(?!\1).)*)\1/g)) {
      if (!found.has(title!)) found.set(title!, file)
    }
  }
  return found
}

const SECTION: Readonly<Record<string, string>> = {
  Security: 'Security considerations',
  A: 'Appendix A, parsers',
  B: 'Appendix B, emitters',
  C: 'Appendix C, overlay services',
  D: 'Appendix D, wallets',
  E: 'Appendix E, scenarios'
}

export const conformancePage = (): string => {
  const files = titles()
  const rows = requirements()
  const lines = [
    '# BRC-35: what is required, and what shows it',
    '',
    'Made by `npx tsx packages/kvstore/src/conformance.testing.ts > docs/brc-35.md` from the list of requirements and the titles of the',
    'tests; a requirement without a test fails one, and so does a page that is stale. Names in brackets at the end of a title',
    'are those of deviations of the reference, which the test is about.'
  ]
  for (const section of new Set(rows.map(each => each.section))) {
    lines.push(
      '',
      `## ${SECTION[section] ?? `§${section}`}`,
      '',
      '| | requirement | shown by |',
      '|---|---|---|'
    )
    for (const { level, requirement, tests } of rows.filter(each => each.section === section)) {
      const links = tests.map(title => `[${escaped(title)}](../${files.get(title)})`)
      lines.push(`| ${level} | ${escaped(requirement)} | ${links.join('<br>')} |`)
    }
  }
  return `${lines.join('\n')}\n`
}

const escaped = (text: string): string => text.replaceAll(/[|[\]]/g, '\\$&').replaceAll('%', '&#37;')

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(conformancePage())
