/** Every requirement of BRC-35 is shown by an assertion, and docs/brc-35.md is current. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { conformancePage, evidence, faults, requirements, sectionOf } from './conformance.testing.ts'

it('every requirement is shown by an assertion with its id, or says why not', () => {
  expect(faults(requirements(), evidence())).toEqual([])
})

it('a title is no evidence, a verdict needs its reason, and an assertion needs its row', () => {
  const row = { id: '9-1', level: 'MUST', requirement: 'A token is round.', verdict: 'met' } as const
  expect(faults([row], new Map())).toEqual(['no assertion shows 9-1: A token is round.'])
  const shown = new Map([['9-1', []]])
  expect(faults([row], shown)).toEqual([])
  expect(faults([{ ...row, verdict: 'deviates' }], shown)).toEqual(['9-1 deviates without a reason'])
  expect(faults([{ ...row, why: 'so' }], shown)).toEqual(['9-1 is met, and has a reason'])
  expect(faults([], shown)).toEqual(['an assertion shows 9-1, which is no row'])
})

it('every section with requirements is among them', () => {
  expect([...new Set(requirements().map(sectionOf))]).toEqual(
    '2.1 2.2 2.3 3.1 3.2 3.3 3.4 3.5 3.6 4.2 4.3 4.4 4.5 4.6 4.7 5 6.2 6.3 Security A B C D E'.split(' ')
  )
})

it('docs/brc-35.md is current: npx tsx packages/kvstore/src/conformance.testing.ts > docs/brc-35.md', () => {
  const page = new URL('../../../docs/brc-35.md', import.meta.url)
  expect(readFileSync(page, 'utf8')).toBe(conformancePage())
})
