/** Liquidity: pools, depth, ticks, positions by owner, and quotes. */
import { expect, it } from 'vitest'
import { BOB } from '../../../packages/liquidity/src/machine/machine.testing.ts'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

it('pools are listed, and lead to theirs', async () => {
  const { page } = await shown.open('/explore/pools')
  await page.getByRole('link', { name: 'Pool 1: eth / usdc' }).click()
  await page.waitForURL('**/explore/pool/1')
  await page.getByRole('heading', { name: 'eth / usdc' }).waitFor()
})

it('a pool has its price, its depth for eyes and ears, its positions and its ticks', async () => {
  const { page } = await shown.open('/explore/pool/1')
  expect(
    await page.locator('.tile', { hasText: 'usdc for one eth' }).locator('.tile-value').textContent()
  ).toBe('5,000')
  await page.locator('.chart canvas').waitFor()
  expect(await page.locator('.chart [role=img]').getAttribute('aria-label')).toMatch(
    /^From 5,000, the price falls for [\d,]+ usdc/
  )
  const positions = page.getByRole('list', { name: 'Positions' }).getByRole('listitem')
  await positions.first().waitFor()
  expect(await positions.count()).toBe(4)
  const ticks = page.getByRole('list', { name: 'Ticks' }).getByRole('listitem')
  await ticks.first().waitFor()
  expect(await ticks.count()).toBe(8)
})

it('the answer to an earlier question is not shown for the last', async () => {
  const { page } = await shown.open('/explore/pool/1', {})
  const slow = '**/liquidity/pools/1/quote?pay=1000000eth'
  let isAsked = false
  await page.route(slow, async route => {
    isAsked = true
    await page.getByText('2,000,000 eth').waitFor()
    // The page may have given it up by now.
    await route.continue().catch(() => {})
  })
  await page.getByLabel('Amount').fill('1,000,000')
  await page.getByRole('button', { name: 'Quote' }).click()
  await expect.poll(() => isAsked).toBe(true)
  await page.getByLabel('Amount').fill('2,000,000')
  await page.getByRole('button', { name: 'Quote' }).click()
  await page.getByText('2,000,000 eth').waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByText('1,000,000 eth').count()).toBe(0)
})

it('a swap is quoted as the node quotes it', async () => {
  const { page } = await shown.open('/explore/pool/1')
  await page.getByLabel('Amount').fill('1,000,000')
  await page.getByLabel('Of').selectOption('usdc')
  await page.getByRole('button', { name: 'Quote' }).click()
  const quoted = await fetch(`${shown.demo.url}/liquidity/pools/1/quote?pay=1000000usdc`)
  const { bought } = (await quoted.json()) as { bought: { amount: string } }
  await page.getByText(`${bought.amount} eth`).waitFor()
  await page.getByLabel('Amount').fill('1')
  await page.getByRole('button', { name: 'Quote' }).click()
  const refused = await fetch(`${shown.demo.url}/liquidity/pools/1/quote?pay=1usdc`)
  const { message } = (await refused.json()) as { message: string }
  await page.getByText(message).waitFor()
})

it('positions are found by owner', async () => {
  const { page } = await shown.open('/explore/pools')
  await page.getByRole('textbox', { name: 'Owner' }).fill(BOB)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.waitForURL(`**/explore/positions?owner=${BOB}`)
  const positions = page.getByRole('list', { name: 'Positions' }).getByRole('listitem')
  await positions.first().waitFor()
  expect(await positions.count()).toBe(2)
})

it('a number leads to its pool from the search, and one that is none is not known', async () => {
  const { page } = await shown.open('/')
  await page.getByRole('combobox', { name: 'Search' }).fill('1')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explore/pool/1')
  await page.getByText('Taken for a pool').waitFor()
  await page.goto('/explore/pool/99')
  await page.getByText('Not known here').waitFor()
})
