/** The files of a module: what a change of any of them has to load again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { localImports } from './import-graph.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-imports-'))
afterAll(() => rmSync(folder, { recursive: true }))
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
}
const importsOf = (name: string): string[] =>
  [...localImports(join(folder, name))].map(path => relative(folder, path)).sort()

it('are its relative imports, in each form, from file to file', () => {
  write({
    'entry.ts': `import a from './a.js'\nimport './b'\nexport * from "./nested"\nconst c = require('./c.cjs')
      const d = await import('./d.mjs')\nimport type { E } from '../outside/none.js'\nimport sdk from '@bsv/sdk'
      import data from './data.json' with { type: 'json' }\nimport dep from './node_modules/dep/index.js'`,
    'a.ts': `import './entry.js'\nimport './deep/f.js'`,
    'b.mts': '',
    'nested/index.ts': '',
    'c.cjs': '',
    'd.mjs': '',
    'data.json': '{}',
    'deep/f.ts': `import '../a.js'`,
    'unrelated.ts': '',
    'node_modules/dep/index.js': ''
  })
  expect(importsOf('entry.ts')).toEqual(
    ['a.ts', 'b.mts', 'c.cjs', 'd.mjs', 'data.json', 'deep/f.ts', 'entry.ts', 'nested/index.ts'].sort()
  )
})

it('of a file that is absent is the file itself, which may come', () => {
  expect(importsOf('absent.ts')).toEqual(['absent.ts'])
})
