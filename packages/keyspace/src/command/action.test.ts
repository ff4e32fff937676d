/** The GitHub Action: its script, with the built command in the place of the registry's. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'quoin-action-'))
afterAll(() => rmSync(folder, { recursive: true }))

const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'))

const run = (files: string) => {
  const [step] = action.runs.steps
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${folder}:${process.env['PATH']}`,
      FILES: files,
      VERSION: 'latest',
      SARIF: 'sarif'
    }
  })
}

it('fails for unsound, malformed and absent layouts, and leaves a SARIF file for each that could be read', () => {
  const shim = join(folder, 'npx')
  writeFileSync(shim, `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${ROOT}bin/keyspace.js' "$@"\n`)
  chmodSync(shim, 0o755)
  const layout = (key: object) =>
    JSON.stringify({ name: 'x', collections: [{ name: 'c', key: ['k', key], scans: [['n']] }] })
  writeFileSync(join(folder, 'sound.json'), layout({ u64be: 'n' }))
  expect(run('sound.json')).toMatchObject({ status: 0, stdout: '' })
  writeFileSync(join(folder, 'unsound.json'), layout({ decimal: 'n' }))
  writeFileSync(join(folder, 'zbad.json'), '{')
  expect(run('unsound.json')).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('n=1 (prefix 6b31)')
  })
  const all = run('*.json')
  expect(all).toMatchObject({ status: 2, stderr: expect.stringContaining('ERR_AUDIT_FORMAT') })
  const reports = readdirSync(join(folder, 'sarif')).sort()
  expect(reports).toEqual(['1.sarif', '2.sarif'])
  const results = reports.map(
    name => JSON.parse(readFileSync(join(folder, 'sarif', name), 'utf8')).runs[0].results.length
  )
  expect(results).toEqual([0, 1])
  expect(run('none*.json').status).toBe(2)
  expect(Object.keys(action.inputs)).toEqual(['files', 'version', 'sarif'])
})
