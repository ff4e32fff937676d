/** `quoin init` and `quoin doctor` as a script runs them, without a terminal. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Commands } from './node.testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'quoin-cli-operate-'))
const commands = new Commands(folder)
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true })
})

it('init asks nothing without a terminal, and says what it needs', async () => {
  expect(await commands.run(['init'])).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('expected quoin init mainnet | testnet | development [ERR_USAGE]')
  })
})

it('init writes a file that doctor takes, and serve runs', async () => {
  const made = await commands.run(['init', 'development', '--port', '0', '--store', 'memory:', '--no-check'])
  expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining('next: quoin serve quoin.yaml') })
  const { status, stdout } = await commands.run(['doctor', 'quoin.yaml', '--json'])
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { healthy: true, errors: 0 }])
  const node = await commands.serve(['serve', 'quoin.yaml'])
  expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
  expect(await commands.stop(node)).toBe(0)
})
