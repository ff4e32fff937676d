/**
 * The commands of docs/operate run, in a directory with a node, its settings and the database of an overlay-express. `npm run
 * test:docs` runs all pages, and `npm test` the one on backups. docs/operate/deploy.md has a test of its own.
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { formatTxid, toHex } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { oneSat, serve, type TestService } from '../packages/chain/src/headers/services.testing.ts'
import { makeKey, payTo, spend, withKeyHash } from '../packages/chain/src/verify/test-chain.testing.ts'
import { openKnex } from '../packages/overlay-storage/src/knex-storage.testing.ts'
import { blocksOf, brokenLinks } from './docs.testing.ts'
import { BIN, Commands, ROOT, type RunningNode } from './node.testing.ts'

const isWhole = process.env['QUOIN_DOCS'] === 'all'
const PAGES = readdirSync(join(ROOT, 'docs/operate')).map(name => join('docs/operate', name))
/** In the order in which the directory is used. */
const RUN = PAGES.filter(page => !page.endsWith('deploy.md') && (isWhole || page.endsWith('back-up.md')))

const TOKEN = 'correct-horse-battery-staple'
const folder = mkdtempSync(join(tmpdir(), 'quoin-docs-operate-'))
const commands = new Commands(folder)
const chain = new DevChain()
const key = makeKey('operate')
let headers: TestService
let node: RunningNode
let port = '0'

const start = async (): Promise<void> => {
  node = await commands.serve(['serve', 'quoin.yaml', '--port', port])
  port = new URL(node.url).port
}

beforeAll(async () => {
  const mined = spend({
    inputs: [{ from: chain.fund(payTo(key), 5000), vout: 0, unlock: withKeyHash(key) }],
    outputs: [{ satoshis: 4000, script: payTo(key) }]
  })
  await chain.submit(mined)
  chain.mine()
  headers = await serve(oneSat(chain))
  writeFileSync(
    join(folder, 'history.ndjson'),
    `${JSON.stringify({ beef: toHex(chain.beef(mined.txid)) })}\n`
  )
  const about = `getDocumentation: async () => 'x', getMetaData: async () => ({ name: 'x', shortDescription: 'x' })`
  writeFileSync(
    join(folder, 'first.mjs'),
    `export const topics = { tm_first: { ${about}, admit: () => ({ outputs: [0] }) } }`
  )
  const { knex, storage } = await openKnex(join(folder, 'overlay.sqlite'), 'delete')
  await storage.insertOutput({
    ...{
      txid: formatTxid(mined.txid),
      outputIndex: 0,
      outputScript: [...payTo(key)],
      topic: 'tm_first',
      satoshis: 4000
    },
    ...{ spent: false, outputsConsumed: [], consumedBy: [], beef: [...chain.beef(mined.txid)], score: 0 }
  } as never)
  await storage.insertAppliedTransaction({ txid: formatTxid(mined.txid), topic: 'tm_first' })
  await knex.destroy()
  writeFileSync(
    join(folder, 'quoin.yaml'),
    `store: lmdb:./quoin-data\nadminToken: ${TOKEN}\nbackups: ./quoin-backups\nblockTime: 0\nlogLevel: warn\n`
  )
  await start()
})
afterAll(async () => {
  await commands.close()
  await headers.close()
  rmSync(folder, { recursive: true })
})

/** `npx quoin` is this one, and the commands that ask a node ask this node. */
const SHIMS = join(folder, 'shims')
mkdirSync(SHIMS)
const NPX = `#!/bin/bash
shift
case "$1" in
  status|lookups) exec node ${BIN} "$@" --url "$NODE_URL" ;;
  doctor) exec node ${BIN} "$@" --port "\${NODE_URL##*:}" ;;
  *) exec node ${BIN} "$@" ;;
esac
`
writeFileSync(join(SHIMS, 'npx'), NPX)
chmodSync(join(SHIMS, 'npx'), 0o755)

const shell = (script: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('QUOIN_'))
    const env = {
      ...Object.fromEntries(own),
      PATH: `${SHIMS}:${process.env['PATH']}`,
      NODE_URL: node.url,
      HEADERS_URL: `${headers.url} --network regtest`,
      QUOIN_ADMIN_TOKEN: TOKEN
    }
    const child = execFile('bash', ['-e', '-c', script], { cwd: folder, env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout)
    )
    child.stdin?.end()
  })

describe.each(RUN)('%s', { timeout: 300_000 }, page => {
  it('has commands that succeed', async () => {
    for (const { language, code, output } of blocksOf(page)) {
      if (language !== 'sh') continue
      if (code === 'systemctl stop quoin\n') expect(await commands.stop(node)).toBe(0)
      else if (code === 'systemctl start quoin\n') await start()
      else {
        const printed = await shell(code.replaceAll('http://localhost:8080', node.url))
        if (output !== '') expect(printed).toBe(output)
      }
    }
    expect((await fetch(`${node.url}/health/ready`)).status).toBe(200)
  })
})

it.each(PAGES)('%s links to files that exist', page => {
  expect(brokenLinks(page)).toEqual([])
})

it('every alert is on the page for trouble', () => {
  const page = readFileSync(join(ROOT, 'docs/operate/troubleshoot.md'), 'utf8')
  const alerts = readFileSync(join(ROOT, 'deploy/alerts.yaml'), 'utf8').matchAll(/alert: (\w+)/g)
  for (const [, alert] of alerts) expect(page, alert).toContain(`\`${alert}\``)
})
