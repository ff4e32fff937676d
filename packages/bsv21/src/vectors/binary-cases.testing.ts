/** Vectors of the binary form (BRC-162), and of tokens with outputs in both forms. */
import type { Output } from '@quoin/chain'
import { buildScript, fromHex, OP, parseOutpoint, type TokenId, txidOf } from '@quoin/primitives'
import { cborMap } from '../../../txo/src/scripts/dag-cbor.testing.ts'
import type { CborValue } from '../../../txo/src/scripts/dag-cbor.ts'
import {
  binaryToken,
  bsv21,
  joined,
  shrug,
  utf8,
  wireOutpoint
} from '../../../txo/src/scripts/scripts.testing.ts'
import * as t from '../tokens.testing.ts'
import {
  BOB,
  type Expectation,
  type History,
  oneDeployment,
  oneOutput,
  type VectorCase
} from './vector-case.testing.ts'

const MAX = 2n ** 64n - 1n

const output = (...parts: Uint8Array[]): Output => ({ satoshis: 1, script: joined(...parts) })
const bytes = (hex: string): Uint8Array => fromHex(hex.replaceAll(' ', ''))
const id32 = (id: TokenId): Uint8Array => joined(Uint8Array.of(32), txidOf(parseOutpoint(id)))

const LAYOUT = 'BRC-162, wire format: ‹id | OP_0› ‹amount | OP_0› OP_2DROP [‹payload› OP_DROP] ‹rest›'
const NUMBER = 'BRC-162, amounts: minimally encoded script numbers from 0 to 2^64 − 1'
const PUSH = `${NUMBER}; the text fixes the bytes and not the opcode that pushes them`
const STRICT: VectorCase['differs'] = {
  'ts-stack': 'reads no token output: it takes one push opcode for each value'
}

/** An amount after the id, spending 10. */
const amounts: readonly (readonly [
  name: string,
  amount: string,
  isAdmitted: boolean,
  why: string,
  VectorCase['differs']?
])[] = [
  ['OP_5', '55', true, NUMBER],
  ['OP_10', '5a', true, NUMBER],
  ['a push of the byte 05', '0105', true, PUSH, STRICT],
  ['OP_PUSHDATA1 of the byte 05', '4c0105', true, PUSH, STRICT],
  ['OP_11, more than comes in', '5b', false, 'BRC-162, value: admitted only when I >= O'],
  ['a byte more than needed', '020500', false, NUMBER],
  ['minus five', '0185', false, NUMBER],
  ['OP_1NEGATE', '4f', false, NUMBER],
  ['zero as a byte', '0100', false, NUMBER],
  ['negative zero', '0180', false, NUMBER],
  ['nothing by OP_PUSHDATA1', '4c00', false, `${LAYOUT}; empty values use OP_0`],
  ['2^64', '0900000000000000 0001', false, NUMBER],
  ['ten bytes', '0a 05000000000000000001', false, NUMBER],
  [
    'OP_0 is an authority, which nothing authorises',
    '00',
    false,
    'BRC-162, roles: id and amount 0 is an authority'
  ],
  ['OP_NOP for a push', '61', false, LAYOUT]
]

const prefixes: readonly (readonly [
  name: string,
  isAdmitted: boolean,
  why: string,
  (id: TokenId) => Output,
  VectorCase['differs']?
])[] = [
  ['a value before pay-to-key-hash', true, LAYOUT, id => t.binary(id, 5n, BOB)],
  [
    'a value before nothing',
    true,
    `${LAYOUT}; the rest is any script`,
    id => t.binary(id, 5n, new Uint8Array())
  ],
  ['an id by OP_PUSHDATA1', true, PUSH, id => output(bytes('4c'), id32(id), bytes('55 6d'), BOB), STRICT],
  [
    'an id of 36 bytes for output 0',
    false,
    'BRC-162: a 36-byte id whose vout is 0 is invalid',
    id => output(buildScript([wireOutpoint(parseOutpoint(id)), OP.N5, OP['2DROP']]), BOB)
  ],
  [
    'an id of 31 bytes',
    false,
    LAYOUT,
    id => output(buildScript([txidOf(parseOutpoint(id)).subarray(1), OP.N5, OP['2DROP']]), BOB)
  ],
  [
    'an id in display order',
    false,
    'BRC-162: ids are in natural byte order',
    id => output(buildScript([fromHex(id.slice(0, 64)), OP.N5, OP['2DROP']]), BOB)
  ],
  ['two OP_DROP for the OP_2DROP', false, LAYOUT, id => output(id32(id), bytes('55 75 75'), BOB)],
  [
    'something before the prefix',
    false,
    `${LAYOUT}; a script begins with it`,
    id => output(bytes('61'), id32(id), bytes('55 6d'), BOB)
  ],
  [
    'the tag of an earlier draft',
    false,
    `${LAYOUT}; there is no tag`,
    id =>
      output(
        buildScript([utf8('BSV21'), wireOutpoint(parseOutpoint(id)), OP['2DROP'], OP.N5, OP.N0, OP['2DROP']]),
        BOB
      )
  ],
  ['a SHRUG token', false, LAYOUT, id => output(shrug(parseOutpoint(id), 5n))],
  [
    'a payload of text',
    true,
    'BRC-162, payload: never makes an output invalid',
    id => output(binaryToken(parseOutpoint(id), 5n, { payload: utf8('hello') }))
  ],
  [
    'an empty payload',
    true,
    'BRC-162, payload: OP_0 OP_DROP is an explicit empty one',
    id => output(id32(id), bytes('55 6d 00 75'), BOB)
  ],
  [
    'a payload by OP_1NEGATE',
    true,
    'BRC-162, payload: any push opcode',
    id => output(id32(id), bytes('55 6d 4f 75'), BOB)
  ],
  ['a rest that begins with a push', true, LAYOUT, id => output(id32(id), bytes('55 6d 51 69'), BOB)],
  [
    'a rest that breaks off in a push',
    true,
    `${LAYOUT}; a token output begins with the layout`,
    id => output(id32(id), bytes('55 6d 6a 4c ff 01')),
    { 'ts-stack': 'reads no token output' }
  ],
  [
    'a JSON transfer of more behind the prefix',
    true,
    'BRC-162: binary wins',
    id => output(binaryToken(parseOutpoint(id), 5n, { lock: bsv21({ op: 'transfer', id, amt: '900' }) }))
  ],
  [
    '1,000 satoshis',
    true,
    'BRC-162: one satoshi is convention',
    id => ({ ...t.binary(id, 5n, BOB), satoshis: 1000 })
  ]
]

const ATTRIBUTES =
  'BRC-162, deploy display fields: from a payload that is a map in strict DAG-CBOR, and never decisive'
const attributes: readonly (readonly [
  name: string,
  payload: Uint8Array,
  { sym?: string; dec?: number; icon?: string }
])[] = [
  ['symbol and decimals', cborMap({ sym: 'GOLD', dec: 8n }), { sym: 'GOLD', dec: 8 }],
  [
    'an icon elsewhere',
    cborMap({ icon: joined(new Uint8Array(32).fill(0xab), Uint8Array.of(3, 0, 0, 0)) }),
    { icon: `${'ab'.repeat(32)}_3` }
  ],
  [
    'unknown keys',
    cborMap({ sym: 'GOLD', x: [1n, new Map([['y', null]])], dec: 2n }),
    { sym: 'GOLD', dec: 2 }
  ],
  ['19 decimals', cborMap({ sym: 'GOLD', dec: 19n }), { sym: 'GOLD' }],
  ['decimals as text', cborMap({ dec: '8' }), {}],
  ['a symbol that is a number', cborMap({ sym: 5n as CborValue, dec: 8n }), { dec: 8 }],
  ['an icon of 5 bytes', cborMap({ icon: new Uint8Array(5) }), {}],
  ['keys out of order', bytes('a2 6373796d 64474f4c44 63646563 08'), {}],
  ['an indefinite map', bytes('bf 6373796d 64474f4c44 ff'), {}],
  ['a number longer than needed', bytes('a1 63646563 1808'), {}],
  ['a byte behind the map', joined(cborMap({ sym: 'GOLD' }), Uint8Array.of(0)), {}],
  ['a list', bytes('8164474f4c44'), {}],
  ['JSON', utf8('{"sym":"GOLD"}'), {}]
]

const deployments: readonly VectorCase[] = [
  ...([1n, 16n, 17n, 127n, 128n, 255n, 32_768n, 21_000_000n, MAX] as const).map(
    (amount): VectorCase => ({
      group: 'binary deployment',
      name: `of ${amount}`,
      why: NUMBER,
      build: oneDeployment(t.binary(undefined, amount, BOB), { dec: 0 })
    })
  ),
  {
    group: 'binary deployment',
    name: 'of an authority',
    why: 'BRC-162, roles: no id and amount 0',
    build: oneDeployment(t.binary(undefined, 0n, BOB), { dec: 0 })
  },
  {
    group: 'binary deployment',
    name: 'at output 1',
    why: 'BRC-162: a deploy prefix at any other output than 0 is not a valid deploy',
    build: history => {
      const made = history.make([], [{ satoshis: 1, script: BOB }, t.binary(undefined, 5n, BOB)])
      return { admitted: { [t.tokenIdOf(made, 1)]: [], [t.tokenIdOf(made)]: [] } }
    }
  },
  {
    group: 'binary deployment',
    name: 'at output 1, before a JSON deployment in the same script',
    why: 'BRC-162: binary wins, and the prefix is not a valid deploy there',
    build: history => {
      const script = binaryToken(undefined, 5n, { lock: bsv21({ op: 'deploy+mint', amt: '900' }) })
      const made = history.make(
        [],
        [
          { satoshis: 1, script: BOB },
          { satoshis: 1, script }
        ]
      )
      return { admitted: { [t.tokenIdOf(made, 1)]: [] } }
    }
  },
  ...attributes.map(
    ([name, payload, found]): VectorCase => ({
      group: 'binary deployment',
      name: `with ${name} in its payload`,
      why: ATTRIBUTES,
      build: oneDeployment(output(binaryToken(undefined, 7n, { payload, lock: BOB })), { dec: 0, ...found })
    })
  ),
  {
    group: 'binary deployment',
    name: 'with an icon in the same transaction',
    why: ATTRIBUTES,
    build: history => {
      const payload = cborMap({ icon: Uint8Array.of(2, 0, 0, 0) })
      const id = t.tokenIdOf(history.make([], [output(binaryToken(undefined, 7n, { payload, lock: BOB }))]))
      return { admitted: { [id]: [0] }, attributes: { dec: 0, icon: id.replace('_0', '_2') } }
    }
  }
]

type Forms = readonly [
  name: string,
  why: string,
  build: (history: History) => Expectation,
  differs?: VectorCase['differs']
]
const MIXED =
  'BRC-162: the same id space; BRC-176, prove: O has JSON transfers and burns, and binary values without authority'
const AUTHORISED = 'BRC-162, value: with a valid authority input valid without cover'
/** Inputs of 10 and an authority at outputs 0 and 1 of the transaction before. */
const withAuthority =
  (outputs: (id: TokenId) => readonly Output[], admitted: readonly number[]) =>
  (history: History): Expectation => {
    const { id, minted } = history.minted(10n)
    history.make(
      [
        [minted, 0],
        [minted, 1]
      ],
      outputs(id)
    )
    return { admitted: { [id]: admitted } }
  }
const without =
  (outputs: (id: TokenId) => readonly Output[], admitted: readonly number[]) =>
  (history: History): Expectation => {
    const { id, deployed } = history.fixed(10n)
    history.make([[deployed, 0]], outputs(id))
    return { admitted: { [id]: admitted } }
  }

const forms: readonly Forms[] = [
  [
    'values of all that comes in',
    MIXED,
    without(id => [t.binary(id, 4n, BOB), t.binary(id, 6n, BOB)], [0, 1])
  ],
  ['values of more than comes in', MIXED, without(id => [t.binary(id, 4n, BOB), t.binary(id, 7n, BOB)], [])],
  [
    'a value and a transfer, exactly',
    MIXED,
    without(id => [t.binary(id, 4n, BOB), t.transfer(id, 6n, BOB)], [0, 1])
  ],
  [
    'a value and a transfer, together too much',
    MIXED,
    without(id => [t.binary(id, 6n, BOB), t.transfer(id, 6n, BOB)], [])
  ],
  [
    'a value and a burn, together too much',
    MIXED,
    without(id => [t.binary(id, 10n, BOB), t.burn(id, 1n)], [])
  ],
  [
    'a value, and a mint that nothing authorises',
    MIXED,
    without(id => [t.binary(id, 10n, BOB), t.mint(id, 1n, BOB)], [0])
  ],
  [
    'values beyond what comes in, with an authority',
    AUTHORISED,
    withAuthority(id => [t.binary(id, MAX, BOB), t.binary(id, 1n, BOB)], [0, 1])
  ],
  [
    'values, and a transfer that is covered, with an authority',
    AUTHORISED,
    withAuthority(id => [t.binary(id, 900n, BOB), t.transfer(id, 10n, BOB)], [0, 1])
  ],
  [
    'values, and a transfer that is not covered, with an authority',
    `${AUTHORISED}; it does not relax JSON transfers`,
    withAuthority(id => [t.binary(id, 900n, BOB), t.transfer(id, 11n, BOB)], [0])
  ],
  [
    'values and mints, with an authority',
    AUTHORISED,
    withAuthority(id => [t.binary(id, 900n, BOB), t.mint(id, 5n, BOB)], [0, 1])
  ],
  [
    'authorities in both forms',
    AUTHORISED,
    withAuthority(id => [t.binary(id, 0n, BOB), t.auth(id, BOB)], [0, 1])
  ],
  [
    'a JSON transfer out of a binary value',
    MIXED,
    history => {
      const { id, deployed } = history.fixed(10n)
      const moved = history.make([[deployed, 0]], [t.binary(id, 10n, BOB)])
      history.make([[moved, 0]], [t.transfer(id, 10n, BOB)])
      return { admitted: { [id]: [0] } }
    }
  ],
  [
    'a JSON mint by a binary authority',
    'BRC-161 and BRC-162: one token id, one authority',
    history => {
      const deployed = history.make([], [t.binary(undefined, 0n, BOB)])
      const id = t.tokenIdOf(deployed)
      history.make([[deployed, 0]], [t.mint(id, 5n, BOB), t.auth(id, BOB)])
      return { admitted: { [id]: [0, 1] } }
    }
  ],
  [
    'a JSON transfer of a binary deployment',
    MIXED,
    history => {
      const deployed = history.make([], [t.binary(undefined, 8n, BOB)])
      const id = t.tokenIdOf(deployed)
      history.make([[deployed, 0]], [t.transfer(id, 8n, BOB)])
      return { admitted: { [id]: [0] } }
    }
  ],
  [
    'a binary value of a JSON deployment at output 1: 36 bytes of id',
    'BRC-162, token identification: 36 bytes when the deploy output is not 0',
    history => {
      const deployed = history.make([], [{ satoshis: 1, script: BOB }, t.deployMint(t.person(1), 10n)])
      const id = t.tokenIdOf(deployed, 1)
      history.make([[deployed, 1]], [t.binary(id, 10n, BOB)])
      return { admitted: { [id]: [0] } }
    },
    { 'ts-stack': 'reads no token output: it knows ids of 32 bytes alone' }
  ],
  [
    'an authority that ended',
    'BRC-162, authority: valid only when the transaction spends one',
    history => {
      const deployed = history.make([], [t.binary(undefined, 0n, BOB)])
      const id = t.tokenIdOf(deployed)
      const ended = history.make([[deployed, 0]], [t.binary(id, 5n, BOB)])
      history.make([[ended, 0]], [t.binary(id, 6n, BOB)])
      return { admitted: { [id]: [] } }
    }
  ]
]

export const binaryCases: readonly VectorCase[] = [
  ...amounts.map(([name, amount, isAdmitted, why, differs]) => ({
    group: 'binary amount',
    name,
    why,
    ...(differs && { differs }),
    build: oneOutput(isAdmitted, id => output(id32(id), bytes(amount), bytes('6d'), BOB))
  })),
  ...prefixes.map(([name, isAdmitted, why, made, differs]) => ({
    group: 'binary prefix',
    name,
    why,
    ...(differs && { differs }),
    build: oneOutput(isAdmitted, made)
  })),
  ...deployments,
  ...forms.map(([name, why, build, differs]) => ({
    group: 'both forms',
    name,
    why,
    ...(differs && { differs }),
    build
  }))
]
