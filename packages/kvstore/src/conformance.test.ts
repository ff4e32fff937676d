/** Every requirement of BRC-35 has a test, and docs/brc-35.md is current. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { conformancePage, requirements, titles } from './conformance.testing.ts'

it('every requirement has a test of its section, and that test is there', () => {
  const known = titles()
  const missing = requirements().flatMap(({ section, requirement, tests }) => [
    ...(tests.length === 0 ? [`${section}: ${requirement}`] : []),
    ...tests.filter(title => !known.has(title)).map(title => `${section}: ${requirement} ${title}`)
  ])
  expect(missing).toEqual([])
})

it('every section with requirements is among them', () => {
  const sections = new Set(requirements().map(({ section }) => section))
  expect([...sections]).toEqual(
    '2.1 2.2 2.3 3.1 3.2 3.3 3.4 3.5 3.6 4.2 4.3 4.4 4.5 4.6 4.7 5 6.2 6.3 Security A B C D E'.split(' ')
  )
})

it('docs/brc-35.md is current: npx tsx packages/kvstore/src/conformance.testing.ts > docs/brc-35.md', () => {
  const page = new URL('../../../docs/brc-35.md', import.meta.url)
  expect(readFileSync(page, 'utf8')).toBe(conformancePage())
})
