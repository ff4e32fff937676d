/** What a plug-in may have of its own, and when it is refused. */

import { txid } from '@quoin/chain/components'
import { DevChain } from '@quoin/dev-chain'
import { collection, json, text } from '@quoin/keyspace'
import { makeOutpoint } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { event, OutputStore } from '@quoin/txo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, payTo, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { definePlugin, Engine, installPlugins, type Plugin } from './index.ts'

let outputs: OutputStore
beforeEach(async () => {
  outputs = new OutputStore(await openStore('memory:'))
})
afterEach(() => outputs.store.close())

const about = (name: string) => ({
  getDocumentation: async () => name,
  getMetaData: async () => ({ name, shortDescription: name })
})
const install = (...plugins: Plugin[]) => installPlugins(plugins, { outputs })
const topic = { ...about('topic'), admit: () => ({ outputs: [0] }) }
/** Declares an event, and has a lookup in Quoin's form. */
const tagged = definePlugin({
  name: 'tagged',
  setup: ({ events }) => {
    const { tag } = events({ tag: event('tag', 'Outputs by a tag.', text('name', { except: ':' })) })
    const lookup = { ...about('tagged'), index: () => ({ events: [tag.text('a')] }), lookup: async () => [] }
    return { topics: { tm_tagged: topic }, lookups: { ls_tagged: lookup } }
  }
})

describe('a plug-in', () => {
  it('has events and collections of its own, written in the commit of the admission', async () => {
    const key = makeKey('plugin')
    const chain = new DevChain({ seed: 'plugin' })
    const notes = definePlugin({
      name: 'notes',
      setup: ({ events, collections, outputs: { store } }) => {
        const { size } = events({ size: event('size', 'By satoshis.', text('satoshis', { except: ':' })) })
        const { note } = collections({
          note: collection({ key: ['notes:', txid('txid')], value: json<string>(), about: 'A note.' })
        })
        return {
          topics: { tm_notes: topic },
          lookups: {
            ls_notes: {
              ...about('notes'),
              index: ({ transaction, output }) => ({
                events: [size.text(`${output.satoshis}`)],
                extraWrites: batch => batch.use(note).at(transaction.txid).set(`pays ${output.satoshis}`)
              }),
              lookup: async () => {
                const [row] = (await outputs.search({ keys: [size.text('7')] })).rows
                const said = row && (await store.use(note).get(row.outpoint.subarray(0, 32) as never))
                return row ? [{ outpoint: row.outpoint, context: Buffer.from(said ?? '') }] : []
              }
            }
          }
        }
      }
    })
    const engine = new Engine({ outputs, tracker: chain, ...(await install(notes)) })
    const transaction = spend({
      inputs: [{ from: chain.fund(payTo(key), 10), vout: 0, unlock: withKeyHash(key) }],
      outputs: [{ satoshis: 7, script: payTo(key) }]
    })
    await chain.submit(transaction)
    await engine.submit({ beef: chain.beef(transaction.txid), topics: ['tm_notes'] })
    const [found] = await engine.lookup('ls_notes', {})
    expect(found).toMatchObject({ outpoint: makeOutpoint(transaction.txid, 0) })
    expect(Buffer.from(found!.context!).toString()).toBe('pays 7')
    await engine.close()
  })

  it('whose lookup service has a database of its own waits for it in the submissions to its own topics', async () => {
    const service = {
      ...about('service'),
      admissionMode: 'locking-script',
      outputAdmittedByTopic: async () => undefined,
      outputEvicted: async () => undefined,
      lookup: async () => []
    }
    const plugin = (name: string): Plugin => ({
      name,
      setup: () => ({ topics: { [`tm_${name}`]: topic }, lookups: { [`ls_${name}`]: service as never } })
    })
    const { delivery } = await install(plugin('one'), plugin('two'), tagged)
    expect(delivery).toEqual({ ls_one: { home: ['tm_one'] }, ls_two: { home: ['tm_two'] } })
  })

  it('logs under its name', async () => {
    const lines: unknown[] = []
    const say = (event: string, fields?: object): unknown => lines.push([event, fields])
    const plugin = definePlugin({
      name: 'chatty',
      setup: ({ logger }) => {
        logger.info('here', { count: 1 })
        return {}
      }
    })
    await installPlugins([plugin], { outputs, logger: { info: say, warn: say, error: say } })
    expect(lines).toEqual([['here', { plugin: 'chatty', count: 1 }]])
  })
})

describe('it is refused', () => {
  const keeping = (name: string, prefix: string): Plugin => ({
    name,
    setup: ({ collections }) => {
      collections({ all: collection({ key: [prefix, text('rest')], value: json<string>() }) })
      return {}
    }
  })

  it('when its keys could be those of others, with a key that would be', async () => {
    await expect(install(keeping('greedy', 'h:'))).rejects.toMatchObject({ code: 'ERR_KEYSPACE_UNSOUND' })
    await expect(install(keeping('one', 'mine:'), keeping('two', 'mine:extraWrites:'))).rejects.toMatchObject(
      {
        code: 'ERR_KEYSPACE_UNSOUND'
      }
    )
    await install(keeping('one', 'one:'), keeping('two', 'two:'))
  })

  it('when its name is taken, or is none', async () => {
    const events: Plugin = {
      name: 'Loud',
      setup: context => {
        context.events({ said: event('said', 'Said.', text('what')) })
        return {}
      }
    }
    await expect(install(events)).rejects.toMatchObject({ code: 'ERR_KEYSPACE_DECLARATION' })
    await expect(install(tagged, tagged)).rejects.toMatchObject({ code: 'ERR_KEYSPACE_DECLARATION' })
  })

  it('when a topic of it has the name of another, or none that a topic can have', async () => {
    const named = (name: string): Plugin => ({ name, setup: () => ({ topics: { tm_same: topic } }) })
    await expect(install(named('one'), named('two'))).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
    const wrong: Plugin = { name: 'wrong', setup: () => ({ topics: { 'tm one': topic } }) }
    await expect(install(wrong)).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
  })

  it('when the output store takes no types of events', async () => {
    const fixed = new OutputStore(outputs.store, {
      events: {
        parse: outputs.events.parse.bind(outputs.events),
        find: () => undefined,
        parseQuery: outputs.events.parseQuery.bind(outputs.events)
      }
    })
    await expect(installPlugins([tagged], { outputs: fixed })).rejects.toMatchObject({ code: 'ERR_PLUGIN' })
  })
})
