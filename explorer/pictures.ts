/** Takes a picture of every page, wide and narrow, into `docs/pictures`: `npm run explorer:pictures`. */
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { openBrowser, openPage } from './test/browser.testing.ts'
import { startDemo, TOKEN } from './test/node.testing.ts'
import { type View, viewsOf } from './test/views.testing.ts'

const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } } as const

const show = async (page: Page, { name, path, wait }: View): Promise<void> => {
  await page.goto(path)
  if (name === 'operator') {
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Enter' }).click()
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

/** Something happens while the home page is looked at. */
const liven = async ({ author }: Awaited<ReturnType<typeof startDemo>>, page: Page): Promise<void> => {
  for (const size of [1, 3, 2, 5, 4, 6, 3]) {
    for (const text of SAID.slice(0, size)) await author.say(text)
    await page.waitForTimeout(2100)
  }
  await author.mine()
}

await mkdir(FOLDER, { recursive: true })
const [demo, browser] = await Promise.all([startDemo(), openBrowser()])
try {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, troubles } = await openPage(browser, demo.url, { viewport, colorScheme })
      for (const view of viewsOf(demo)) {
        // All in light; the dark ones are so that one sees what that is like.
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
