/** The file that `quoin init` writes is one that a node reads, and stays one when a person takes the hashes away. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { loadConfig } from '../../server/config.ts'
import { SETTINGS } from '../../server/settings.ts'
import { settingsFile } from './settings-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))
const loaded = (text: string) => {
  const file = join(folder, 'quoin.yaml')
  writeFileSync(file, text)
  return loadConfig({ file }).config
}

const CHOSEN = new Map<string, unknown>([
  ['store', 'memory:'],
  ['adminToken', 'correct: # "horse" battery'.replaceAll(' ', '-')],
  ['peers', { tm_x: ['https://a.example'] }],
  ['limits.rate', 7]
])

it('has the chosen values, and the defaults of all other settings', () => {
  expect(loaded(settingsFile('A node', CHOSEN))).toEqual(
    loadConfig({
      options: {
        store: 'memory:',
        adminToken: 'correct:-#-"horse"-battery',
        peers: 'tm_x=https://a.example',
        'limits.rate': '7'
      }
    }).config
  )
  expect(loaded(settingsFile('A node', new Map([['store', 'memory:']]))).store).toBe('memory:')
})

it('has every setting with its description, also those of groups', () => {
  const text = settingsFile('A node', CHOSEN)
  for (const { path, description } of SETTINGS) {
    expect(text).toContain(`${path.at(-1)}:`)
    expect(text.replaceAll(/\n# +(# )?| +# /g, ' ').replaceAll(/\s+/g, ' ')).toContain(
      description.slice(0, 60)
    )
  }
})

it('is valid when the hash of each setting with a default is taken away', () => {
  for (const chosen of [CHOSEN, new Map([['store', 'lmdb:./x']])]) {
    const text = settingsFile('A node', chosen)
      .split('\n')
      .map(line =>
        line
          .replace(/^( {2})?#(\w+: .+)$/, '$1$2')
          .replace(/^# (\w+:)$/, '$1')
          .replace(/^# {3}(\w+: .+)$/, '  $1')
      )
      .join('\n')
    expect(text).toContain('\njournal: 100000')
    expect(text).toMatch(/^ {2}burst: 1000$/m)
    expect(loaded(text)).toEqual(loaded(settingsFile('A node', chosen)))
  }
})
