/** The home page: how the node does, and what arrives without a reload. */
import { describe, expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'
import { startDemo } from './node.testing.ts'

const shown = explorer()

describe('the home page', () => {
  it('says whether the node is ready, its height, its store and what was submitted', async () => {
    const { page } = await shown.open('/')
    await page.getByText('ready', { exact: true }).waitFor()
    const tile = (name: string) => page.locator('.tile', { hasText: name })
    const status = await (await fetch(`${shown.demo.url}/status`)).json()
    // The page asks every two seconds, and may have asked before.
    const says = (name: string, value: number) =>
      expect
        .poll(() => tile(name).locator('.tile-value').textContent(), { timeout: 20_000 })
        .toBe(value.toLocaleString('en'))
    await says('Height', status.chain.height)
    await says('Submits', status.totals.submits)
    await says('Admitted outputs', status.totals.admitted)
    expect(await tile('Store').textContent()).toContain('lmdb')
    expect(await page.title()).toBe('Home · Quoin')
  })

  it('an output arrives while somebody looks, and the chart counts it', async () => {
    const { page } = await shown.open('/')
    await page.getByText('live', { exact: true }).waitFor()
    await page.locator('.chart canvas').waitFor()
    const { outpoint } = await shown.demo.author.say('Live, from the test')
    const row = page.locator('.latest li', { hasText: 'Live, from the test' })
    await row.waitFor()
    expect(await row.locator('a').first().getAttribute('href')).toBe(`/explore/output/${outpoint}`)
    // It says so to those who cannot see it.
    await page.locator('.chart [role=img][aria-label^="1 submits"]').waitFor()
    await shown.demo.author.mine()
    await page.locator('.latest li', { hasText: 'Live, from the test' }).getByText('block').waitFor()
  })

  it('does not grow, however much arrives', async () => {
    const { page } = await shown.open('/')
    await page.getByText('live', { exact: true }).waitFor()
    for (let i = 0; i < 45; i++) await shown.demo.author.say(`One of many ${i}`)
    await page.locator('.latest li', { hasText: 'One of many 44' }).waitFor()
    await expect.poll(() => page.locator('.latest li').count(), { timeout: 20_000 }).toBe(40)
  })
})

describe('a node with a peer', () => {
  it('says how it is in step with it', async () => {
    const follower = await startDemo({ peers: [`tm_hello=${shown.demo.url}`] })
    try {
      const { page } = await shown.open('/', { baseURL: follower.url })
      const peer = page.getByRole('list', { name: 'Peers' }).getByRole('listitem')
      await peer.getByText('working', { exact: true }).waitFor()
      expect(await peer.textContent()).toContain(shown.demo.url)
      await page.context().close()
    } finally {
      await follower.close()
    }
  })
})

describe('what it loads', () => {
  it('is less than a hundred kilobytes of script, compressed, and nothing from elsewhere', async () => {
    const { page } = await shown.open('/', {})
    await page.locator('.chart canvas').waitFor()
    const loaded = (await page.evaluate(
      `performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => [name, encodedBodySize])`
    )) as [string, number][]
    const scripts = loaded.filter(([name]) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(2)
    expect(scripts.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(100_000)
    expect(loaded.filter(([name]) => !name.startsWith(shown.demo.url))).toEqual([])
  })
})

describe('when the node cannot be reached', () => {
  it('the page says so, and goes on by itself when it is back', async () => {
    const { page } = await shown.open('/')
    await page.getByText('ready', { exact: true }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('The node does not answer').waitFor()
    await page.context().setOffline(false)
    await page.getByText('The node does not answer').waitFor({ state: 'detached' })
  })
})

describe('when the node is not ready', () => {
  it('the page says why', async () => {
    const { page } = await shown.open('/')
    await page.route('**/health/ready', route =>
      route.fulfill({
        status: 503,
        json: {
          ready: false,
          checks: [{ name: 'headers in step', status: 'error', message: '3 blocks behind' }]
        }
      })
    )
    await page.reload()
    await page.getByText('not ready').waitFor()
    await page.getByText('3 blocks behind').waitFor()
  })
})
