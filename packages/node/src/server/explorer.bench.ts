/**
 * The explorer in a real browser: what each page loads and how soon it has data, whether the largest lists open at once,
 * and what is left in memory after an hour of live changes.
 *
 * The lists are of a token with very many holders and an address with very many outputs, written straight into the store
 * of a node. The hour is 36,000 changes, ten a second, sent to the page as one stream.
 */

import { bsv21Events, topicOf } from '@quoin/bsv21'
import { formatAddress, sha256 } from '@quoin/chain'
import type { TokenId, Txid } from '@quoin/primitives'
import { type OutputStore, TxUpdate } from '@quoin/txo'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, openPage } from '../../../../apps/explorer/test/browser.testing.ts'
import { type DemoNode, startDemo } from '../../../../apps/explorer/test/node.testing.ts'
import { viewsOf } from '../../../../apps/explorer/test/views.testing.ts'
import { suite } from '../../../../bench/harness.ts'

const RICH = '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
const SETTLING_MS = 500
const hashOf = (text: string): Uint8Array => sha256(new TextEncoder().encode(text))
const addressOf = (number: number): string => formatAddress(hashOf(`holder ${number}`).slice(0, 20))

export default suite(({ sheet, after, note, scale, progress }) => {
  const [outputs, holders, changes] = (
    { quick: [1e4, 1e3, 5e3], normal: [1e6, 1e5, 36e3], full: [1e6, 1e5, 36e3] } as const
  )[scale]
  note(
    'Script is what the pages load, compressed, with nothing in the cache; first data is from the click to the rows.'
  )
  let demo: DemoNode | undefined
  let browser: Browser | undefined
  const opened = async (): Promise<{ demo: DemoNode; browser: Browser }> => {
    demo ??= await startDemo({ 'limits.rate': '0' })
    browser ??= await openBrowser()
    return { demo, browser }
  }
  after(async () => {
    await browser?.close()
    await demo?.close()
  })

  sheet('pages', async () => {
    const { demo: node, browser: program } = await opened()
    const rows: (string | number)[][] = []
    for (const { name, path, wait } of viewsOf(node)) {
      if (name === 'operator' || name === 'search') continue
      const { page } = await openPage(program, node.url)
      const since = performance.now()
      await page.goto(path)
      await page.getByText(wait).first().waitFor()
      const took = performance.now() - since
      // What a page loads after its first data, as a chart, is script too.
      await page.waitForTimeout(SETTLING_MS)
      rows.push([name, ...(await transferred(page)), Math.round(took)])
      await page.context().close()
    }
    return { columns: ['page', 'script kB', 'style kB', 'data kB', 'first data ms'], rows }
  })

  sheet('the largest lists', async () => {
    const { demo: node, browser: program } = await opened()
    const store = node.node.engine.outputs
    await pay(store, outputs, progress)
    const token = node.tokens.gold
    await spread(store, token, holders, progress)
    const rows: (string | number)[][] = []
    for (const [name, size, path, list] of [
      ['holders of a token', holders, `/explore/token/${token}`, 'Holders'],
      ['outputs of an address', outputs, `/explore/address/${RICH}`, 'Unspent outputs'],
      ['history of an address', outputs, `/explore/address/${RICH}?list=history`, 'History outputs']
    ] as const) {
      const { page } = await openPage(program, node.url)
      const items = page.getByRole('list', { name: list }).locator('> li')
      const since = performance.now()
      await page.goto(path)
      await items.first().waitFor()
      const first = performance.now() - since
      const longest = await longestPause(page, async () => {
        for (let pages = 1; pages <= 10; pages++) {
          const shown = await items.count()
          await page.getByRole('button', { name: 'Show more', exact: true }).click()
          await items.nth(shown).waitFor({ state: 'attached' })
        }
      })
      rows.push([name, size, Math.round(first), await items.count(), Math.round(longest)])
      await page.context().close()
    }
    return { columns: ['list', 'rows in all', 'first rows ms', 'rows shown', 'longest pause ms'], rows }
  })

  sheet('an hour of live changes', async () => {
    const { demo: node, browser: program } = await opened()
    const { page } = await openPage(program, node.url)
    let sent = false
    await page.route('**/live*', route => {
      const body = sent ? 'retry: 60000\n\n' : stream(changes)
      sent = true
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await page.goto('/explore/keyspaces')
    await page.getByText('The output store.').waitFor()
    const before = await heap(page)
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText(`own:${addressOf(changes - 1)}`).waitFor()
    const during = await heap(page)
    const nodes = await page.evaluate('document.querySelectorAll("*").length')
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByText('The output store.').waitFor()
    return {
      columns: ['changes', 'MB before', 'MB after', 'MB when left', 'elements'],
      rows: [[changes, before, during, await heap(page), Number(nodes)]]
    }
  })
})

/** Kilobytes over the wire: of scripts, styles, and what was asked for. */
const transferred = async (page: Page): Promise<number[]> => {
  const sizes = (await page.evaluate(
    `performance.getEntriesByType('resource').map(each => [new URL(each.name).pathname, each.encodedBodySize])`
  )) as [string, number][]
  const sum = (matches: (path: string) => boolean): number =>
    Math.round(sizes.reduce((total, [path, size]) => total + (matches(path) ? size : 0), 0) / 100) / 10
  return [
    sum(path => path.endsWith('.js')),
    sum(path => path.endsWith('.css')),
    sum(path => !path.startsWith('/assets/'))
  ]
}

/** The longest time in which the page could not have answered, while something was done with it. */
const longestPause = async (page: Page, work: () => Promise<void>): Promise<number> => {
  await page.evaluate(`
    window.longest = 0
    let last = performance.now()
    const tick = () => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; requestAnimationFrame(tick) }
    requestAnimationFrame(tick)`)
  await work()
  return (await page.evaluate('longest')) as number
}

/** Megabytes of the page's heap, after its garbage is collected. */
const heap = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return Math.round(usedSize / 1e5) / 10
}

const stream = (changes: number): string =>
  Array.from({ length: changes }, (_, i) => {
    const txid = Buffer.from(hashOf(`change ${i}`)).toString('hex')
    const events = [`own:${addressOf(i)}`, `txid:${txid}`]
    const data = {
      position: i,
      kind: 'saved',
      txid,
      score: 1e9 + i,
      outputs: [{ vout: 0, events, topics: [] }],
      spends: []
    }
    return `event: saved\nid: ${i}\ndata: ${JSON.stringify(data)}\n\n`
  }).join('')

/** So many outputs for one address. */
const pay = async (store: OutputStore, count: number, progress: (text: string) => void): Promise<void> => {
  const size = 1000
  for (let first = 0; first < count; first += size) {
    const change = new TxUpdate(hashOf(`payment ${first}`) as Txid, {
      position: { height: 1 + first / size, index: 0n },
      vouts: size
    })
    for (let vout = 0; vout < size; vout++) change.output(vout, { satoshis: 1000, events: [`own:${RICH}`] })
    await store.commit(change)
    if (first % 1e5 === 0) progress(`${first.toLocaleString('en-US')} outputs`)
  }
}

/** A token over so many holders, as its topic admitted the outputs; nothing of it is verified. */
const spread = async (
  store: OutputStore,
  token: TokenId,
  count: number,
  progress: (text: string) => void
): Promise<void> => {
  const size = 100
  const { id, p2pkh } = bsv21Events.types
  for (let made = 0; made < count; ) {
    const change = new TxUpdate(hashOf(`spread ${made}`) as Txid, {
      vouts: size,
      position: { height: 1e5 + made / size, index: 0n }
    })
    for (let vout = 0; vout < size; vout++, made++) {
      const amt = `${1 + ((made * 31) % 1_000_000)}`
      change
        .output(vout, {
          satoshis: 1,
          events: [id.text(token), p2pkh.text(addressOf(made), token)],
          data: { bsv21: { id: token, op: 'transfer', amt } }
        })
        .admit(topicOf(token), vout)
    }
    await store.commit(change)
    if (made % 1e4 === 0) progress(`${made.toLocaleString('en-US')} holders`)
  }
}
