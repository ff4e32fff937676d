/** Vectors of the JSON form (BRC-161): which inscriptions are token outputs. */
import type { TokenId } from '@quoin/primitives'
import { inscription, joined } from '../../../txo/src/scripts/scripts.testing.ts'
import * as t from '../tokens.testing.ts'
import { ALICE, BOB, oneDeployment, oneOutput, type VectorCase, written } from './vector-case.testing.ts'

const MAX = 2n ** 64n - 1n
const shown = (value: unknown): string => {
  const text = JSON.stringify(value, (_, each: unknown) => (each === undefined ? '(absent)' : each))
  return text.length > 90 ? `${text.slice(0, 90)}… (${text.length} characters)` : text
}

const AMOUNT = 'BRC-161, field validation: amt is the decimal string of a uint64'
const ZERO = 'an output of nothing carries nothing: it is not indexed, without consequence for its neighbours'
const amounts: readonly (readonly [
  value: unknown,
  isAdmitted: boolean,
  why: string,
  VectorCase['differs']?
])[] = [
  ['5', true, AMOUNT],
  ['10', true, AMOUNT],
  ['05', true, `${AMOUNT}; leading zeros do not change the number`],
  ['0000000000000000000000005', true, `${AMOUNT}; leading zeros do not change the number`],
  ['010', true, `${AMOUNT}, not octal`],
  ['0', false, `${AMOUNT}; ${ZERO}`, { '1sat-2025': 'admits the output', '1sat-2026': 'admits the output' }],
  [
    '000',
    false,
    `${AMOUNT}; ${ZERO}`,
    { '1sat-2025': 'admits the output', '1sat-2026': 'admits the output' }
  ],
  ['', false, AMOUNT],
  [' 5', false, AMOUNT],
  ['5 ', false, AMOUNT],
  ['+5', false, AMOUNT],
  ['-5', false, AMOUNT],
  ['5.0', false, AMOUNT],
  ['5e0', false, AMOUNT],
  ['0x5', false, AMOUNT],
  ['1_0', false, AMOUNT],
  ['５', false, `${AMOUNT}; digits are those of ASCII`],
  ['18446744073709551616', false, `${AMOUNT}; one more than the largest`],
  ['99999999999999999999', false, AMOUNT],
  ['340282366920938463463374607431768211461', false, `${AMOUNT}; 5 beyond 2^128 does not wrap to 5`],
  [5, false, `${AMOUNT}, and a JSON number is no string`],
  [null, false, AMOUNT],
  [true, false, AMOUNT],
  [['5'], false, AMOUNT],
  [{ amt: '5' }, false, AMOUNT],
  [undefined, false, 'BRC-161: amt is required on transfer']
]

const ID = 'BRC-161, token identification: 64 lower-case hex characters, underscore, decimal output number'
const RAW: VectorCase['differs'] = { '1sat-2026': 'reads it as the id of a token of that raw text' }
const ids: readonly (readonly [name: string, (id: TokenId) => unknown, VectorCase['differs']?])[] = [
  ['in capitals', id => id.toUpperCase(), RAW],
  ['with a dot', id => id.replace('_', '.'), RAW],
  ['with a colon', id => id.replace('_', ':')],
  ['with an i', id => id.replace('_', 'i')],
  ['with a leading zero', id => id.replace('_', '_0'), RAW],
  ['with two zeros', id => `${id}0`, RAW],
  ['with a space behind it', id => `${id} `],
  ['with a line break behind it', id => `${id}\n`],
  ['with a sign', id => id.replace('_', '_+')],
  ['with a negative output number', id => id.replace('_', '_-')],
  ['without an output number', id => id.slice(0, 65)],
  ['without a separator', id => id.replace('_', '')],
  ['that is the txid alone', id => id.slice(0, 64)],
  ['of 63 characters', id => id.slice(1)],
  ['of 65 characters', id => `0${id}`],
  ['with an output number beyond 32 bits', id => id.replace(/_.*/, '_4294967296')],
  ['that is a number', () => 5],
  ['that is null', () => null],
  ['that is a list', id => [id]],
  ['that is absent', () => undefined],
  ['of another output of the deployment', id => id.replace('_0', '_1')]
]

const OP = 'BRC-161: op is deploy+mint, deploy+auth, mint, auth, transfer or burn'
const CASE = `${OP}; in lower case by the text, which says nothing of other spellings: these are read as by other indexers`
const operations: readonly (readonly [fields: Record<string, unknown>, isAdmitted: boolean, why: string])[] =
  [
    [{ op: 'transfer' }, true, OP],
    [{ op: 'burn' }, true, OP],
    [{ op: 'TRANSFER' }, true, CASE],
    [{ op: 'Transfer' }, true, CASE],
    [{ op: 'transfer ' }, false, OP],
    [{ op: 'send' }, false, OP],
    [{ op: 'value' }, false, `${OP}; a value is of the binary form`],
    [{ op: '' }, false, OP],
    [{ op: 5 }, false, OP],
    [{ op: null }, false, OP],
    [{ op: ['transfer'] }, false, OP],
    [{ op: undefined }, false, OP],
    [{ op: 'transfer', p: 'bsv-21' }, false, 'BRC-161: p must be the string bsv-20'],
    [{ op: 'transfer', p: 'BSV-20' }, false, 'BRC-161: p must be the string bsv-20'],
    [{ op: 'transfer', p: 20 }, false, 'BRC-161: p must be the string bsv-20'],
    [{ op: 'transfer', p: undefined }, false, 'BRC-161: p must be the string bsv-20'],
    [
      { op: 'transfer', tick: 'GOLD', more: { deep: [1, 2, {}] } },
      true,
      'BRC-161: unrecognized keys must be ignored'
    ]
  ]

const DISPLAY =
  'BRC-161, deploy display fields: missing or malformed ones invalidate neither the deploy nor the id'
const REFUSES: VectorCase['differs'] = { '1sat-2026': 'reads no token output' }
const FAILS: VectorCase['differs'] = { '1sat-2026': 'panics' }
const displays: readonly (readonly [
  fields: Record<string, unknown>,
  attributes: { sym?: string; dec?: number; icon?: string },
  VectorCase['differs']?
])[] = [
  [
    { sym: 'GOLD', dec: '8' },
    { sym: 'GOLD', dec: 8 }
  ],
  [{ dec: '0' }, { dec: 0 }],
  [{ dec: '18' }, { dec: 18 }],
  [{ dec: '08' }, { dec: 8 }],
  [{ dec: '19' }, {}, REFUSES],
  [{ dec: '256' }, {}, REFUSES],
  [{ dec: '-1' }, {}, REFUSES],
  [{ dec: '1.5' }, {}, REFUSES],
  [{ dec: '' }, {}, REFUSES],
  [{ dec: 8 }, {}, REFUSES],
  [{ dec: null }, {}, REFUSES],
  [{ sym: '' }, {}],
  [{ sym: 'a:spnd' }, { sym: 'a:spnd' }],
  [{ sym: '¯\\_(ツ)_/¯' }, { sym: '¯\\_(ツ)_/¯' }],
  [{ sym: 5 }, {}, FAILS],
  [{ sym: null }, {}, FAILS],
  [{ sym: ['GOLD'] }, {}, FAILS],
  [{ icon: `${'ab'.repeat(32)}_3` }, { icon: `${'ab'.repeat(32)}_3` }],
  [{ icon: 'https://example.com/gold.png' }, {}, { '1sat-2026': 'keeps the text' }],
  [{ icon: `${'ab'.repeat(32)}.3` }, {}, { '1sat-2026': 'keeps the text' }],
  [{ icon: {} }, {}, FAILS]
]

const CARRIER = 'BRC-161: content type application/bsv-20, the body a JSON object'
const body = (id: TokenId): string => JSON.stringify({ p: 'bsv-20', op: 'transfer', id, amt: '5' })
const carriers: readonly (readonly [
  name: string,
  isAdmitted: boolean,
  why: string,
  (id: TokenId) => ReturnType<typeof written>,
  VectorCase['differs']?
])[] = [
  [
    'media type with a parameter',
    false,
    CARRIER,
    id => written(body(id), 'application/bsv-20;charset=utf-8')
  ],
  ['media type in capitals', false, CARRIER, id => written(body(id), 'Application/BSV-20')],
  ['media type of the next number', false, CARRIER, id => written(body(id), 'application/bsv-21')],
  ['text/plain', false, CARRIER, id => written(body(id), 'text/plain')],
  ['a list with the object in it', false, CARRIER, id => written(`[${body(id)}]`)],
  ['text behind the object', false, CARRIER, id => written(`${body(id)}x`)],
  ['a byte order mark before it', false, CARRIER, id => written(`\ufeff${body(id)}`)],
  ['single quotes', false, CARRIER, id => written(body(id).replaceAll('"', "'"))],
  ['a comma behind the last field', false, CARRIER, id => written(body(id).replace('}', ',}'))],
  ['white space around it', true, CARRIER, id => written(` \r\n\t${body(id)}\n`)],
  [
    'escapes in names and values',
    true,
    CARRIER,
    id => written(body(id).replace('"op":"t', '"\\u006fp":"\\u0074'))
  ],
  [
    'two amounts',
    true,
    'RFC 8259 leaves equal names open: the last counts, as in common parsers',
    id => written(body(id).replace('"amt"', '"amt":"900","amt"'))
  ],
  [
    'a number beyond a float64',
    true,
    `${CARRIER}; unrecognized keys must be ignored, and RFC 8259 does not bound numbers`,
    id => written(body(id).replace('{', '{"x":1e999,')),
    { '1sat-2026': 'reads no token output' }
  ],
  [
    'bytes that are not UTF-8 in a key without a use',
    true,
    'the text does not say UTF-8; read as by other indexers',
    id => notUtf8(body(id).replace('{', '{"x":"~",'))
  ],
  [
    '1,000 satoshis',
    true,
    'BRC-161: one satoshi is convention and does not change validity',
    id => ({ ...written(body(id)), satoshis: 1000 })
  ],
  [
    'no satoshis',
    true,
    'BRC-161: one satoshi is convention and does not change validity',
    id => ({ ...written(body(id)), satoshis: 0 })
  ],
  [
    'the lock before the envelope',
    true,
    'the envelope never runs, wherever it is in the script',
    id => ({
      satoshis: 1,
      script: inscription({ type: 'application/bsv-20', content: body(id), prefix: BOB })
    })
  ],
  [
    'a second envelope, which would move more',
    true,
    'the first envelope with content counts',
    id => ({
      satoshis: 1,
      script: joined(
        written(body(id)).script,
        inscription({ type: 'application/bsv-20', content: body(id).replace('"5"', '"11"') })
      )
    })
  ]
]

const notUtf8 = (content: string): ReturnType<typeof written> => {
  const bytes = Uint8Array.from(Buffer.from(content))
  bytes[bytes.indexOf(0x7e)] = 0xff
  return written(bytes)
}

const transfer = (id: TokenId, more: Record<string, unknown>) =>
  t.tokenOutput({ op: 'transfer', id, amt: '5', ...more }, BOB)

export const jsonCases: readonly VectorCase[] = [
  ...amounts.map(([amt, isAdmitted, why, differs]) => ({
    group: 'amount',
    name: `a transfer of ${shown(amt)} out of 10`,
    why,
    ...(differs && { differs }),
    build: oneOutput(isAdmitted, id => transfer(id, { amt }))
  })),
  ...(['1', '21000000', '00021000000', `${MAX}`] as const).map(amt => ({
    group: 'amount',
    name: `a deployment of ${shown(amt)}`,
    why: AMOUNT,
    build: oneDeployment(t.deployMint(ALICE, amt), { dec: 0 })
  })),
  ...(['0', `${MAX + 1n}`, '1.0', 5, undefined] as const).map(amt => ({
    group: 'amount',
    name: `a deployment of ${shown(amt)}`,
    why: amt === '0' ? `${AMOUNT}; ${ZERO}` : AMOUNT,
    ...(amt === '0' && { differs: { '1sat-2025': 'admits the output', '1sat-2026': 'admits the output' } }),
    build: oneDeployment(t.tokenOutput({ op: 'deploy+mint', amt }, BOB))
  })),
  ...ids.map(([name, spelled, differs]) => ({
    group: 'id',
    name: `an id ${name}`,
    why: ID,
    ...(differs && { differs }),
    build: oneOutput(false, id => transfer(id, { id: spelled(id) }))
  })),
  ...operations.map(([fields, isAdmitted, why]) => ({
    group: 'operation',
    name: shown(fields),
    why,
    build: oneOutput(isAdmitted, id => transfer(id, fields))
  })),
  ...displays.map(([fields, attributes, differs]) => ({
    group: 'display',
    name: `a deployment with ${shown(fields)}`,
    why: DISPLAY,
    ...(differs && { differs }),
    build: oneDeployment(t.deployMint(ALICE, 1000n, fields), { dec: 0, ...attributes })
  })),
  ...[{ dec: '99' }, { dec: 8 }, { dec: null }, { sym: 5 }, { icon: {} }, { sym: 'X', dec: '8' }].map(
    fields => ({
      group: 'display',
      name: `a transfer with ${shown(fields)}`,
      why: 'BRC-161: sym, icon and dec are of deployments alone, and unrecognized keys must be ignored',
      ...('dec' in fields &&
        fields.dec !== '8' && { differs: { '1sat-2026': 'reads no token output, which burns the 10' } }),
      build: oneOutput(true, id => transfer(id, fields))
    })
  ),
  {
    group: 'display',
    name: 'a relative icon',
    why: 'BRC-161: _N is output N of the transaction of the deployment',
    build: history => {
      const made = history.make([], [t.deployMint(ALICE, 5n, { icon: '_4' })])
      const id = t.tokenIdOf(made)
      return { admitted: { [id]: [0] }, attributes: { dec: 0, icon: id.replace('_0', '_4') } }
    }
  },
  ...carriers.map(([name, isAdmitted, why, output, differs]) => ({
    group: 'carrier',
    name,
    why,
    ...(differs && { differs }),
    build: oneOutput(isAdmitted, output)
  }))
]
