/** Transactions, outputs, addresses and lists of outputs; back, forward and reload. */
import { readFile } from 'node:fs/promises'
import { Beef } from '@quoin/chain'
import { formatTxid } from '@quoin/primitives'
import type { Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

describe('a block', () => {
  it('is a link wherever it is named, and has its header and its outputs', async () => {
    const { page } = await shown.open(`/explore/output/${shown.demo.replaced.outpoint}`)
    const link = page.getByRole('link', { name: /^block \d+$/ }).first()
    const [, height] = /(\d+)$/.exec((await link.textContent())!)!
    await link.click()
    await page.getByRole('heading', { name: height!, exact: true }).waitFor()
    const outputs = page.getByRole('list', { name: 'Outputs of the block' }).getByRole('listitem')
    await outputs.first().waitFor()
    const blocks = await outputs.getByRole('link', { name: /^block / }).allTextContents()
    expect(new Set(blocks)).toEqual(new Set([`block ${height}`]))
    await page.getByRole('link', { name: `block ${Number(height) - 1}` }).click()
    await page.getByRole('heading', { name: `${Number(height) - 1}`, exact: true }).waitFor()
    await page.goto('/explore/block/400000000')
    await page.getByText('Not known here').waitFor()
    await page.goto('/explore/block/first')
    await page.getByText('This is not the height of a block').waitFor()
  })

  it('a refused name never shows a regular expression', async () => {
    const { page } = await shown.open('/explore/tx/nothing')
    const failure = page.getByRole('alert')
    await failure.waitFor()
    expect(await failure.textContent()).toContain(
      'Expected a text of another form: As people see it, 64 digits'
    )
    expect(await failure.textContent()).not.toMatch(/[\^$]|\[0-9/)
  })
})
const txidOf = (outpoint: string): string => outpoint.slice(0, 64)

describe('a transaction', () => {
  it('shows what it spends and makes, what that means, and its proof', async () => {
    const last = shown.demo.messages.at(-1)!
    const { page } = await shown.open(`/explore/tx/${txidOf(last.outpoint)}`)
    await page.getByText('proven').waitFor()
    const inputs = page.getByRole('list', { name: 'Inputs' }).getByRole('listitem')
    expect(await inputs.count()).toBe(2)
    await inputs.first().getByText('PushDrop token').waitFor()
    const outputs = page.getByRole('list', { name: 'Outputs' }).getByRole('listitem')
    expect(await outputs.count()).toBe(2)
    expect(await outputs.first().textContent()).toContain('hello:said:A typo, corrected')
    expect(await outputs.last().textContent()).toContain('pays')
    await inputs.first().getByRole('link').first().click()
    await page.waitForURL(`**/explore/output/${shown.demo.replaced.outpoint}`)
  })

  it('says of nothing that it is not known before the node has said so', async () => {
    const { page } = await shown.open('/', {})
    const asked = held()
    await page.route('**/txo/outpoint/*', asked.hold)
    await page.goto(`/explore/tx/${txidOf(shown.demo.messages.at(-1)!.outpoint)}`)
    await page.getByText('proven').waitFor()
    expect(await page.getByText('value not known here').count()).toBe(0)
    asked.release()
    await page.getByText('PushDrop token').first().waitFor()
  })

  it('can be downloaded with what proves it', async () => {
    const txid = txidOf(shown.demo.messages[0]!.outpoint)
    const { page } = await shown.open(`/explore/tx/${txid}`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'BEEF' }).click()
    ])
    expect(download.suggestedFilename()).toBe(`${txid}.beef`)
    const beef = Beef.parse(new Uint8Array(await readFile(await download.path())))
    expect(beef.transactions.map(each => formatTxid(each.txid))).toContain(txid)
    for (const name of ['raw', 'proof']) await page.getByRole('link', { name, exact: true }).waitFor()
  })

  it('that nobody knows is said to be unknown', async () => {
    const { page } = await shown.open(`/explore/tx/${'ab'.repeat(32)}`)
    await page.getByText('Not known here').waitFor()
  })
})

describe('an output', () => {
  it('that is spent says by what, and why the topic no longer has it', async () => {
    const { replaced, messages } = shown.demo
    const { page } = await shown.open(`/explore/output/${replaced.outpoint}`)
    await page.getByText('tm_hello admitted it, and removed it').waitFor()
    await page.getByRole('link', { name: /…/ }).first().waitFor()
    const spender = page.locator('.facts a[href^="/explore/tx/"]').first()
    expect(await spender.getAttribute('href')).toBe(`/explore/tx/${txidOf(messages.at(-1)!.outpoint)}`)
    // The field of the token, as bytes and as the text that they are.
    await page.getByText('“A typo, to be corected”').waitFor()
  })

  it('that is live says who admitted it; in any spelling it is the same', async () => {
    const name = shown.demo.messages[0]!.outpoint
    const { page } = await shown.open(`/explore/output/${name.replace('.', '_').toUpperCase()}`)
    await page.getByText('tm_hello admitted it').waitFor()
    expect(await page.locator('h1').textContent()).toBe(name)
  })

  it('that is unknown is explained too', async () => {
    const { page } = await shown.open(`/explore/output/${'ab'.repeat(32)}.0`)
    await page.getByText('The transaction is not known here.').waitFor()
    await page.goto('/explore/output/nonsense')
    await page.getByText('This is not the name of an output').waitFor()
  })
})

describe('an address', () => {
  it('has its balance, what is unspent, what is spent, and its history', async () => {
    const { author } = shown.demo
    const { page } = await shown.open(`/explore/address/${author.address}`)
    const balance = page.locator('.tile', { hasText: 'Balance' })
    await balance.waitFor()
    const digits = (await balance.locator('.tile-value').textContent())!.replaceAll(/\D/g, '')
    expect(digits).toBe(await author.balance())
    const unspent = page.getByRole('list', { name: 'Unspent outputs' }).getByRole('listitem')
    await unspent.first().waitFor()
    expect(await unspent.count()).toBe(1)
    await page.getByRole('link', { name: 'History' }).click()
    await page.waitForURL('**?list=history')
    const history = page.getByRole('list', { name: 'History outputs' }).getByRole('listitem')
    await history.first().waitFor()
    expect(await history.count()).toBe(5)
    await page.getByRole('link', { name: 'Spent', exact: true }).click()
    const spent = page.getByRole('list', { name: 'Spent outputs' }).getByRole('listitem')
    await spent.first().waitFor()
    expect(await spent.count()).toBe(4)
  })

  it('with a letter wrong is said to be none', async () => {
    const { page } = await shown.open('/explore/address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb')
    await page.getByText('The checksum of this address is wrong').waitFor()
    await page.goto('/explore/address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')
    await page.getByText('Nothing unspent pays this address').waitFor()
    expect(await page.getByText('checksum').count()).toBe(0)
  })

  it('what the index refuses is said in its words', async () => {
    const { page } = await shown.open('/explore/address/not-an-address')
    await page.getByText('Request failed').waitFor()
    await page.getByText('ERR_').waitFor()
  })
})

describe('a topic', () => {
  it('shows its anchor, as the node has it', async () => {
    const { anchors } = (await (await fetch(`${shown.demo.url}/status`)).json()) as {
      anchors: Record<string, { tac: string }>
    }
    const { page } = await shown.open('/explore/find?key=tp:tm_hello')
    await page.getByRole('heading', { name: 'Anchor' }).waitFor()
    await page.getByText(anchors['tm_hello']!.tac).waitFor()
  })
})

describe('a list of outputs', () => {
  it('grows by pages, and has each row once', async () => {
    for (let i = 0; i < 60; i++) await shown.demo.author.say(`row ${i}`)
    const { page } = await shown.open('/explore/find?key=tp:tm_hello')
    const rows = page.getByRole('list', { name: 'Outputs' }).getByRole('listitem')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(50)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('End of the list.').waitFor()
    const links = await rows
      .locator('a:first-child')
      .evaluateAll(all => all.map(each => each.getAttribute('href')))
    const outputs = links.filter(each => each?.startsWith('/explore/output/'))
    expect(new Set(outputs).size).toBe(63)
  })

  it('is as it was left when one comes back to it', async () => {
    const { page } = await shown.open('/explore/find?key=tp:tm_hello')
    const rows = page.getByRole('list', { name: 'Outputs' }).getByRole('listitem')
    await rows.nth(49).waitFor()
    const more = page.getByRole('button', { name: 'Show more' })
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByText('End of the list.').waitFor()
    // The keys go on where the new rows begin.
    await expect.poll(() => rows.nth(50).evaluate(row => row === document.activeElement)).toBe(true)
    await rows.nth(58).getByRole('link').first().scrollIntoViewIfNeeded()
    const top = Number(await page.evaluate('scrollY'))
    expect(top).toBeGreaterThan(1000)
    await rows.nth(58).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Why' }).waitFor()
    await page.goBack()
    await rows.nth(62).waitFor()
    await expect.poll(async () => Math.abs(Number(await page.evaluate('scrollY')) - top)).toBeLessThan(200)
  })

  it('that has nothing says so', async () => {
    const { page } = await shown.open('/explore/find?key=tp:tm_nothing')
    await page.getByText('The topic has no outputs').waitFor()
  })
})

/** Answers that wait until they are let go. */
const held = () => {
  let release: () => void = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  return {
    release,
    async hold(route: Route) {
      await released
      await route.continue()
    }
  }
}

describe('going about', () => {
  it('what is there stays as it is while the next view is on its way', async () => {
    const { address } = shown.demo.author
    const { page } = await shown.open(`/explore/address/${address}?list=history`, {})
    const history = page.getByRole('list', { name: 'History outputs' })
    await history.waitFor()
    const script = held()
    await page.route('**/assets/*.js', script.hold)
    await page.getByRole('link', { name: 'Tokens', exact: true }).click()
    await page.locator('.under-way').waitFor({ state: 'attached' })
    expect(await history.count()).toBe(1)
    script.release()
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  })

  it('back, forward and reload lead where they should, without loading the page anew in between', async () => {
    const { page } = await shown.open('/')
    await page.evaluate('window.isSame = true')
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    // Whoever cannot see the page hears where they are.
    await page.waitForFunction("document.activeElement.tagName === 'H1'")
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByRole('heading', { name: 'Operator' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'quoin' }).waitFor()
    await page.goForward()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    expect(await page.evaluate('window.isSame')).toBe(true)
    await page.reload()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    expect(await page.title()).toBe('Keys · Quoin')
    await page.goto(`/explore/tx/${'ab'.repeat(32)}`)
    await page.getByText('Not known here').waitFor()
    expect(await page.title()).toBe('Transaction abababab…abababab · Quoin')
  })

  it('an address of no view says so', async () => {
    const { page } = await shown.open('/explore/nowhere')
    await page.getByText('No view has this address').waitFor()
  })

  it('with the keys alone', async () => {
    const { page } = await shown.open('/')
    await page.getByText('ready', { exact: true }).waitFor()
    await page.keyboard.press('Tab')
    await page.waitForFunction("document.activeElement.textContent === 'Skip to the content'")
    await page.keyboard.press('Enter')
    await page.waitForFunction("document.activeElement.id === 'main'")
    await page.keyboard.press('/')
    await page.keyboard.type('tm_hello')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/explore/find?key=tp%3Atm_hello')
    await page.getByText('Taken for a topic').waitFor()
  })

  it('in the colours that one chose, also after a reload', async () => {
    const { page } = await shown.open('/explore/keyspaces', { colorScheme: 'light' })
    await page.getByRole('button', { name: 'Use dark colours' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Use light colours' }).waitFor()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })
})
