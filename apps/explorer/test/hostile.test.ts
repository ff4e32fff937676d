/**
 * What strangers write is shown and never obeyed: markup, scripts, control characters, text that runs the other way and
 * a megabyte of letters, as symbols, icons, keys, values, tags, media types and messages, on every page that shows them.
 * The content of outputs, which the node serves beside its pages, acts in an origin of its own.
 */

import { formatTxid } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { inscription, payTo, person, utf8 } from '../../../packages/txo/src/scripts/scripts.testing.ts'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

const EVIL = '<img src=x onerror=owned=1><script>owned=1</script>'
const BACKWARDS = 'safe\u202Etxt.exe\u0000\u200B'
const LONG = 'A'.repeat(1_000_000)

/** Nothing ran, and nothing of it became an element. */
const isInert = async (page: Awaited<ReturnType<typeof shown.open>>['page']): Promise<void> => {
  expect(await page.evaluate('window.owned')).toBe(undefined)
  expect(await page.locator('main img, main script, main iframe, main object, main svg').count()).toBe(0)
  const wide = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  )
  expect(Number(wide)).toBeLessThanOrEqual(0)
}

describe('markup and scripts', () => {
  it('as a message: on the home page, the transaction, the output, the topic and the search', async () => {
    const { outpoint } = await shown.demo.author.say(EVIL)
    const { page } = await shown.open('/')
    for (const path of [
      '/',
      `/explore/tx/${outpoint.slice(0, 64)}`,
      `/explore/output/${outpoint}`,
      '/explore/find?key=tp:tm_hello',
      `/explore/find?key=${encodeURIComponent(`hello:said:${EVIL}`)}`,
      `/explore/search?q=${encodeURIComponent(EVIL)}`
    ]) {
      await page.goto(path)
      await page.getByText('onerror=').first().waitFor()
      await isInert(page)
    }
  })

  it('as a symbol and an icon of a token', async () => {
    const id = await shown.demo.tokens.deploy({ sym: EVIL.slice(0, 30), icon: `javascript:${EVIL}` })
    const { page } = await shown.open('/explore/tokens')
    await page.getByText('<img src=x').first().waitFor()
    await isInert(page)
    await page.goto(`/explore/token/${id}`)
    await page.getByText('<img src=x').first().waitFor()
    // An icon that is not an outpoint counts as absent (BRC-161).
    expect(await page.getByText('javascript:').count()).toBe(0)
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
    await isInert(page)
    await page.goto(`/explore/address/${shown.demo.tokens.holder.address}`)
    const held = page.getByRole('list', { name: 'Tokens held' })
    await held.getByText('<img src=x').first().waitFor()
    expect(await held.getByText('javascript:').count()).toBe(0)
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
    await isInert(page)
  })

  it('as the media type and the content of an inscription', async () => {
    const { dev, engine } = shown.demo.node
    const script = inscription({ type: EVIL, content: utf8(EVIL), suffix: payTo(person(77)) })
    const { txid } = await dev!.fund(script, 1)
    await engine.submit({ beef: dev!.chain.beef(txid), topics: ['tm_hello'] })
    const { page } = await shown.open(`/explore/output/${formatTxid(txid)}.0`)
    await page.getByText('onerror=').first().waitFor()
    await isInert(page)
    await page.goto(`/explore/tx/${formatTxid(txid)}`)
    await page.getByText('onerror=').first().waitFor()
    await isInert(page)
    await page.goto(`/explore/address/${person(77).address}`)
    await page.getByText('onerror=').first().waitFor()
    await isInert(page)
  })

  it('as a key, a value and tags of an entry', async () => {
    await shown.demo.entries.set(EVIL, EVIL, [EVIL, BACKWARDS])
    const { page } = await shown.open('/explore/kv')
    await page.getByText('onerror=').first().waitFor()
    await isInert(page)
    await page.getByRole('link', { name: 'onerror=' }).first().click()
    await page.getByRole('heading', { name: 'onerror=' }).waitFor()
    await page.locator('pre', { hasText: 'onerror=' }).first().waitFor()
    await isInert(page)
    await page.getByRole('link', { name: 'onerror=' }).last().click()
    await page.waitForURL('**/explore/kv?tags=*')
    await isInert(page)
  })

  it('in the address of a page', async () => {
    const { page } = await shown.open('/')
    const evil = encodeURIComponent(EVIL)
    for (const path of [
      `/explore/tx/${evil}`,
      `/explore/output/${evil}`,
      `/explore/address/${evil}`,
      `/explore/token/${evil}`,
      `/explore/pool/${evil}`,
      `/explore/positions?owner=${evil}`,
      `/explore/kv?key=${evil}&controller=${evil}&protocol=${evil}&tags=${evil}`,
      `/explore/kv/entry?controller=${evil}&key=${evil}`,
      `/explore/explain/${evil}`,
      `/explore/playground#${btoa(EVIL)}`,
      '/explore/%E0%A4%A'
    ]) {
      await page.goto(path)
      await page.locator('main h1, main .failure, main .empty').first().waitFor()
      await page.waitForLoadState('networkidle')
      await isInert(page)
    }
  })

  it('in a layout of the playground', async () => {
    const { page } = await shown.open('/explore/playground')
    const layout = { name: EVIL, collections: [{ name: EVIL, key: [EVIL, { text: 'a' }, { text: 'b' }] }] }
    await page.getByLabel('Layout', { exact: true }).fill(JSON.stringify(layout))
    await page.locator('.verdict', { hasText: 'onerror=' }).waitFor()
    await isInert(page)
  })
})

describe('text that hides or turns', () => {
  it('is shown by the numbers of its characters', async () => {
    await shown.demo.entries.set(BACKWARDS, BACKWARDS)
    const { page } = await shown.open('/explore/kv')
    await page.getByText('U+202E').first().waitFor()
    await page.getByRole('link', { name: 'safe' }).first().click()
    await page.getByRole('heading', { name: 'safe' }).waitFor()
    for (const char of ['U+202E', 'U+0000', 'U+200B'])
      await page.locator('pre').getByText(char).first().waitFor()
    const text = await page.locator('main').textContent()
    for (const char of ['\u202E', '\u0000', '\u200B']) expect(text).not.toContain(char)
  })
})

describe('a megabyte', () => {
  it('of letters is shown in part, and more of it when asked', async () => {
    await shown.demo.entries.set('long', LONG)
    const { page } = await shown.open('/explore/kv?key=long')
    const rows = page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
    await rows.first().waitFor()
    expect((await rows.first().textContent())!.length).toBeLessThan(1000)
    await isInert(page)
    await page.getByRole('link', { name: 'long' }).first().click()
    const value = page.locator('pre').first()
    await value.waitFor()
    expect((await value.textContent())!.length).toBeLessThan(6000)
    await page
      .getByRole('button', { name: /^Show more of/ })
      .first()
      .click()
    await expect.poll(async () => (await value.textContent())!.length).toBeGreaterThan(20_000)
    await isInert(page)
  })
})

/** Its scripts run, and never in the origin of the node. */
describe('the content of an output', () => {
  const inscribed = async (type: string, content: string): Promise<string> => {
    const { dev, engine } = shown.demo.node
    const { txid } = await dev!.fund(inscription({ type, content, suffix: payTo(person(78)) }), 1)
    await engine.submit({ beef: dev!.chain.beef(txid), topics: ['tm_hello'] })
    return `/content/${formatTxid(txid)}_0`
  }

  /** A script that tells its origin, and whether it may read what pages of the node have stored. */
  const TELL = `
    let stored
    try { stored = localStorage.getItem('secret') } catch (error) { stored = error.name }
    let cookie
    try { cookie = document.cookie } catch (error) { cookie = error.name }
    self.told = [self.origin, stored, cookie]`

  /** What the script of a document told, after the page of the node has stored a secret. */
  const toldBy = async (path: string): Promise<unknown> => {
    const { page } = await shown.open('/')
    await page.evaluate(`localStorage.setItem('secret', 'of the operator'); document.cookie = 'secret=1'`)
    await page.goto(path)
    return page.evaluate('self.told')
  }
  const APART = ['null', 'SecurityError', 'SecurityError']

  it('a script of an HTML document has an origin of its own', async () => {
    const path = await inscribed('text/html', `<!doctype html><p>art</p><script>${TELL}</script>`)
    expect(await toldBy(path)).toEqual(APART)
  })

  it('the page of an output leads to it', async () => {
    const path = await inscribed('text/plain', 'as it is')
    const { page } = await shown.open(path.replace('/content/', '/explore/output/'))
    const link = page.getByRole('link', { name: 'content, as its author wrote it' })
    expect(await link.getAttribute('rel')).toContain('noopener')
    await page.goto((await link.getAttribute('href'))!)
    expect(await page.locator('body').textContent()).toBe('as it is')
  })

  it('a script of an SVG picture has an origin of its own', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>${TELL}</script></svg>`
    expect(await toldBy(await inscribed('image/svg+xml', svg))).toEqual(APART)
  })

  it('a document may load scripts from other outputs, in the origin of the document', async () => {
    const script = await inscribed('text/javascript', TELL)
    const path = await inscribed('text/html', `<!doctype html><p>art</p><script src="${script}"></script>`)
    expect(await toldBy(path)).toEqual(APART)
  })

  it('text that looks like HTML stays text', async () => {
    const { page } = await shown.open(await inscribed('text/plain', `<script>${TELL}</script>`))
    expect(await page.evaluate('self.told')).toBe(undefined)
    expect(await page.locator('body').textContent()).toContain('<script>')
  })

  it('a preview has an origin of its own', async () => {
    const html = Buffer.from(`<!doctype html><script>${TELL}</script>`).toString('base64')
    expect(await toldBy(`/1sat/ordfs/preview/${html}`)).toEqual(APART)
  })

  it('a page of the node cannot run a script from an output', async () => {
    const script = await inscribed('text/javascript', 'self.told = 1; export default 1')
    const { page } = await shown.open('/')
    const failure = await page.evaluate(`import('${script}').then(() => 'ran', error => error.name)`)
    expect([failure, await page.evaluate('self.told')]).toEqual(['TypeError', undefined])
  })
})
