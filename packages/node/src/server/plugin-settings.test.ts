/** Entries of the setting `plugins`: each form to a module spec, and a reason for each that is wrong. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moduleSpecs, parsePlugins, pluginProblems, pluginsRelativeTo } from './plugin-settings.ts'

const here = process.cwd()

describe('a text', () => {
  it.each([
    ['./x.js', { module: join(here, 'x.js') }],
    ['x.ts', { module: join(here, 'x.ts') }],
    ['/abs/x.mjs', { module: '/abs/x.mjs' }],
    ['some-package', { module: 'some-package' }],
    ['@scope/topics#Hello', { module: '@scope/topics', export: 'Hello' }],
    ['tm_x=./x.ts', { module: join(here, 'x.ts'), name: 'tm_x' }],
    ['ls_x=../y.ts#create', { module: join(here, '../y.ts'), name: 'ls_x', export: 'create' }],
    ['./a=b.js', { module: join(here, 'a=b.js') }],
    ['{"module":"./x.js","isolate":true}', { module: join(here, 'x.js'), isolate: true }]
  ])('%s', (text, spec) => {
    expect(pluginProblems([text])).toEqual([])
    expect(moduleSpecs([text])).toEqual([{ directory: here, ...spec }])
  })

  it.each([
    ['', 'plugins[0] is ""; expected [name=]module[#export]'],
    ['tm_x=', 'plugins[0] is "tm_x="; expected [name=]module[#export]'],
    ['#X', 'expected [name=]module[#export]'],
    ['{"module":', 'plugins[0] is "{\\"module\\":"; expected JSON'],
    [
      '{"module":"x","name":"x"}',
      'plugins[0].name is "x"; expected tm_… for a topic or ls_… for a lookup service'
    ]
  ])('%j is refused', (text, reason) => {
    expect(pluginProblems([text])[0]).toContain(reason)
  })
})

describe('an object', () => {
  const module = './x.js'
  it.each([
    [{}, 'plugins[0] has no module; expected the path of a file or the name of a package'],
    [{ module: 5 }, 'plugins[0].module is 5; expected the path'],
    [{ module, nam: 'tm_x' }, 'plugins[0]: unknown key nam; did you mean name?'],
    [{ module, concurrency: 0 }, 'plugins[0].concurrency is 0; expected a whole number from 1 to 1000'],
    [{ module, topics: ['x'] }, 'plugins[0].topics is ["x"]; expected a list of topics, tm_…'],
    [{ module, isolate: 'yes' }, 'plugins[0].isolate is "yes"; expected true or false'],
    [[], 'plugins[0] is []; expected a module as text or an object'],
    [null, 'plugins[0] is null; expected a module as text or an object']
  ])('%j is refused', (entry, reason) => {
    expect(pluginProblems([entry])[0]).toContain(reason)
  })

  it('each wrong entry has its place', () => {
    expect(pluginProblems(['./x.js', {}, { module, export: '' }])).toEqual([
      expect.stringContaining('plugins[1] has no module'),
      expect.stringContaining('plugins[2].export is ""')
    ])
    expect(pluginProblems('./x.js')).toEqual(['plugins: expected a list of at most 1000 modules'])
  })
})

it('any value is a list of plug-ins or has a reason', () => {
  const entry = fc.oneof(
    fc.anything(),
    fc.string(),
    fc.record({ module: fc.string(), name: fc.string() }, { requiredKeys: [] })
  )
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), entries => {
      if (pluginProblems(entries).length > 0) return
      const specs = moduleSpecs(entries as string[])
      expect(specs).toHaveLength(entries.length)
      for (const { module } of specs) expect(module).not.toBe('')
    })
  )
})

it('texts of an option are split at commas outside of JSON', () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.array(fc.string(), { maxLength: 2 }))
  const object = fc.dictionary(fc.string(), value)
  const entries = fc.array(fc.oneof(fc.stringMatching(/^[a-z./@#=_-]{1,9}$/), object), { minLength: 1 })
  fc.assert(
    fc.property(entries, all => {
      const texts = all.map(each => (typeof each === 'string' ? each : JSON.stringify(each)))
      expect(parsePlugins(texts.join(', ')).map(each => JSON.stringify(each))).toEqual(
        all.map(each => JSON.stringify(each))
      )
    })
  )
})

it('paths and packages of a file are relative to it, and malformed entries stay to be reported', () => {
  const entries = ['./x.js', 'y.ts', 'pkg#X', { module: 'pkg', directory: 'backend' }, { modul: 'x' }]
  expect(pluginsRelativeTo('/etc/quoin/quoin.yaml', entries)).toEqual([
    '/etc/quoin/x.js',
    '/etc/quoin/y.ts',
    { module: 'pkg', directory: '/etc/quoin', export: 'X' },
    { module: 'pkg', directory: '/etc/quoin/backend' },
    { modul: 'x' }
  ])
})
