/** Tokens: the list, one of them with its holders, transfers and listings, and what an address holds. */
import { readFile } from 'node:fs/promises'
import { isTokenPacket } from '@quoin/bsv21'
import { describe, expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'
import { TOKEN } from './node.testing.ts'

const shown = explorer()

describe('the tokens', () => {
  it('are listed with their amounts and whether they are indexed', async () => {
    const { page } = await shown.open('/explore/tokens')
    const rows = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(2)
    expect(await rows.first().textContent()).toContain('GOLD210,000active')
    expect(await rows.last().textContent()).toContain('minted on demand')
  })

  it('are found by the beginning of their symbols', async () => {
    const { page } = await shown.open('/explore/tokens')
    await page.getByLabel('Symbol begins with').fill('GO')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL('**/explore/tokens?sym=GO')
    const rows = page.getByRole('list', { name: 'Tokens' }).getByRole('listitem')
    await page.getByRole('heading', { name: 'Found' }).waitFor()
    await rows.first().waitFor()
    expect(await rows.count()).toBe(1)
    await page.goto('/explore/tokens?sym=NOTHING')
    await page.getByText('No matching symbols').waitFor()
  })

  it('a symbol and an id lead to theirs from the search', async () => {
    const { page } = await shown.open('/')
    const box = page.getByRole('combobox', { name: 'Search' })
    await box.fill('GOLD')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/explore/tokens?sym=GOLD')
    await box.fill(shown.demo.tokens.gold)
    await page.getByRole('option', { name: /^token / }).click()
    await page.waitForURL(`**/explore/token/${shown.demo.tokens.gold}`)
    await page.getByText('Taken for a token').waitFor()
  })
})

describe('a token', () => {
  it('has its supply, and its holders ranked with bars', async () => {
    const { page } = await shown.open(`/explore/token/${shown.demo.tokens.gold}`)
    const holders = page.getByRole('list', { name: 'Holders' }).getByRole('listitem')
    await holders.first().waitFor()
    for (const [name, value] of [
      ['Supply', '205,000'],
      ['Minted', '210,000'],
      ['Burned', '5,000'],
      ['Holders', '12']
    ] as const) {
      expect(
        await page.locator('.tile', { hasText: name }).first().locator('.tile-value').textContent()
      ).toBe(value)
    }
    expect(await holders.count()).toBe(12)
    await page.getByText('complete', { exact: true }).waitFor()
    const asOf = await page.locator('.facts', { hasText: 'As of' }).textContent()
    expect(asOf).toMatch(/As ofblock \d+; nothing pending of the token, nothing pending of discovery/)
    const widths = await page
      .locator('.bar-fill')
      .evaluateAll(all => all.map(each => each.getBoundingClientRect().width))
    expect(widths).toEqual([...widths].sort((a, b) => b - a))
    expect(await holders.first().textContent()).toContain('51.24 %')
    await holders.first().getByRole('link').click()
    await page.waitForURL(`**/explore/address/${shown.demo.tokens.holder.address}`)
    const held = page.getByRole('list', { name: 'Tokens held' }).getByRole('listitem')
    await held.first().waitFor()
    expect(await held.first().textContent()).toContain('GOLD105,048.85in 2 outputs, 10,000 of it for sale')
  })

  it('has its transfers and what is for sale, each under a link of its own', async () => {
    const { page } = await shown.open(`/explore/token/${shown.demo.tokens.gold}?list=transfers`)
    const transfers = page.getByRole('list', { name: 'Transfers' }).getByRole('listitem')
    await transfers.first().waitFor()
    expect(await transfers.count()).toBe(15)
    await transfers.getByText('of 210,000 GOLD').waitFor()
    const texts = await transfers.allTextContents()
    expect(texts.find(text => text.includes('deploy'))).toContain('token deploy+mint of 210,000 GOLD')
    expect(texts.filter(text => text.includes('token burn of 5,000 GOLD'))).toHaveLength(1)
    expect(await page.title()).toBe('Token GOLD · Quoin')
    await page.getByRole('link', { name: 'For sale' }).click()
    const listings = page.getByRole('list', { name: 'Listings' }).getByRole('listitem')
    await listings.first().waitFor()
    expect(await listings.first().textContent()).toContain('for 25,000 sat')
    await page.goBack()
    await transfers.first().waitFor()
  })

  it('that is blacklisted says why it is not indexed', async () => {
    const { page } = await shown.open('/explore/operator')
    await page.getByLabel('Admin token').fill(TOKEN)
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByLabel('Token to put on the blacklist').fill(shown.demo.tokens.plain)
    await page.getByRole('button', { name: 'Add' }).last().click()
    const listed = page.getByRole('list', { name: 'Tokens on the blacklist' }).getByRole('listitem')
    await listed.first().waitFor()
    await listed.first().getByRole('link').click()
    await page.getByText('not active').first().waitFor()
    await page.getByText('because').waitFor()
    expect(await page.locator('.facts', { hasText: 'Lists' }).textContent()).toContain('blacklisted')
    await page.goBack()
    await page.getByRole('button', { name: /off the blacklist/ }).click()
    await listed.first().waitFor({ state: 'detached' })
  })

  it('in the binary form is a token like others, and comes with a proof', async () => {
    const id = await shown.demo.tokens.deployBinary(123_456n)
    const { page } = await shown.open(`/explore/token/${id}`)
    await page.getByText('binary (BRC-162)').waitFor()
    await page.getByRole('heading', { name: 'BINARY' }).first().waitFor()
    expect(
      await page.locator('.tile', { hasText: 'Supply' }).first().locator('.tile-value').textContent()
    ).toBe('1,234.56')
    await page.goto(`/explore/output/${id.replace('_', '.')}`)
    await page.getByText('binary token deploy+mint of 1,234.56 BINARY').first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'token proof' }).click()
    ])
    const packet = new Uint8Array(await readFile(await download.path()))
    expect(isTokenPacket(packet)).toBe(true)
  })

  it('that nobody deployed is not known', async () => {
    const { page } = await shown.open(`/explore/token/${'ab'.repeat(32)}_0`)
    await page.getByText('Not known here').waitFor()
  })
})

describe('amounts of tokens', () => {
  it('have decimals and a symbol on the pages of addresses, outputs and transactions', async () => {
    const { gold, holder } = shown.demo.tokens
    const { page } = await shown.open(`/explore/address/${holder.address}`)
    const outputs = page.getByRole('list', { name: 'Unspent outputs' }).getByRole('listitem')
    const listed = outputs.filter({ hasText: 'for sale at 25,000 sat' })
    await listed.getByText('token transfer of 10,000 GOLD').waitFor()
    expect(await listed.getByRole('link', { name: 'GOLD' }).getAttribute('href')).toBe(
      `/explore/token/${gold}`
    )
    await listed.getByRole('link').first().click()
    await page.getByText('token transfer of 10,000 GOLD').waitFor()
    await page.getByRole('link', { name: 'GOLD', exact: true }).first().waitFor()
    await page.goto(`/explore/tx/${gold.slice(0, 64)}`)
    await page.getByText('token deploy+mint of 210,000 GOLD').waitFor()
  })

  it('topics of tokens have the symbol as their name', async () => {
    const { gold } = shown.demo.tokens
    const { page } = await shown.open(`/explore/find?key=tp:tm_${gold}`)
    await page.getByRole('heading', { name: 'Outputs of GOLD' }).waitFor()
    await page.waitForFunction("document.title === 'Topic GOLD · Quoin'")
    await page.goto(`/explore/output/${gold.replace('_', '.')}`)
    const chip = page.locator('.chip.topic', { hasText: /^GOLD$/ })
    await chip.waitFor()
    expect(await chip.getAttribute('title')).toBe(`tm_${gold}`)
  })

  it('of an unknown deployment are in base units', async () => {
    const id = `${'ab'.repeat(32)}_0`
    const { page } = await shown.open('/')
    await page.route('**/txo/search?*', route =>
      route.fulfill({
        json: {
          outputs: ['0', '1'].map(vout => ({
            outpoint: `${'cd'.repeat(32)}.${vout}`,
            score: 1,
            data: { bsv21: { op: 'transfer', amt: '100000', id: vout === '0' ? id : 'malformed' } }
          })),
          cursor: null
        }
      })
    )
    await page.goto('/explore/find?key=id:unknown')
    await page.getByText('token transfer of 100,000 base units of token abababab…abababab_0').waitFor()
    await page.getByText('token transfer of 100,000 base units of token malformed').waitFor()
    await page.unroute('**/txo/search?*')
  })
})

describe('what an address holds', () => {
  it('comes in pages, each token once, and leads to the tokens', async () => {
    const { tokens } = shown.demo
    const more = 30
    const icon = `${'ab'.repeat(32)}_1`
    for (let i = 0; i < more; i++) await tokens.deploy({ sym: `MORE${i}`, icon })
    const { page } = await shown.open(`/explore/address/${tokens.holder.address}`)
    const held = page.getByRole('list', { name: 'Tokens held' }).getByRole('listitem')
    await held.nth(24).waitFor()
    expect(await held.count()).toBe(25)
    const region = page.getByRole('region', { name: 'Tokens' })
    await region.getByRole('button', { name: 'Show more' }).click()
    await region.getByText('End of the list.').waitFor()
    const names = await held.locator('a:first-child').allTextContents()
    const symbols = names.filter(name => /^(GOLD|MORE\d+)$/.test(name))
    expect(symbols.sort()).toEqual(['GOLD', ...Array.from({ length: more }, (_, i) => `MORE${i}`)].sort())
    const last = held.filter({ hasText: 'MORE29' })
    expect(await last.textContent()).toContain('MORE291,000in 1 output')
    expect(await last.getByRole('link', { name: 'abababab' }).getAttribute('href')).toBe(
      `/explore/output/${icon.replace('_', '.')}`
    )
    await last.getByRole('link', { name: 'MORE29' }).click()
    await page.getByRole('heading', { name: 'MORE29' }).waitFor()
  })

  it('is nothing where nothing was sent, and is not asked of a node without tokens', async () => {
    const nobody = '/explore/address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
    const { page } = await shown.open(nobody, {})
    await page.getByText('No tokens').waitFor()
    await page.route('**/1sat/owner/*/tokens?*', route =>
      route.fulfill({
        status: 404,
        json: { code: 'ERR_ROUTE_NOT_FOUND', message: 'unknown route' }
      })
    )
    await page.reload()
    await page.getByText('This node does not index tokens').waitFor()
  })
})
