/** Every page in both themes, wide and narrow, before an automated auditor: nothing serious. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'
import { TOKEN } from './node.testing.ts'
import { viewsOf } from './views.testing.ts'

const shown = explorer()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The auditor looks at every element of some twenty pages. */
const SLOWEST_MS = 240_000

const overflowOf = async (page: Page): Promise<number> =>
  Number(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'))

it.each([
  ['light', 1280],
  ['dark', 390]
] as const)(
  'the page of the routes has no finding in the %s theme, %i pixels wide',
  async (colorScheme, width) => {
    const { page } = await shown.open('/docs', {
      colorScheme,
      viewport: { width, height: 900 },
      bypassCSP: true
    })
    await page.getByRole('heading', { name: 'admin' }).waitFor()
    await page.evaluate(axe)
    const { violations } = (await page.evaluate(
      "axe.run(document, { resultTypes: ['violations'], elementRef: false })"
    )) as AxeResults
    expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]!.html} ${nodes[0]!.failureSummary}`)).toEqual(
      []
    )
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    expect(await overflowOf(page)).toBeLessThanOrEqual(0)
    await page.goto(`/explore/token/${'ab'.repeat(32)}_0`)
    await page.getByText('Not known here').waitFor()
    expect(await overflowOf(page)).toBeLessThanOrEqual(0)
  }
)

it.each([
  ['light', 1280],
  ['dark', 390]
] as const)(
  'no page has a serious finding in the %s theme, %i pixels wide',
  async (colorScheme, width) => {
    const { page } = await shown.open('/', { colorScheme, viewport: { width, height: 900 }, bypassCSP: true })
    const findings: string[] = []
    for (const { name, path, wait } of viewsOf(shown.demo)) {
      await page.goto(path)
      if (name === 'operator') {
        await page.getByLabel('Admin token').fill(TOKEN)
        await page.getByRole('button', { name: 'Enter' }).click()
      }
      await page.getByText(wait).first().waitFor()
      const overflow = await overflowOf(page)
      if (overflow > 0) findings.push(`${name}: ${overflow} pixels wider than the window`)
      await page.evaluate(axe)
      const { violations } = (await page.evaluate(
        "axe.run(document, { resultTypes: ['violations'], elementRef: false })"
      )) as AxeResults
      for (const { id, impact, nodes } of violations) {
        if (impact === 'serious' || impact === 'critical') {
          findings.push(`${name}: ${id} ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
        }
      }
    }
    expect(findings).toEqual([])
  },
  SLOWEST_MS
)
