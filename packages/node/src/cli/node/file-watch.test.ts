/** Watched files: a change is reported once, as editors make them, and a touch is none. */
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FileWatch } from './file-watch.ts'

let folder: string
let watch: FileWatch
let changes: string[][]
let problems: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quoin-watch-'))
  changes = []
  problems = []
  watch = new FileWatch(
    files => void changes.push([...files].map(path => basename(path)).sort()),
    (_, reason) => void problems.push(reason)
  )
})
afterEach(() => {
  watch.close()
  rmSync(folder, { recursive: true })
})
const at = (name: string): string => join(folder, name)

it('reports changes, replaced files and created ones', async () => {
  writeFileSync(at('a.ts'), '1')
  writeFileSync(at('b.ts'), '1')
  watch.add([at('a.ts'), at('b.ts')])
  writeFileSync(at('a.ts'), '2')
  writeFileSync(at('b.ts'), '2')
  await expect.poll(() => changes.flat().sort()).toEqual(['a.ts', 'b.ts'])
  writeFileSync(at('temporary'), '3')
  renameSync(at('temporary'), at('a.ts'))
  await expect.poll(() => changes.at(-1)).toEqual(['a.ts'])
  writeFileSync(at('c.ts'), '')
  await expect.poll(() => changes.at(-1)).toEqual(['c.ts'])
})

it('reports no touch: the next report has only the file that changed', async () => {
  writeFileSync(at('a.ts'), '1')
  writeFileSync(at('b.ts'), '1')
  watch.add([at('a.ts'), at('b.ts')])
  utimesSync(at('a.ts'), new Date(), new Date())
  writeFileSync(at('a.ts'), '1')
  writeFileSync(at('b.ts'), '2')
  await expect.poll(() => changes).toEqual([['b.ts']])
})

it('reports a file that is gone when it is back with another content', async () => {
  writeFileSync(at('a.ts'), '1')
  writeFileSync(at('b.ts'), '1')
  watch.add([at('a.ts')])
  rmSync(at('a.ts'))
  writeFileSync(at('b.ts'), '2')
  await expect.poll(() => changes).toEqual([['b.ts']])
  writeFileSync(at('a.ts'), '2')
  await expect.poll(() => changes.at(-1)).toEqual(['a.ts'])
})

it('reports a directory that cannot be watched', () => {
  watch.add([at('none/a.ts')])
  expect(problems).toEqual([expect.stringContaining('ENOENT')])
})
