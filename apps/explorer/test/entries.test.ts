/** The key-value store: browsing, one entry with its history, and ambiguity shown as such. */
import { describe, expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

describe('entries', () => {
  it('are there without being asked for, the newest first', async () => {
    const { page } = await shown.open('/explore/kv')
    const rows = page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(5)
    expect(await page.getByText('ambiguous').count()).toBe(2)
  })

  it('are found by key, controller, protocol and tags', async () => {
    const { controller, other } = shown.demo.entries
    const { page } = await shown.open('/explore/kv')
    const rows = page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
    for (const [query, count] of [
      ['key=profile', 2],
      [`controller=${controller}`, 2],
      [`key=profile&controller=${other}`, 1],
      ['protocol=1+kvstore', 5],
      ['tags=profile,public', 2],
      ['tags=profile,settings&mode=any', 3]
    ] as const) {
      await page.goto(`/explore/kv?${query}`)
      await rows.first().waitFor()
      expect([query, await rows.count()]).toEqual([query, count])
    }
    await page.goto('/explore/kv?tags=profile,settings')
    await page.getByText('No matching entries').waitFor()
  })

  it('are asked for with a form, and the question is in the address', async () => {
    const { page } = await shown.open('/explore/kv')
    await page.getByLabel('Key', { exact: true }).fill('theme')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL('**/explore/kv?key=theme')
    await page.getByRole('link', { name: 'theme' }).click()
    await page.waitForURL('**/explore/kv/entry?*')
    await page.getByRole('heading', { name: 'theme' }).waitFor()
  })

  it('what was typed before the rows came is still there after', async () => {
    const { page } = await shown.open('/explore/kv', {})
    let release: () => void = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/txo/search?*', async route => {
      await released
      await route.continue()
    })
    await page.reload()
    await page.getByLabel('Key', { exact: true }).fill('theme')
    await page.getByLabel('any of the tags').check()
    release()
    await page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first().waitFor()
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('theme')
    expect(await page.getByLabel('any of the tags').isChecked()).toBe(true)
  })

  it('a node that has none of this says so', async () => {
    const { page } = await shown.open('/explore/kv?key=theme', {})
    await page.route(
      ({ pathname }) => pathname === '/kv',
      route =>
        route.fulfill({
          status: 404,
          json: { code: 'ERR_ROUTE_NOT_FOUND', message: 'unknown route' }
        })
    )
    await page.reload()
    await page.getByText('Not on this node').waitFor()
  })

  it('a question that is wrong is answered in the words of the node', async () => {
    const { page } = await shown.open('/explore/kv?controller=nobody')
    await page.getByText('Request failed').waitFor()
  })

  it('a key and a controller lead to theirs from the search', async () => {
    const { page } = await shown.open('/')
    const box = page.getByRole('combobox', { name: 'Search' })
    await box.fill('motto')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/explore/kv?key=motto')
    await page.getByText('Taken for an entry key').waitFor()
    await box.fill(shown.demo.entries.controller)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/explore/kv?controller=${shown.demo.entries.controller}`)
  })
})

describe('an entry', () => {
  it('has its value, and its history with what changed', async () => {
    const { controller } = shown.demo.entries
    const { page } = await shown.open(`/explore/kv/entry?controller=${controller}&key=profile`)
    const steps = page.getByRole('list', { name: /^History/ }).getByRole('listitem')
    await steps.first().waitFor()
    expect(await steps.count()).toBe(3)
    expect(await steps.first().locator('del').allTextContents()).toEqual(['London'])
    expect((await steps.first().locator('ins').allTextContents()).join('')).toContain('Ockham')
    expect(await steps.last().locator('ins, del').count()).toBe(0)
    expect(await page.locator('pre').first().textContent()).toContain('"likes": "engines"')
  })

  it('that is ambiguous says so, and shows all that are live', async () => {
    const { other } = shown.demo.entries
    const { page } = await shown.open(`/explore/kv/entry?controller=${other}&key=motto`)
    await page.getByText('Ambiguous: 2 entries are live').waitFor()
    expect(await page.getByRole('heading', { name: 'Value' }).count()).toBe(2)
  })

  it('that is not there is not known', async () => {
    const { controller } = shown.demo.entries
    const { page } = await shown.open(`/explore/kv/entry?controller=${controller}&key=nothing`)
    await page.getByText('Not known here').waitFor()
  })
})
