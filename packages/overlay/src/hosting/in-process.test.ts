/** Plug-ins of Quoin's form that run in the process of the node: how they are imported, and checked. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { afterEach, describe, expect, it } from 'vitest'
import { type InstalledPlugins, installPlugins } from '../plugin.ts'
import { closeHosts, FIXTURES, fixture, hostOf } from './hosting.testing.ts'
import { importPlugin } from './in-process.ts'
import type { ModuleSpec } from './module-spec.ts'

afterEach(closeHosts)

const installed = async (spec: ModuleSpec): Promise<InstalledPlugins & { readonly name: string }> => {
  const { host } = await hostOf([spec])
  const [plugin] = await Promise.all(host.inProcess.map(importPlugin))
  const store = await openStore('memory:')
  try {
    return { name: plugin!.name, ...(await installPlugins([plugin!], { outputs: new OutputStore(store) })) }
  } finally {
    await store.close()
  }
}

describe('a plug-in', () => {
  it.each([
    ['a plug-in', fixture('own.mjs'), 'own', 'tm_own'],
    ['records', fixture('own.mjs', { export: 'records' }), 'own', 'tm_own'],
    ['a class', fixture('own.mjs', { export: 'OwnTopic', name: 'tm_class' }), 'own', 'tm_class'],
    [
      'a class with options',
      fixture('own.mjs', { export: 'OwnTopic', name: 'tm_class', options: { outputs: [7] } }),
      'own',
      'tm_class'
    ],
    ['a factory', fixture('own.mjs', { export: 'make', options: { name: 'made' } }), 'made', 'tm_made'],
    ['in TypeScript', fixture('own.ts'), 'typed', 'tm_typed']
  ])('is %s', async (_, spec, name, topic) => {
    const { name: found, topics } = await installed(spec)
    expect([found, Object.keys(topics)]).toEqual([name, [topic]])
    expect(topics[topic]).toMatchObject(spec.options ? { options: spec.options } : {})
    expect(await topics[topic]!.getMetaData()).toMatchObject({ shortDescription: '' })
  })

  it('is a package that can be imported and not required', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quoin-own-'))
    try {
      const path = join(directory, 'node_modules/own-overlay')
      await mkdir(path, { recursive: true })
      const manifest = { name: 'own-overlay', type: 'module', exports: { import: './index.js' } }
      await writeFile(join(path, 'package.json'), JSON.stringify(manifest))
      await writeFile(join(path, 'index.js'), `export { default } from '${FIXTURES}/own.mjs'`)
      expect((await installed({ module: 'own-overlay', directory })).name).toBe('own')
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

it.each([
  [
    'incomplete',
    /plug-in incomplete has a topic tm_x without identifyAdmissibleOutputs, getDocumentation; expected/
  ],
  ['nothing', /plug-in nothing has a topic tm_x that is not an object: null/],
  ['halfLookup', /plug-in half has a lookup ls_x without lookup; expected index, lookup/]
])('a plug-in is refused when its setup makes a service without its methods: %s', async (name, reason) => {
  const refused = installed(fixture('own.mjs', { export: name }))
  await expect(refused).rejects.toMatchObject({
    code: 'ERR_PLUGIN',
    message: expect.stringMatching(reason)
  })
})

it("a plug-in of Quoin's form is refused with a database, which it would not get", async () => {
  const spec = fixture('own.mjs')
  const refused = importPlugin({
    spec: { ...spec, hydrateWith: 'knex' },
    url: new URL('./fixtures/own.mjs', import.meta.url).href
  })
  await expect(refused).rejects.toMatchObject({ code: 'ERR_PLUGIN', message: /leave out hydrateWith: knex/ })
})
