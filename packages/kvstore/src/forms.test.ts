/** Every form of docs/brc-35-forms.md is judged as written: by the node, the client and the reference. */
import { readFileSync } from 'node:fs'
import { isRefusal, type KvContent } from '@quoin/kvstore-client/token'
import { makeOutpoint, toHex } from '@quoin/primitives'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { verifyScript } from '../../kvstore-client/src/verify.ts'
import { KvNode } from './author.testing.ts'
import { author, FORMS, type Form, formsPage } from './forms.testing.ts'
import { loadEntries } from './index.ts'
import { referenceAdmits } from './sdk.testing.ts'
import { shows } from './shows.testing.ts'
import { verifyToken } from './verify.ts'

let node: KvNode
beforeAll(async () => {
  node = await KvNode.open()
})
afterAll(() => node.close())

const refusedAs = ({ verdict }: Form): string | undefined =>
  typeof verdict === 'string' ? verdict : undefined
const contentOf = ({ verdict }: Form): Partial<KvContent> =>
  typeof verdict === 'string' ? {} : { ...verdict, controller: author.controller }

it.each(FORMS)('$form: judged as written by node, client and reference', async form => {
  for (const read of [verifyToken(form.script), verifyScript(form.script)]) {
    expect(isRefusal(read) ? read.code : undefined).toBe(refusedAs(form))
    shows('A-4', read).toMatchObject(contentOf(form))
  }
  expect(await referenceAdmits(form.script)).toBe(form.isAdmittedByReference)
})

it('the topic admits the entries among them, and names the section that each other one breaks', async () => {
  const key = makeKey('forms')
  const transaction = spend({
    inputs: [{ from: node.chain.fund(payTo(key), 1000), vout: 0, unlock: withKeyHash(key) }],
    outputs: FORMS.map(({ script }) => ({ satoshis: 1, script }))
  })
  await node.chain.submit(transaction)
  const { tm_kvstore: answer } = await node.submit(transaction)
  const entries = FORMS.flatMap((form, vout) => (refusedAs(form) === undefined ? vout : []))
  expect(answer!.outputsToAdmit).toEqual(entries)
  const { refused } = (await node.engine.admissions(transaction.txid))!['tm_kvstore']!
  expect(Object.keys(refused!).map(Number)).toEqual([...FORMS.keys()].filter(vout => !entries.includes(vout)))
  for (const reason of Object.values(refused!)) expect(reason).toMatch(/ \(BRC-35 §\d(\.\d)?\)$/)

  const outpoints = entries.map(vout => makeOutpoint(transaction.txid, vout))
  const loaded = await loadEntries(node.engine.outputs, outpoints)
  for (const [i, vout] of entries.entries()) expect(loaded[i]).toMatchObject(contentOf(FORMS[vout]!))
})

it('every spelling of the protocol is found under the one tuple, and every tag by a query', async () => {
  const found = async (query: object): Promise<string[]> =>
    (await node.engine.lookup('ls_kvstore', { limit: 1000, ...query })).map(({ outpoint }) => toHex(outpoint))
  const { controller } = author
  const canonical = await found({ protocolID: [1, 'kvstore'], key: 'greeting', controller })
  expect(canonical).toHaveLength(FORMS.filter(form => !refusedAs(form)).length - 1)
  expect(await found({ protocolID: [1, ' KVStore'], key: 'greeting', controller })).toEqual(canonical)
  expect(await found({ key: '\ufeffgreeting' })).toHaveLength(1)
  for (const form of FORMS) {
    for (const tag of contentOf(form).tags ?? []) expect(await found({ tags: [tag] })).not.toEqual([])
  }
  expect(await found({ tags: ['\ud800'] })).toHaveLength(1)
  expect(await found({ tags: ['\ufffd'] })).toEqual([])
})

it('docs/brc-35-forms.md is current: npx tsx packages/kvstore/src/forms.testing.ts > docs/brc-35-forms.md', () => {
  const page = new URL('../../../docs/brc-35-forms.md', import.meta.url)
  expect(readFileSync(page, 'utf8')).toBe(formsPage())
  expect(FORMS).toHaveLength(35)
})
