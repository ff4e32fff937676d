/** What an operator does with the page, and that nobody else can. */

import { overlay } from '@quoin/overlay'
import { parseTxid } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { explorer } from './explorer.testing.ts'
import { TOKEN } from './node.testing.ts'

const shown = explorer()

const entered = async () => {
  const { page } = await shown.open('/explore/operator')
  await page.getByLabel('Admin token').fill(TOKEN)
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { name: 'Queues' }).waitFor()
  return page
}

describe('the token', () => {
  it('that is wrong opens nothing', async () => {
    const { page } = await shown.open('/explore/operator')
    await page.getByLabel('Admin token').fill('somebody-else-entirely')
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByText('Wrong admin token.').waitFor()
    expect(await page.getByRole('heading', { name: 'Queues' }).count()).toBe(0)
  })

  it('is in memory only: not stored, not in the address, gone after a reload', async () => {
    const page = await entered()
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href])'
    )
    expect(kept).not.toContain(TOKEN)
    await page.reload()
    await page.getByLabel('Admin token').waitFor()
  })

  it('stays while one goes about, until one leaves', async () => {
    const page = await entered()
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.goBack()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByLabel('Admin token').waitFor()
  })
})

describe('the operator', () => {
  it('sees the topics with how much is in them', async () => {
    const page = await entered()
    const row = page.getByRole('row', { name: /tm_hello/ })
    await row.waitFor()
    expect(await row.getByRole('cell').allTextContents()).toEqual(['3', '5'])
  })

  it('evicts an output, after being asked', async () => {
    const { outpoint } = await shown.demo.author.say('To be evicted')
    const page = await entered()
    page.removeAllListeners('dialog')
    page.once('dialog', dialog => void dialog.accept())
    await page.getByLabel('Outpoint').fill(outpoint)
    await page.getByRole('button', { name: 'Evict' }).click()
    await page.getByText('is in no topic any more').waitFor()
    await page.goto(`/explore/output/${outpoint}`)
    await page.getByText('The operator evicted it').waitFor()
  })

  it('that declines evicts nothing, and what is unknown is said to be', async () => {
    const page = await entered()
    page.removeAllListeners('dialog')
    page.once('dialog', dialog => void dialog.dismiss())
    await page.getByLabel('Outpoint').fill(shown.demo.messages[0]!.outpoint)
    await page.getByRole('button', { name: 'Evict' }).click()
    page.once('dialog', dialog => void dialog.accept())
    await page.getByLabel('Outpoint').fill(`${'ab'.repeat(32)}.0`)
    await page.getByRole('button', { name: 'Evict' }).click()
    await page.getByText('unknown output').waitFor()
    const kept = await fetch(`${shown.demo.url}/txo/outpoint/${shown.demo.messages[0]!.outpoint}`)
    expect(kept.status).toBe(200)
  })

  it('reads why a letter is dead, and sends it again', async () => {
    const txid = 'cd'.repeat(32)
    const { store } = shown.demo.node
    const queue = store.queueAt(overlay.collections.judgeAgain, [])
    // The node works on the queue too, and may be the faster.
    let [lease] = await queue.lease(1, 60)
    while (!lease) {
      await queue.enqueue(parseTxid(txid), Date.now() / 1000)
      ;[lease] = await queue.lease(1, 60)
    }
    await queue.fail(lease, { outcome: 'dead', reason: 'it is <b>poison</b>' })
    const page = await entered()
    await page.getByRole('button', { name: '1 dead in again:judge' }).click()
    await page.getByText('it is <b>poison</b>').waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByRole('button', { name: '0 dead in again:judge' }).waitFor()
  })

  it('finds what was refused in the form still, to mend it', async () => {
    const page = await entered()
    const id = page.getByLabel('Token to put on the whitelist')
    await id.fill('not a token')
    await page.getByRole('button', { name: 'Add' }).first().click()
    await page.getByText('Request failed').waitFor()
    expect(await id.inputValue()).toBe('not a token')
  })

  it('writes a backup, and sees the headers', async () => {
    const page = await entered()
    await page.getByRole('button', { name: 'Write a backup now' }).click()
    await page.getByText('written and read back').waitFor()
    await page.getByText('regtest').waitFor()
  })
})
