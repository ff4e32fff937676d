/** Content of outputs in a browser: its scripts run, and never in the origin of the node. */
import { formatTxid } from '@quoin/primitives'
import { expect, it } from 'vitest'
import { inscription, payTo, person } from '../../../packages/txo/src/scripts/scripts.testing.ts'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

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
