/** The projects of `examples/` run, and print the `text` block of their READMEs. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { WalletInterface } from '@bsv/sdk'
import { loadConfig, startNode } from 'quoin'
import { build, preview } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../apps/explorer/test/browser.testing.ts'
import { startChain, type TestChain } from '../packages/kvstore-client/src/wallet.testing.ts'
// @ts-expect-error: a script without types.
import { sourceAliases } from '../scripts/packages.mjs'
import { blocksOf, brokenLinks } from './docs.testing.ts'
import { ROOT } from './node.testing.ts'

const EXAMPLES = join(ROOT, 'examples')
const LOADER = new URL('../scripts/typescript.mjs', import.meta.url).href
/** Several programs start at once. */
const TIMEOUT_MS = 180_000

const scriptsOf = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(join(EXAMPLES, name, 'package.json'), 'utf8')).scripts

/** The standard output of `npm start`, with the packages of this repository. */
const start = async (name: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
  expect(scriptsOf(name)).toEqual({ start: 'tsx main.ts' })
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', LOADER, 'main.ts'], {
    cwd: join(EXAMPLES, name),
    env: { ...process.env, ...variables }
  })
  return stdout
}
const outputOf = (name: string): string =>
  blocksOf(join('examples', name, 'README.md')).find(({ output }) => output !== '')!.output

it('lists every project, and links to files that exist', () => {
  const names = readdirSync(EXAMPLES, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const overview = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
  for (const { name } of names) expect(overview).toContain(`[${name}](${name}/`)
  for (const page of ['README.md', ...names.map(({ name }) => join(name, 'README.md'))]) {
    if (existsSync(join(EXAMPLES, page))) expect(brokenLinks(join('examples', page))).toEqual([])
  }
})

describe.concurrent('programs', { timeout: TIMEOUT_MS }, () => {
  for (const name of ['hello-overlay', 'token-overlay', 'own-keyspace', 'embedded-node']) {
    it(`${name} prints what its README shows`, async ({ expect }) => {
      expect(await start(name)).toBe(outputOf(name))
    })
  }
})

/** A wallet as wallet apps serve it: a POST for each method of BRC-100, with JSON. */
const serveWallet = (wallet: WalletInterface): Promise<Server> =>
  new Promise(resolve => {
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      const method = request.url!.slice(1) as keyof WalletInterface
      const call = wallet[method].bind(wallet) as (args: object, originator?: string) => Promise<object>
      try {
        response.end(JSON.stringify(await call(JSON.parse(body), String(request.headers['originator']))))
      } catch (error) {
        response.writeHead(500).end(JSON.stringify({ message: String(error) }))
      }
    })
    server.listen(0, '127.0.0.1', () => resolve(server))
  })

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as { port: number }).port}`

describe('local-kv, with a real wallet', () => {
  let chain: TestChain
  let server: Server
  beforeAll(async () => {
    chain = await startChain()
    server = await serveWallet(await chain.wallet())
  })
  afterAll(async () => {
    server.close()
    await chain.close()
  })

  it('prints what its README shows', { timeout: TIMEOUT_MS }, async () => {
    expect(await start('local-kv', { WALLET_URL: urlOf(server) })).toBe(outputOf('local-kv'))
  })
})

describe('global-kv-page, in Chromium', () => {
  const outDir = mkdtempSync(join(tmpdir(), 'quoin-page-'))
  afterAll(() => rmSync(outDir, { recursive: true }))

  it('stores a name, follows it, and shows its history', { timeout: TIMEOUT_MS }, async () => {
    expect(scriptsOf('global-kv-page')).toEqual({ start: 'vite' })
    const root = join(EXAMPLES, 'global-kv-page')
    const project = {
      root,
      configFile: false as const,
      logLevel: 'error' as const,
      resolve: { alias: sourceAliases() },
      build: { outDir, emptyOutDir: true, target: 'es2023' }
    }
    await build(project)
    const options = { store: 'memory:', chain: 'dev', port: '0', logLevel: 'error' }
    const node = await startNode(loadConfig({ options }).config)
    const site = await preview({ ...project, preview: { port: 0 } })
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const errors: string[] = []
      page.on('pageerror', error => errors.push(error.message))
      await page.goto(`${site.resolvedUrls!.local[0]}?host=${encodeURIComponent(node.url)}`)
      for (const name of ['Ty', 'Ty Everett']) {
        await page.getByLabel('My name').fill(name)
        await page.getByRole('button', { name: 'Save' }).click()
        await page.locator('#saved', { hasText: new RegExp(`^${name}$`) }).waitFor()
      }
      await page.locator('#history li').nth(1).waitFor()
      expect(await page.locator('#history li').allTextContents()).toEqual(['Ty', 'Ty Everett'])
      expect(errors).toEqual([])
    } finally {
      await browser.close()
      await site.close()
      await node.close()
    }
  })
})
