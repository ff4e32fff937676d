import { expect, it } from 'vitest'
import { ProgressPrinter } from './progress.ts'

const printed = (isTerminal: boolean) => {
  let time = 0
  let fraction: number | undefined
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const progress = new ProgressPrinter({ write, isTerminal, fraction: () => fraction, clock: () => time })
  return {
    update: (at: number, doing: 'reading' | 'indexing', done: number, part?: number): void => {
      time = at
      fraction = part
      progress.update({ doing, done })
    },
    end: () => progress.end(),
    text: () => text
  }
}

it('is a line every few seconds in a log, and one at the beginning of each phase', () => {
  const { update, end, text } = printed(false)
  update(0, 'reading', 10_000, 0.001)
  update(4_999, 'reading', 400_000, 0.4)
  update(5_000, 'reading', 410_000, 0.419)
  update(5_001, 'indexing', 10_000)
  end()
  expect(text().split('\n')).toEqual([
    'reading: 10,000 rows, 0 % of the file',
    'reading: 410,000 rows, 82,000 a second, 41 % of the file',
    'indexing: 10,000 positions',
    ''
  ])
})

it('is one line on a terminal, which is removed at the end', () => {
  const { update, end, text } = printed(true)
  update(0, 'reading', 10_000)
  update(50, 'reading', 20_000)
  update(2_000, 'reading', 30_000)
  end()
  expect(text().split('\r\u001b[K')).toEqual([
    '',
    'reading: 10,000 rows',
    'reading: 30,000 rows, 15,000 a second',
    ''
  ])
})
