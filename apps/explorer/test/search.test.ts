/** Search: what is pasted is taken for what it is. */
import { expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

const searched = async (text: string) => {
  const { page } = await shown.open('/')
  await page.getByRole('combobox', { name: 'Search' }).fill(text)
  await page.keyboard.press('Enter')
  return page
}

it('a txid leads to the transaction, and says what else it may be', async () => {
  const txid = shown.demo.messages[0]!.outpoint.slice(0, 64)
  const page = await searched(txid)
  await page.waitForURL(`**/explore/tx/${txid}`)
  await page.getByText('Taken for a transaction').waitFor()
  expect(await page.locator('.taken a').allTextContents()).toEqual(['raw key'])
  // What was searched for is of the entry in the history: a reload keeps it.
  await page.reload()
  await page.getByText('Taken for a transaction').waitFor()
})

it('an outpoint in every spelling leads to the output', async () => {
  const { outpoint } = shown.demo.messages[0]!
  for (const separator of ['.', '_', ':', 'i']) {
    const page = await searched(`  ${outpoint.replace('.', separator)} `)
    await page.waitForURL(`**/explore/output/${outpoint}`)
  }
})

it('an address, a topic, an event and a raw key lead to theirs', async () => {
  const { address } = shown.demo.author
  for (const [text, path] of [
    [address, `/explore/address/${address}`],
    ['tm_hello', '/explore/find?key=tp%3Atm_hello'],
    [`own:${address}`, `/explore/find?key=own%3A${address}`],
    ['0x7a3a74703a746d5f68656c6c6f', '/explore/explain/7a3a74703a746d5f68656c6c6f']
  ] as const) {
    const page = await searched(text)
    await page.waitForURL(`**${path}`)
  }
})

it('says as one types what it takes the text for, and any reading can be chosen', async () => {
  const { page } = await shown.open('/')
  const box = page.getByRole('combobox', { name: 'Search' })
  await box.fill('ab'.repeat(32))
  const options = page.getByRole('option')
  await options.first().waitFor()
  expect(await options.allTextContents()).toEqual([
    expect.stringContaining('transaction abab'),
    'raw key of 32 bytes'
  ])
  await options.last().click()
  await page.waitForURL(`**/explore/explain/${'ab'.repeat(32)}`)
})

it('whoever types while a view is being loaded is not interrupted', async () => {
  const { page } = await shown.open('/')
  await page.route('**/assets/*.js', async route => {
    await new Promise(resolve => setTimeout(resolve, 500))
    await route.continue()
  })
  await page.getByRole('link', { name: 'Tokens', exact: true }).click()
  const box = page.getByRole('combobox', { name: 'Search' })
  await box.fill('tm_hello')
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  expect(await box.inputValue()).toBe('tm_hello')
  expect(await box.evaluate(element => element === document.activeElement)).toBe(true)
})

it('what is typed while a search is on its way stays, and nothing is said to be unknown meanwhile', async () => {
  const { page } = await shown.open('/', {})
  let release: () => void = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/txo/tx/*', async route => {
    await released
    await route.continue()
  })
  await page.evaluate(`new MutationObserver(() => {
    window.denied ||= document.body.textContent.includes('Unknown name')
  }).observe(document.body, { childList: true, subtree: true, characterData: true })`)
  const txid = shown.demo.messages[0]!.outpoint.slice(0, 64)
  const box = page.getByRole('combobox', { name: 'Search' })
  await box.fill(txid)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/explore/search?q=*')
  await box.fill('something else')
  release()
  await page.waitForURL(`**/explore/tx/${txid}`)
  await page.getByText('Taken for a transaction').waitFor()
  expect(await box.inputValue()).toBe('something else')
  expect(await page.evaluate('window.denied')).toBe(false)
})

it('what nobody knows offers every reading', async () => {
  const page = await searched('ab'.repeat(32))
  await page.getByText('Unknown name').waitFor()
  const readings = page.getByRole('list', { name: 'Possible readings' }).getByRole('listitem')
  expect(await readings.count()).toBe(2)
})

it('what is no name of anything says what would be', async () => {
  const { page } = await shown.open(`/explore/search?q=${'x'.repeat(6000)}`)
  await page.getByText('Unknown kind of name').waitFor()
})
