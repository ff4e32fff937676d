/** Layouts that are too large to prove as a whole: the audit decides the rest, and does not call them sound. */
import { expect, it } from 'vitest'
import { auditLayout } from './audit.ts'
import { layoutOf } from './file/parse.ts'

it('an audit lists the decisions that are too large, and makes the others', () => {
  const layout = layoutOf({
    name: 'x',
    collections: [
      { name: 'small', key: ['s', { decimal: 'n', max: 12 }], scans: [['n']] },
      {
        name: 'large',
        key: ['l', { text: 'x', except: ':', max: 300 }, ':', { text: 'y', max: 300 }],
        scans: [['x']]
      }
    ]
  })
  const report = auditLayout(layout, { limit: 5000 })
  expect(report.sound).toBe(false)
  expect(report.findings).toMatchObject([{ property: 'P2', collections: ['small'] }])
  expect(report.undecided).toContainEqual({ property: 'P2', decisions: 1, collections: ['large'] })
  // Nothing is found, and nothing is proved.
  const large = { ...layout, subjects: layout.subjects.slice(1) }
  expect(auditLayout(large, { limit: 5000 })).toMatchObject({ sound: false, findings: [] })
  expect(auditLayout(large)).toMatchObject({ sound: true, undecided: [] })
})

it('a layout of many overlapping collections ends with the first findings', () => {
  const collections = Array.from({ length: 60 }, (_, i) => ({ name: `c${i}`, key: [{ u8: 'n' }] }))
  const report = auditLayout({ name: 'x', subjects: layoutOf({ name: 'x', collections }).subjects })
  expect(report.sound).toBe(false)
  expect(report.findings.length).toBeGreaterThanOrEqual(1000)
  expect(report.undecided).toMatchObject([{ property: 'P3', decisions: (60 * 59) / 2 - 1000 }])
})
