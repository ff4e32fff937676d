/** The keys: as they are declared, explained byte by byte, and the playground, whose verdicts are those of the command. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AuditReport, PROPERTIES } from '@quoin/keyspace'
import { beforeAll, describe, expect, it } from 'vitest'
import { asText, EXAMPLES } from '../src/playground/examples.ts'
import { toFragment } from '../src/playground/link.ts'
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
  await page.locator('.keyspace[open] tbody th').first().waitFor()
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
  await page.getByText('Not a key of this store').waitFor()
  await page.getByText('It comes nearest to').waitFor()
})

/** Layouts that are wrong, each in a way of its own; no layout can make P5 fail, which is of the codecs. */
const BROKEN: Readonly<Record<string, string>> = {
  P1: asText({ name: 'two readings', collections: [{ name: 'c', key: [{ text: 'a' }, { decimal: 'b' }] }] }),
  P2: asText({
    name: 'too much',
    collections: [
      { name: 'c', key: ['c|', { decimal: 'a' }, '|'], scans: [{ prefix: ['a'], trailing: false }] }
    ]
  }),
  P3: asText({
    name: 'both',
    collections: [
      { name: 'c', key: ['c', { hex: 'a', length: 4 }] },
      { name: 'd', key: ['c', { bytes: 'a', length: 8 }] }
    ]
  }),
  P4: asText({
    name: 'as text',
    collections: [
      { name: 'c', key: ['c', { u64be: 'a' }, { decimal: 'b' }], scans: [{ prefix: ['a'], order: 'value' }] }
    ]
  }),
  P7: asText({
    name: 'left out',
    collections: [{ name: 'c', key: ['c', { u64be: 'a' }, { u64be: 'b' }], scans: [['b']] }]
  }),
  'no JSON': '{ "name": ',
  'no layout': '{ "name": "x", "collections": [{ "name": "c", "key": [{ "u65be": "a" }] }] }',
  'nothing to prove': '{ "name": "x", "collections": [] }'
}

type Said =
  | (Pick<AuditReport, 'sound' | 'findings' | 'collections' | 'pairs'> & { readonly error?: undefined })
  | { readonly error: { readonly code: string; readonly message: string } }

/** What `quoin keyspace audit --json` prints, and its exit code. */
const commanded = async (folder: string, name: string, text: string): Promise<[Said, number]> => {
  const file = join(folder, `${name}.json`)
  await writeFile(file, text)
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [COMMAND, 'keyspace', 'audit', '--json', file], (error, out) => {
      const code = error ? error.code : 0
      if (typeof code === 'number') resolve([JSON.parse(out) as Said, code])
      else reject(error)
    })
  })
}
const COMMAND = fileURLToPath(new URL('../../../packages/node/bin/quoin.js', import.meta.url))

describe('the playground proves as one types, and says what the command says', () => {
  const layouts = {
    ...Object.fromEntries(Object.entries(EXAMPLES).map(([name, layout]) => [name, asText(layout)])),
    ...BROKEN
  }
  const said = new Map<string, [Said, number]>()
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-layouts-'))
    const all = Object.entries(layouts)
    const answers = await Promise.all(all.map(([, text], i) => commanded(folder, String(i), text)))
    for (const [i, [name]] of all.entries()) said.set(name, answers[i]!)
    await rm(folder, { recursive: true })
  }, 60_000)

  it.each(Object.entries(layouts))('of %s', async (name, text) => {
    const { page } = await shown.open('/explore/playground')
    const [report, code] = said.get(name)!
    if (name in EXAMPLES) await page.getByLabel('Begin with').selectOption(name)
    await page.getByLabel('Layout', { exact: true }).fill(text)
    const outcome = page.locator('.outcome[aria-busy=false]')
    await outcome.waitFor()
    if (report.error) {
      expect(code).toBe(2)
      expect(await outcome.locator('code').textContent()).toBe(report.error.code)
      expect(await outcome.textContent()).toContain(report.error.message)
      return
    }
    expect(code).toBe(report.sound ? 0 : 1)
    expect(await outcome.locator('.verdict .badge').textContent()).toBe(report.sound ? 'sound' : 'unsound')
    const cards = outcome.getByRole('list', { name: 'Findings' }).getByRole('listitem')
    expect(await cards.locator('.badge').allTextContents()).toEqual(
      report.findings.map(({ property }) => property)
    )
    for (const [i, { property, message, witness }] of report.findings.entries()) {
      expect(await cards.nth(i).textContent()).toContain(
        `${property} ${PROPERTIES[property]} fails${message}`
      )
      expect(await cards.nth(i).locator('code').allTextContents()).toEqual(witness)
    }
    if (/^P\d$/.test(name)) expect(report.findings.map(({ property }) => property)).toContain(name)
    const rows = outcome.getByRole('list', { name: 'Collections' }).getByRole('listitem')
    expect(await rows.allTextContents()).toEqual(
      report.collections.map(
        ({ name: of, key, sound, order }) =>
          `${sound ? 'sound' : 'unsound'}${of}${key}${order ? `walks by ${order}` : ''}`
      )
    )
    const { checked, overlapping } = report.pairs
    expect(await outcome.textContent()).toContain(
      `${checked} ${checked === 1 ? 'pair' : 'pairs'} checked, ${overlapping.length} overlap.`
    )
  })
})

it('a witness is a picture of both keys, with the bytes that they share underlined, and the remedies that work', async () => {
  const { page } = await shown.open('/explore/playground')
  await page.getByLabel('Layout', { exact: true }).fill(BROKEN['P2']!)
  await page.locator('.verdict', { hasText: 'too much' }).waitFor()
  const keys = page.locator('.witness-picture .byte-row')
  expect(await keys.locator('.part-value').allTextContents()).toEqual([
    "'c|'",
    'a = 1',
    "'|'",
    "'c|'",
    'a = 10',
    "'|'"
  ])
  expect(await keys.locator('.part-bytes .shared').allTextContents()).toEqual([
    '63',
    '7c',
    '31',
    '63',
    '7c',
    '31'
  ])
  expect(await page.locator('.remedy.works').first().textContent()).toContain('separator in the prefix')
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

it('the examples can be chosen again, and a link is followed in the page that is open', async () => {
  const { page } = await shown.open('/explore/playground')
  const [layout, examples] = [page.getByLabel('Layout', { exact: true }), page.getByLabel('Begin with')]
  const first = await layout.inputValue()
  await layout.fill('{}')
  await page.getByText('Not a layout yet').waitFor()
  expect(await examples.inputValue()).toBe('A layout of your own')
  await examples.selectOption('A scan that catches too much')
  expect(await layout.inputValue()).toBe(first)
  await page.evaluate(`location.hash = ${JSON.stringify(toFragment('{ "name": "followed" }'))}`)
  await page.waitForFunction("document.getElementById('layout').value.includes('followed')")
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
