/** The keys of seeds 000, 001 and 003, byte for byte, and events as declared types. */

import { bsv21, bsv21Events } from '@quoin/bsv21'
import { chain } from '@quoin/chain'
import { escaped, type Finding, KeyspaceGroup, text, u64, word } from '@quoin/keyspace'
import {
  makeOutpoint,
  parseOutpoint,
  parseTxid,
  QuoinError,
  type TokenId,
  type Topic,
  type Txid,
  toHex,
  txidOf,
  voutOf
} from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeStore } from '../../node/src/keyspaces.ts'
import { event, outputEvents, outputFields, outputs, progressFields, registerEvents } from './index.ts'
import { blockPosition } from './position.ts'

const TXID = '85d467824321e7cc29cab7bcb4aa281e90c761eaadcc023257fdd9480fcf779f'
const TOKEN = `${TXID}_0` as TokenId
const ADDRESS = '1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc'
const TOPIC = 'tm_bsv21' as Topic
const ascii = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

describe('the builders of seed 000', () => {
  const { output, spends, progress, topicOutputs, topicTransactions, queue } = outputs.collections

  it.each([
    ['KeySpends', spends.encode(), 'h:spnd'],
    ['KeyProgress', progress.encode(), 'h:prog'],
    ['KeyTopicOutputs', topicOutputs.encode(TOPIC), 'z:tp:tm_bsv21'],
    ['KeyTopicTxs', topicTransactions.encode(TOPIC), 'z:tp:tm_bsv21:tx'],
    ['KeyTopicOutputs of a token', topicOutputs.encode(`tm_${TOKEN}` as Topic), `z:tp:tm_${TOKEN}`],
    ['KeyLog', chain.collections.log.encode('pending'), 'z:tx:pending'],
    ['KeyQueue', queue.encode('bsv21'), 'q:bsv21'],
    ['KeyTokenQueue', bsv21.collections.tokenQueue.encode(TOKEN), `q:tok:${TOKEN}`],
    ['KeySet whitelist', bsv21.collections.lists.encode('whitelist'), 's:bsv21:whitelist'],
    ['KeySet blacklist', bsv21.collections.lists.encode('blacklist'), 's:bsv21:blacklist'],
    [
      'PeerInteractionField',
      progressFields.collections.peer.encode(TOPIC, 'https://a:1'),
      'peer:tm_bsv21:https://a:1'
    ],
    ['progress of an owner', progressFields.collections.owner.encode(ADDRESS), ADDRESS],
    [
      'progress of a subscription',
      progressFields.collections.subscription.encode(parseTxid(TXID).slice().reverse()),
      TXID
    ],
    ['field ev', outputFields.collections.events.encode(), 'ev'],
    ['field sa', outputFields.collections.satoshis.encode(), 'sa'],
    ['field dt', outputFields.collections.data.encode('bsv21'), 'dt:bsv21'],
    ['field dp', outputFields.collections.dependencies.encode(TOPIC), 'dp:tm_bsv21'],
    ['field in', outputFields.collections.inputs.encode(TOPIC), 'in:tm_bsv21']
  ])('%s', (_, key, expected) => {
    expect(ascii(key)).toBe(expected)
  })

  it('KeyOutHash is h: and 36 bytes, KeyTxidPrefix the scan over the outputs of a transaction, in order', () => {
    const outpoint = parseOutpoint(`${TXID}.258`)
    const key = output.encode(txidOf(outpoint), voutOf(outpoint))
    expect(toHex(key)).toBe(`683a${toHex(outpoint)}`)
    expect(key.length).toBe(38)
    expect(toHex(output.scan(txidOf(outpoint)).start)).toBe(`683a${toHex(txidOf(outpoint))}`)
    expect(toHex(output.encode(txidOf(outpoint), 1)) < toHex(output.encode(txidOf(outpoint), 256))).toBe(true)
  })

  it('a block position is 12 bytes: height, then index', () => {
    const { codec } = blockPosition
    expect(toHex(codec.encode({ height: 850000, index: 123n }))).toBe('000cf850000000000000007b')
    expect(codec.decode(codec.encode({ height: 850000, index: 123n }))).toEqual({
      height: 850000,
      index: 123n
    })
    for (const wrong of [
      { height: -1, index: 0n },
      { height: 1, index: 2n ** 65n }
    ]) {
      expect(() => codec.encode(wrong)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
    }
    expect(() => codec.decode(new Uint8Array(11))).toThrow(
      expect.objectContaining({ code: 'ERR_VALUE_DECODE' })
    )
  })
})

describe('the events of the seeds', () => {
  const { own, txid } = outputEvents.types
  const { id, sym, p2pkh, cos, ltm, pow20, list, listBy } = bsv21Events.types

  it.each([
    [own.text(ADDRESS), `own:${ADDRESS}`],
    [txid.text(parseTxid(TXID)), `txid:${TXID}`],
    [id.text(TOKEN), `id:${TOKEN}`],
    [sym.text('PEPE'), 'sym:PEPE'],
    [p2pkh.text(ADDRESS, TOKEN), `p2pkh:${ADDRESS}:${TOKEN}`],
    [cos.text(ADDRESS, TOKEN), `cos:${ADDRESS}:${TOKEN}`],
    [ltm.text(TOKEN), `ltm:${TOKEN}`],
    [pow20.text(TOKEN), `pow20:${TOKEN}`],
    [list.text(TOKEN), `list:${TOKEN}`],
    [listBy.text(ADDRESS, TOKEN), `list:${ADDRESS}:${TOKEN}`]
  ])('%s', (made, expected) => {
    expect(made).toBe(expected)
  })

  it('are indexed under z: and, when spent, under the twin', () => {
    expect(ascii(sym.index.encode('PEPE'))).toBe('z:sym:PEPE')
    expect(ascii(sym.spent.encode('PEPE'))).toBe('z:sym:PEPE:spnd')
  })

  it('a symbol from a stranger never reaches another key, whatever it is', () => {
    const store = nodeStore()
    const hostile = fc.oneof(
      fc.constantFrom(
        'X:spnd',
        ':spnd',
        'tp:a',
        '',
        '\0',
        'a\0b',
        ';0',
        ';1',
        ':;',
        '日本',
        '\u{1f4a9}',
        'A'.repeat(300)
      ),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(':', ';', 's', 'p', 'n', 'd', '\0', '/', '.', '|', '}') })
    )
    fc.assert(
      fc.property(hostile, symbol => {
        for (const [type, name] of [
          [sym.index, 'sym'],
          [sym.spent, 'symSpent']
        ] as const) {
          const key = type.encode(symbol)
          expect(store.explain(key)).toMatchObject({
            found: true,
            keyspace: 'bsv21-events',
            collection: name
          })
          expect(type.decode(key)).toEqual([symbol])
        }
      })
    )
  })
})

describe('events of plug-ins', () => {
  const findings = (define: () => unknown): readonly Finding[] => {
    try {
      define()
    } catch (error) {
      if (error instanceof QuoinError) return error.details['findings'] as readonly Finding[]
      throw error
    }
    throw new Error('accepted')
  }

  it('stand under the name of the plug-in and join the store', () => {
    const store = nodeStore()
    const { types } = registerEvents(store, 'weather', {
      city: event('city', 'Reports by city.', text('city', { except: ':' }))
    })
    expect(types.city.text('Zürich')).toBe('weather:city:Zürich')
    expect(store.explain(types.city.index.encode('Zürich'))).toMatchObject({
      found: true,
      keyspace: 'weather-events'
    })
    const [city] = types.city.index.decode(types.city.index.encode('Zürich'))
    expect(city).toBe('Zürich')
  })

  it('an event of a plug-in called tp would be a topic, and is refused with that topic', () => {
    const found = findings(() => registerEvents(nodeStore(), 'tp', { x: event('tm_x', 'x') }))
    expect(found[0]).toMatchObject({ property: 'P3', collections: ['tp-events.x', 'outputs.topicOutputs'] })
    expect(ascii(Buffer.from(found[0]!.witness[0], 'hex'))).toBe('z:tp:tm_x')
  })

  it('are refused when free text reaches another key, and the store stays as it was', () => {
    const store = nodeStore()
    const members = store.members.length
    const found = findings(() => registerEvents(store, 'tp', { any: event('tm_x', 'x', text('rest')) }))
    expect(found[0]).toMatchObject({ property: 'P3' })
    expect(ascii(Buffer.from(found[0]!.witness[0], 'hex'))).toMatch(/^z:tp:tm_x:/)
    expect(store.members.length).toBe(members)
  })

  it('are refused when they collide with their own spent twin', () => {
    expect(
      findings(() => registerEvents(nodeStore(), 'free', { any: event('any', 'x', text('rest')) }))[0]
    ).toMatchObject({
      property: 'P3',
      collections: ['any', 'anySpent']
    })
  })

  it('are refused when two types of one plug-in share a key, and when a plug-in registers twice', () => {
    expect(
      findings(() =>
        registerEvents(nodeStore(), 'p', {
          a: event('x', 'x', word('w', 'one', 'two')),
          b: event('x', 'x', word('w', 'two'))
        })
      )[0]
    ).toMatchObject({ property: 'P3' })
    const store = nodeStore()
    registerEvents(store, 'p', { a: event('x', 'x') })
    expect(() => registerEvents(store, 'p', { a: event('y', 'x') })).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    )
  })

  it('cannot be called like the spent twin of another', () => {
    const both = { a: event('a', 'x', escaped('q')), aSpent: event('b', 'x', escaped('q')) }
    expect(() => registerEvents(nodeStore(), 'weather', both)).toThrow(
      expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
    )
  })

  it('have a text only when their components are text', () => {
    const { types } = registerEvents(nodeStore(), 'raw', { bytes: event('bytes', 'x', u64('n')) })
    expect(() => types.bytes.text(2n ** 64n - 1n)).toThrow(expect.objectContaining({ code: 'ERR_KEY_VALUE' }))
  })

  it('have a plug-in name that can stand in a key', () => {
    for (const name of ['', 'A', 'a:b', 'a b', '1a', 'x'.repeat(65)]) {
      expect(() => registerEvents(new KeyspaceGroup('empty'), name, {})).toThrow(
        expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' })
      )
    }
  })
})

it('an outpoint is not made from a txid of another length', () => {
  for (const length of [0, 3, 31, 33, 40]) {
    expect(() => makeOutpoint(new Uint8Array(length) as Txid, 0)).toThrow(
      expect.objectContaining({ code: 'ERR_KEY_VALUE' })
    )
  }
})

it('an outpoint made from its parts is the one that is parsed', () => {
  expect(makeOutpoint(parseTxid(TXID), 258)).toEqual(parseOutpoint(`${TXID}_258`))
})
