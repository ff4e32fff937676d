/** The keys: as they are declared, explained byte by byte, and the playground, whose verdicts are those of the command. */
import { expect, it } from 'vitest'
import { auditLayout, parseLayout } from '../../src/keyspace/index.ts'
import { asText, EXAMPLES } from '../src/playground/examples.ts'
import { explorer } from './explorer.testing.ts'

const shown = explorer()

it('every keyspace of the node is there, with what was proved of it', async () => {
  const { page } = await shown.open('/explore/keyspaces')
  const { keyspaces } = (await (await fetch(`${shown.demo.url}/keyspace`)).json()) as {
    keyspaces: { name: string; collections: { name: string }[] }[]
  }
  await page.locator('.keyspace').first().waitFor()
  expect(await page.locator('.keyspace h2').allTextContents()).toEqual(keyspaces.map(({ name }) => name))
  expect(await page.locator('.keyspace .badge').allTextContents()).toEqual(keyspaces.map(() => 'proved'))
  await page.locator('.keyspace', { hasText: 'outputs' }).first().locator('summary').click()
  const rows = await page.locator('.keyspace[open] tbody th').allTextContents()
  const opened = keyspaces.find(({ collections }) => collections.some(({ name }) => name === 'topicOutputs'))!
  expect(rows).toEqual(opened.collections.map(({ name }) => name))
})

it('a raw key is explained byte by byte, from hex and from text', async () => {
  const { page } = await shown.open('/explore/keyspaces')
  await page.getByLabel('Key, in hex or as text').fill('z:tp:tm_hello')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByRole('heading', { name: 'topicOutputs of outputs' }).waitFor()
  const spans = page.locator('.byte-row .span')
  expect(await spans.allTextContents()).toEqual(['7a3a74703a', '746d5f68656c6c6f'])
  const [literal, component] = await spans.evaluateAll(all =>
    all.map(each => getComputedStyle(each).backgroundColor)
  )
  expect(component).not.toBe(literal)
  expect(await page.locator('tbody tr').last().textContent()).toContain('tm_hello')
})

it('a key of nothing is told how near it comes', async () => {
  const { page } = await shown.open('/explore/explain/7a3a74703aff')
  await page.getByText('This is a key of nothing').waitFor()
  await page.getByText('It comes nearest to').waitFor()
})

it('the playground proves as one types, and says what the command says', async () => {
  const { page } = await shown.open('/explore/playground')
  for (const [name, layout] of Object.entries(EXAMPLES)) {
    await page.getByLabel('Begin with').selectOption(name)
    const { sound, findings } = auditLayout(parseLayout(asText(layout)))
    await page.locator('.verdict', { hasText: layout.name }).waitFor()
    expect(await page.locator('.verdict .badge').textContent()).toBe(sound ? 'sound' : 'unsound')
    const cards = page.getByRole('list', { name: 'Findings' }).getByRole('listitem')
    expect(await cards.count()).toBe(findings.length)
    for (const [i, { property, message, witness }] of findings.entries()) {
      const text = (await cards.nth(i).textContent())!
      for (const part of [property, message, ...witness]) expect(text).toContain(part)
    }
  }
})

it('an error of the layout is said with its place, and a mended one is proved', async () => {
  const { page } = await shown.open('/explore/playground')
  const layout = page.getByLabel('Layout', { exact: true })
  await layout.fill('{ "name": "x", "collections": [{ "name": "c", "key": [{ "u65be": "a" }] }] }')
  await page.getByText('ERR_AUDIT_FORMAT').waitFor()
  await page.getByText('$.collections[0].key[0]').waitFor()
  await layout.fill('{ "name": "x", "collections": [{ "name": "c", "key": [{ "u64be": "a" }] }] }')
  await page.getByText('every property proved').waitFor()
})

it('a layout is in its link', async () => {
  const { page } = await shown.open('/explore/playground')
  const layout = page.getByLabel('Layout', { exact: true })
  const text = '{ "name": "linked", "collections": [{ "name": "c", "key": ["é", { "u64be": "a" }] }] }'
  await layout.fill(text)
  await page.locator('.verdict', { hasText: 'linked' }).waitFor()
  const other = await shown.open(new URL(page.url()).pathname + new URL(page.url()).hash, {})
  await other.page.locator('.verdict', { hasText: 'linked' }).waitFor()
  expect(await other.page.getByLabel('Layout', { exact: true }).inputValue()).toBe(text)
})
