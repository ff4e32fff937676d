/** The modules that are hosted: the forms of their exports, and the errors of those that are refused. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBeef, writeTransaction } from '@quoin/chain'
import { afterEach, describe, expect, it } from 'vitest'
import { TestChain } from '../../../chain/src/verify/test-chain.testing.ts'
import { closeHosts, FIXTURES, fixture, hostOf, isAlive } from './hosting.testing.ts'
import type { HostOptions, ModuleSpec } from './module-spec.ts'

afterEach(closeHosts)

const chain = new TestChain()
const output = (satoshis: number) => ({ satoshis, script: Uint8Array.of(0x51) })
const parent = chain.fund([output(1), output(2)])
const subject = writeTransaction({
  version: 1,
  inputs: [0, 1].map(vout => ({ txid: parent.txid, vout, script: new Uint8Array(), sequence: 0 })),
  outputs: [output(1), output(5), output(1)],
  lockTime: 0
})
const beef = writeBeef({
  version: 1,
  transactions: [
    { txid: parent.txid, transaction: parent, bump: chain.bumpOf(parent) },
    { txid: subject.txid, transaction: subject, bump: undefined }
  ]
})

describe('a topic', () => {
  it.each([
    ['a class', fixture('foreign.mjs', { name: 'tm_it' }), [0, 1, 2]],
    ['a class of ES5 in CommonJS', fixture('compiled.cjs', { name: 'tm_it' }), [4]],
    ['a record', fixture('foreign.mjs', { export: 'records', name: 'tm_record' }), [0, 1, 2]]
  ])('is %s', async (_, spec, outputsToAdmit) => {
    const { host } = await hostOf([spec])
    const topic = host.topics[spec.name!]!
    expect(await topic.identifyAdmissibleOutputs(beef, [1], undefined, 'current-tx')).toMatchObject({
      outputsToAdmit
    })
  })

  it('is built with its options, and described', async () => {
    const { host } = await hostOf([
      fixture('foreign.mjs', { name: 'tm_a', options: { title: 'Alpha' } }),
      fixture('foreign.mjs', { name: 'tm_b' })
    ])
    expect(await host.topics['tm_a']!.getMetaData()).toEqual({
      name: 'Alpha',
      shortDescription: 'Admits every output.'
    })
    expect(await host.topics['tm_b']!.getMetaData()).toMatchObject({ name: 'Everything' })
    expect(await host.topics['tm_a']!.getDocumentation()).toBe('# Everything')
    expect(await host.topics['tm_a']!.identifyNeededInputs!(beef)).toEqual([
      { txid: 'ab'.repeat(32), outputIndex: 1 }
    ])
    // Both are of one module, and in one process.
    expect(host.states()).toHaveLength(1)
    expect(host.states()[0]).toMatchObject({ state: 'running', names: ['tm_a', 'tm_b'], restarts: 0 })
  })

  it('in TypeScript is run with the tsconfig of its project, decorators included', async () => {
    const { host } = await hostOf([
      { module: join(FIXTURES, 'contracts/topic.ts'), directory: FIXTURES, name: 'tm_contract' }
    ])
    const topic = host.topics['tm_contract']!
    expect(await topic.getDocumentation()).toBe('Contract.count unlock')
    expect(await topic.identifyAdmissibleOutputs(beef, [], undefined, 'current-tx')).toMatchObject({
      outputsToAdmit: [0, 3]
    })
  })
})

describe('a lookup', () => {
  it.each(['Recorder', 'createRecorder', 'instance'])('is %s, and gets scripts of the SDK', async name => {
    const { host } = await hostOf([
      fixture('foreign.mjs', { export: name, name: 'ls_it', topics: ['tm_a'], concurrency: 3 })
    ])
    const lookup = host.lookups['ls_it']!
    expect(host.delivery).toEqual({ ls_it: { topics: ['tm_a'], concurrency: 3 } })
    expect(lookup).toMatchObject({ admissionMode: 'locking-script', spendNotificationMode: 'txid' })
    expect(lookup.outputNoLongerRetainedInHistory).toBeUndefined()
    await lookup.outputAdmittedByTopic({
      mode: 'locking-script',
      txid: 'cd'.repeat(32),
      outputIndex: 1,
      topic: 'tm_a',
      satoshis: 1,
      lockingScript: Uint8Array.of(0x51, 0x52),
      offChainValues: Uint8Array.of(1, 2)
    })
    const spent = { mode: 'txid', txid: 'cd'.repeat(32), outputIndex: 1, topic: 'tm_a' } as const
    await lookup.outputSpent!({ ...spent, spendingTxid: 'ef'.repeat(32) })
    await lookup.outputEvicted('cd'.repeat(32), 1)
    const [{ context }] = (await lookup.lookup({ service: 'ls_it', query: 'calls' })) as unknown as [
      { context: number[] }
    ]
    expect(JSON.parse(Buffer.from(context).toString())).toEqual([
      { txid: 'cd'.repeat(32), outputIndex: 1, script: '5152', values: [1, 2] },
      { spent: `${'cd'.repeat(32)}.1`, by: 'ef'.repeat(32) },
      { evicted: `${'cd'.repeat(32)}.1` }
    ])
  })

  it('answers with its history selector, which runs in its process', async () => {
    const { host } = await hostOf([fixture('foreign.mjs', { export: 'instance', name: 'ls_it' })])
    const lookup = host.lookups['ls_it']!
    const [found] = await lookup.lookup({ service: 'ls_it', query: 'history' })
    expect(found).toMatchObject({ txid: 'ab'.repeat(32), outputIndex: 2 })
    const selector = found!.history as (beef: number[], vout: number, depth: number) => Promise<boolean>
    expect(await selector([...beef], 7, 2)).toBe(true)
    expect(await selector([...beef], 7, 3)).toBe(false)
    expect(await lookup.lookup({ service: 'ls_it', query: 'number' })).toMatchObject([{ history: 5 }])
    await expect(lookup.lookup({ service: 'ls_it', query: 'fail' })).rejects.toMatchObject({
      code: 'ERR_LOOKUP_FAILED',
      message: 'no such query'
    })
  })
})

describe("a plug-in of Quoin's form", () => {
  it('is for the caller to load, and its process ends', async () => {
    const own = fixture('own.mjs')
    const records = fixture('own.mjs', { export: 'records' })
    const { host } = await hostOf([own, records])
    const { href: url } = new URL('./fixtures/own.mjs', import.meta.url)
    expect(host.inProcess).toEqual([
      { spec: own, url },
      { spec: records, url }
    ])
    expect(host.topics).toEqual({})
    expect(host.states()).toEqual([])
  })

  it.each([
    ['its spec', fixture('own.mjs', { isolate: true }), 'tm_own'],
    ['the plug-in', fixture('own.mjs', { export: 'isolated' }), 'tm_apart'],
    ['the spec of records', fixture('own.mjs', { export: 'records', isolate: true }), 'tm_own']
  ])('that %s isolates judges in its process', async (_, spec, name) => {
    const { host } = await hostOf([spec])
    expect(host.inProcess).toEqual([])
    const values = Uint8Array.of(1, 2, 3)
    expect(await host.topics[name]!.identifyAdmissibleOutputs(beef, [0, 1], values, 'historical-tx')).toEqual(
      {
        outputsToAdmit: [0, 2],
        coinsToRetain: [0],
        refused: { 1: 'historical-tx: 3 bytes' }
      }
    )
  })

  it.each([
    ['withLookup', /lookup ls_own of Quoin's form writes in the commit of the node/],
    ['withEvents', /declares events/],
    ['withCollections', /declares collections/],
    ['withOutputs', /reads outputs/],
    ['withFamilies', /families of topics/]
  ])('cannot be isolated: %s', async (name, reason) => {
    await refused(fixture('own.mjs', { export: name, isolate: true }), reason)
  })
})

const refused = async (spec: ModuleSpec, reason: RegExp, options: Partial<HostOptions> = {}) => {
  const error = await hostOf([spec], options).then(
    () => undefined,
    (each: unknown) => each
  )
  expect(error).toMatchObject({ code: 'ERR_PLUGIN', message: expect.stringMatching(reason) })
  expect(error).toMatchObject({ message: expect.stringContaining(spec.module) })
}

describe('a module is refused', () => {
  it.each([
    [
      'topicWithoutMethods',
      'tm_x',
      /topic tm_x without identifyAdmissibleOutputs, getDocumentation; expected/
    ],
    [
      'lookupWithoutMethods',
      'ls_x',
      /lookup ls_x without outputEvicted, lookup; expected outputAdmittedByTopic/
    ],
    ['wrongAdmission', 'ls_x', /invalid admissionMode: "everything"; expected locking-script or whole-tx/],
    ['noAdmission', 'ls_x', /invalid admissionMode: undefined/],
    ['wrongSpends', 'ls_x', /invalid spendNotificationMode: "always"; expected none or txid/],
    ['wrongAdmission', undefined, /without a name: set `name: tm_…` or `name: ls_…`/],
    ['number', 'tm_x', /tm_x that is not an object: number/],
    ['throwing', 'tm_x', /the factory failed: no configuration/],
    ['Throwing', 'tm_x', /the class cannot be built: no arguments/],
    ['nothing', 'ls_x', /ls_x that is not an object: undefined/],
    ['records', undefined, /topic tm_x without identifyAdmissibleOutputs/],
    ['wrongName', undefined, /invalid name: tm x/],
    ['missing', 'tm_x', /has no export missing; it exports .*wrongAdmission/],
    ['mixed', undefined, /lookup ls_x of Quoin's form/]
  ])('whose export is %s (%s)', async (name, as, reason) => {
    await refused(fixture('incomplete.mjs', { export: name, ...(as !== undefined && { name: as }) }), reason)
  })

  it.each([
    ['empty.mjs', /exports no plug-in; it exports nothing\. Expected a default export/],
    ['broken.mjs', /cannot be loaded: Unexpected end of input \(.*broken\.mjs:2\)/],
    ['throws.mjs', /cannot be loaded: the artifacts are not compiled/],
    ['absent.mjs', /is missing: file .*absent\.mjs/]
  ])('that cannot be imported: %s', (file, reason) => refused(fixture(file, { name: 'tm_x' }), reason))

  it.each(['hangs.mjs', 'loops.mjs'])('that does not end to load: %s', file =>
    refused(fixture(file, { name: 'tm_x' }), /took more than 2000 ms/, { loadTimeout: 2000 })
  )

  it('whose records lack the name', () =>
    refused(
      fixture('foreign.mjs', { export: 'records', name: 'tm_y' }),
      /has no topic or lookup tm_y; it has tm_record, ls_record/
    ))

  it('that is a package nobody installed', () =>
    refused(
      { module: 'no-such-overlay', directory: FIXTURES, name: 'tm_x' },
      /run `npm install no-such-overlay` in .*fixtures/
    ))

  it('whose names another module has', async () => {
    const specs = [fixture('compiled.cjs', { name: 'tm_x' }), fixture('foreign.mjs', { name: 'tm_x' })]
    await expect(hostOf(specs)).rejects.toMatchObject({
      code: 'ERR_PLUGIN',
      message: expect.stringMatching(/has tm_x, which .* has already/)
    })
  })

  it('not for what the engine of @bsv/overlay takes: no mode for spends, metadata that fail', async () => {
    const { host, lines } = await hostOf([fixture('incomplete.mjs', { export: 'tolerated', name: 'ls_x' })])
    expect(host.lookups['ls_x']).toMatchObject({ spendNotificationMode: 'none' })
    expect(await host.lookups['ls_x']!.getMetaData()).toEqual({ name: 'ls_x', shortDescription: '' })
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', event: expect.stringMatching(/getMetaData .* failed: later/) })
    )
  })
})

describe('a changed module', () => {
  it('is loaded in another process, and the report has the difference', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quoin-plugin-'))
    try {
      const path = join(folder, 'topic.mjs')
      const source = (title: string, outputs: string, more = '') => `
        const about = { getDocumentation: async () => '', getMetaData: async () => ({ name: '${title}', shortDescription: '' }) }
        const topic = { ...about, identifyAdmissibleOutputs: async () => ({ outputsToAdmit: ${outputs}, coinsToRetain: [] }) }
        export default { topics: { tm_a: topic, ${more} } }`
      await writeFile(path, source('One', '[1]', 'tm_b: topic'))
      const { host } = await hostOf([{ module: path, directory: folder }])
      const topic = host.topics['tm_a']!
      const { pid } = host.states()[0]!
      await writeFile(path, source('Two', '[2]', 'tm_c: topic'))
      expect(await host.reload(path)).toEqual({
        module: path,
        added: ['tm_c'],
        removed: ['tm_b'],
        changed: [
          {
            name: 'tm_a',
            field: 'metaData',
            before: { name: 'One', shortDescription: '' },
            after: { name: 'Two', shortDescription: '' }
          }
        ],
        migrations: []
      })
      expect(isAlive(pid!)).toBe(false)
      // A topic that an engine has is the changed one.
      expect(await topic.identifyAdmissibleOutputs(beef, [], undefined, 'current-tx')).toMatchObject({
        outputsToAdmit: [2]
      })
      expect(Object.keys(host.topics)).toEqual(['tm_a', 'tm_c'])

      await copyFile(join(FIXTURES, 'broken.mjs'), path)
      await expect(host.reload(path)).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
      expect(await topic.identifyAdmissibleOutputs(beef, [], undefined, 'current-tx')).toMatchObject({
        outputsToAdmit: [2]
      })
      await expect(host.reload('other')).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
