/** Takes a picture of every page, wide and narrow, into `docs/pictures`: `npm run explorer:pictures`. */
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createPool, Liquidity } from '@quoin/liquidity'
import { overlay } from '@quoin/overlay'
import { parseTxid } from '@quoin/primitives'
import type { Page } from 'playwright-core'
import { newPool, open } from '../../packages/liquidity/src/machine/machine.testing.ts'
import { openBrowser, openPage } from './test/browser.testing.ts'
import { type DemoNode, startDemo, TOKEN } from './test/node.testing.ts'
import { type View, viewsOf } from './test/views.testing.ts'

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } } as const

const show = async (page: Page, { name, path, wait }: View): Promise<void> => {
  await page.goto(path)
  if (name === 'operator') {
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByRole('button', { name: '1 dead in again:judge' }).click()
    await page.getByRole('button', { name: 'Retry all' }).waitFor()
  }
  if (name === 'keyspaces') await page.locator('.keyspace summary').nth(1).click()
  await page.getByText(wait).first().waitFor()
  await page.evaluate('scrollTo(0, 0)')
}

const SAID = [
  'Good morning',
  'The kettle is on',
  'Two sugars',
  'Who has the key',
  'It is under the stone',
  'Found it'
]

const ENTRIES = ['light', 'heat', 'door', 'gate', 'radio']

/** Makes changes while the home page is open: messages, entries, and outputs that no topic admits. */
const liven = async ({ node, url, author, entries }: DemoNode, page: Page): Promise<void> => {
  for (const [i, size] of [1, 3, 2, 5, 4, 6, 3].entries()) {
    for (const text of SAID.slice(0, size)) await author.say(text)
    const key = ENTRIES[i]
    if (key) await entries.set(key, i % 2 === 0 ? 'on' : 'off', ['home'])
    for (let other = 0; other < i % 3; other++) {
      const { txid } = await node.dev!.fund(author.address, 1000 + i)
      await fetch(`${url}/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'x-topics': '["tm_hello"]' },
        body: new Uint8Array(node.dev!.chain.beef(txid))
      })
    }
    await page.waitForTimeout(2100)
  }
  await author.mine()
}

/** Adds data beyond that of the tests: other tokens, one of them not indexed, another pool, and a dead letter. */
const furnish = async ({ node, url, tokens, author }: DemoNode): Promise<void> => {
  const icon = `${tokens.gold.slice(0, 64)}_0`
  await tokens.deploy({ sym: 'SILVER', dec: '3', icon }, 84_000_000n)
  await tokens.deploy({ sym: 'COPPER' }, 1_000_000n)
  const unwanted = await tokens.deploy({ sym: 'BRASS', dec: '2' }, 2n ** 40n)
  await fetch(`${url}/1sat/admin/api/blacklist`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ topic: unwanted })
  })
  const liquidity = await Liquidity.open(node.store, { profile: 'chain' })
  await liquidity.change(draft =>
    createPool(draft, newPool({ id: 2n, token0: 'atom', spreadFactor: 10n ** 15n }))
  )
  await liquidity.change(draft => open(draft, { pool: 2n }))
  const queue = node.store.queueAt(overlay.collections.judgeAgain, [])
  let lease: Awaited<ReturnType<typeof queue.lease>>[number] | undefined
  while (!lease) {
    await queue.enqueue(parseTxid('cd'.repeat(32)), Date.now() / 1000)
    ;[lease] = await queue.lease(1, 60)
  }
  await queue.fail(lease, { outcome: 'dead', reason: 'a topic manager threw: cannot read the second field' })
  await author.mine()
}

await mkdir(FOLDER, { recursive: true })
const [demo, browser] = await Promise.all([startDemo(), openBrowser()])
try {
  await furnish(demo)
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, troubles } = await openPage(browser, demo.url, { viewport, colorScheme })
      for (const view of viewsOf(demo)) {
        // All pages in light; a few in dark.
        if (colorScheme === 'dark' && !['home', 'token', 'playground'].includes(view.name)) continue
        await show(page, view)
        if (view.name === 'home') await liven(demo, page)
        const name = `${view.name}-${size}${colorScheme === 'dark' ? '-dark' : ''}.png`
        await page.screenshot({ path: `${FOLDER}${name}` })
      }
      if (troubles.length > 0) throw new Error(troubles.join('\n'))
      await page.context().close()
    }
  }
} finally {
  await browser.close()
  await demo.close()
}
