/** Every parser on real transactions, and all of them together. */

import { formatTxid } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { PARSERS, parseScript } from './parse.ts'
import {
  bitcom,
  FIXTURES,
  type Fixture,
  fixture,
  found,
  foundIn,
  inscription,
  OUTPOINT,
  payTo,
  person,
  pushDrop,
  tagsOf,
  utf8
} from './scripts.testing.ts'

const TOKEN = `${FIXTURES.mnee}_0`

/** Outputs that are more than a plain payment: what is found in them, the events, and the owners. */
const OUTPUTS: Readonly<Record<Fixture, readonly [number, string, string[], string[]][]>> = {
  bamboo: [
    [
      0,
      'insc bsv21 ltm',
      [
        'insc:type:application/bsv-20',
        `bsv21:id:${FIXTURES.bamboo}_0`,
        'bsv21:op:deploy+mint',
        'bsv21:sym:BAMBOO',
        'contract:ltm'
      ],
      []
    ]
  ],
  opns: [
    [0, '', [], []],
    [1, '', [], []],
    [2, 'insc bitcom', ['insc:type:application/op-ns'], ['1MUqT79bq5xbNWHbb96qvv12U56WN8oiyr']]
  ],
  twetch: [
    [
      0,
      'bitcom b map aip',
      ['b:type:text/plain', 'map:type:post', 'map:app:twetch', 'signer:19yKAcBLKbLSNRSGs2FcER3a5m53ptQ1Ha'],
      []
    ]
  ],
  musashi: [
    [
      0,
      'insc bitcom map sigma',
      [
        'insc:type:image/webp',
        'map:type:ord',
        'map:app:ZoideNFT',
        'signer:12KP5KzkBwtsc1UrTrsBCJzgqKn8UqaYQq'
      ],
      ['15WPxBYNpjCXYCynyUp46CHFhRkiJTePBW']
    ]
  ],
  // Its signature holds over nothing that stands in the output, so there is no signer.
  hello: [[0, 'bitcom b map aip', ['b:type:text/markdown', 'map:type:post', 'map:app:retrofeed.me'], []]],
  twoAuthors: [
    [
      0,
      'bitcom b aip',
      [
        'b:type:text/plain',
        'signer:1EXhSbGFiEAZCE5eeBvUxT6cBVHhrpPWXz',
        'signer:19nknLhRnGKRR3hobeFuuqmHUMiNTKZHsR'
      ],
      []
    ]
  ],
  listing: [[0, 'ordlock', ['ordlock:list'], ['15WPxBYNpjCXYCynyUp46CHFhRkiJTePBW']]],
  reply: [[3, 'bitcom b map aip', ['b:type:text/markdown', 'map:type:post', 'map:app:retrofeed.me'], []]],
  unlike: [[0, 'bitcom map', ['map:type:unlike', 'map:app:jamify.xyz'], []]],
  map: [
    [
      2,
      'bitcom map aip',
      ['map:type:like', 'map:app:retrofeed.me', 'signer:1NDGLsfMYV89GutpD11RTs9y8QKCW1Grh2'],
      []
    ]
  ],
  mnee: [
    [
      0,
      'insc bsv21',
      ['insc:type:application/bsv-20', `bsv21:id:${TOKEN}`, 'bsv21:op:deploy+mint', 'bsv21:sym:MNEE'],
      ['1inHbiwj2jrEcZPiSYnfgJ8FmS1Bmk4Dh']
    ]
  ],
  mcp: [
    [
      0,
      'insc bitcom map sigma',
      [
        'insc:type:application/json',
        'map:type:a2b-mcp',
        'map:app:bsv-mcp',
        'signer:1FdKLZsksDDRukRtUSwv8b2TVXEngdDHya'
      ],
      ['1Cr5gSHf5tzFBvGuSa21VRoV9pRuRBmum9']
    ]
  ],
  identity: [
    [
      0,
      'bitcom aip bap',
      ['signer:14Y7ytoMXYFyz6Fmx2ykSa9Fhrnz7RCjvN', 'bap:type:ID', 'bap:id:37NZo9dpXFLGzaXY9zi5AQK9miLG'],
      []
    ]
  ],
  buidl: [
    [
      0,
      'insc bsv21 pow20',
      [
        'insc:type:application/bsv-20',
        `bsv21:id:${FIXTURES.buidl}_0`,
        'bsv21:op:deploy+mint',
        'bsv21:sym:BUIDL',
        'contract:pow20'
      ],
      []
    ]
  ],
  like: [
    [
      3,
      'bitcom map aip',
      ['map:type:like', 'map:app:retrofeed.me', 'signer:1EWuL4n8W4YZNzEa9zoy1invGMsJdqbV8S'],
      []
    ]
  ],
  mneeTransfer: [
    [
      0,
      'insc bsv21 cosign',
      [
        'insc:type:application/bsv-20',
        `bsv21:id:${TOKEN}`,
        'cosign:020a177d6a5e6f3a8689acd2e313bd1cf0dcf5a243d1cc67b7218602aee9e04b2f'
      ],
      ['1G6CB3Ch4zFkPmuhZzEyChQmrQPfi86qk3']
    ],
    [
      1,
      'insc bsv21',
      ['insc:type:application/bsv-20', `bsv21:id:${TOKEN}`],
      ['1inHbiwj2jrEcZPiSYnfgJ8FmS1Bmk4Dh']
    ]
  ]
}

describe.each(Object.entries(OUTPUTS) as [Fixture, (typeof OUTPUTS)[Fixture]][])('%s', (name, outputs) => {
  it('is the transaction that it is called after', () => {
    expect(formatTxid(fixture(name).txid)).toBe(FIXTURES[name])
  })

  it.each(outputs)('output %i has %s', (vout, tags, events, owners) => {
    const parsed = foundIn(name, vout)
    expect(tagsOf(parsed).join(' ')).toBe(tags)
    expect(Object.values(parsed).flatMap(each => each.events)).toEqual(events)
    expect([...new Set(Object.values(parsed).flatMap(each => each.owners))]).toEqual(owners)
  })

  it('pays plainly with the others', () => {
    const told = new Set(outputs.map(([vout]) => vout))
    for (const vout of fixture(name).outputs.keys()) {
      if (!told.has(vout)) expect(tagsOf(foundIn(name, vout))).toEqual(['p2pkh'])
    }
  })
})

describe('parsing', () => {
  const alice = person(1)

  it('finds in a plain payment who is paid, and nothing else', () => {
    expect(parseScript({ outpoint: OUTPOINT, satoshis: 5, script: payTo(alice) })).toEqual([
      { tag: 'p2pkh', data: { address: alice.address }, events: [], owners: [alice.address] }
    ])
  })

  it('answers in the order of the tags, and only for those asked for', () => {
    const script = inscription({
      type: 'text/plain',
      content: 'x',
      suffix: bitcom([['app', 'y']], payTo(alice))
    })
    const context = { outpoint: OUTPOINT, satoshis: 1, script }
    expect(parseScript(context).map(({ tag }) => tag)).toEqual(['insc', 'bitcom'])
    expect(parseScript(context, ['bitcom', 'nothing', 'insc']).map(({ tag }) => tag)).toEqual([
      'bitcom',
      'insc'
    ])
    expect(parseScript(context, ['map', 'p2pkh'])).toEqual([])
    expect(parseScript({ ...context, script: payTo(alice) }, ['insc'])).toEqual([])
    expect(parseScript({ ...context, script: payTo(alice) }, ['insc', 'p2pkh'])).toHaveLength(1)
  })

  it('reads the same from a view into larger memory', () => {
    const script = pushDrop(alice.key, [utf8('a'), utf8('b')])
    const memory = new Uint8Array(script.length + 20).fill(0x6a)
    memory.set(script, 10)
    expect(found(memory.subarray(10, 10 + script.length))).toEqual(found(script))
  })

  it('knows every parser by its tag', () => {
    expect([...PARSERS].every(([tag, parser]) => parser.tag === tag)).toBe(true)
    expect([...PARSERS.keys()].join(' ')).toBe(
      'p2pkh lock insc bsv21 ordlock cosign ltm pow20 shrug pushdrop bitcom b map aip bap sigma'
    )
  })

  it('finds nothing in an empty script', () => {
    expect(found(new Uint8Array())).toEqual({})
  })
})
