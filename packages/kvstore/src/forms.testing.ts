/**
 * Forms of tokens at the edge of BRC-35, each with the sentence of the standard that decides on it and the verdict:
 *
 *     npx tsx packages/kvstore/src/forms.testing.ts > docs/brc-35-forms.md
 */
import { fileURLToPath } from 'node:url'
import { type KvContent, type RefusalCode, writeFields } from '@quoin/kvstore-client/token'
import { buildScript, OP } from '@quoin/primitives'
import type { Key } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, PROTOCOL, sign } from './author.testing.ts'

export interface Form {
  readonly form: string
  readonly section: string
  /** The sentence of the standard. */
  readonly sentence: string
  /** What the entry says, or why there is none. */
  readonly verdict: Partial<KvContent> | RefusalCode
  /** Whether the topic manager of the reference admits it. */
  readonly isAdmittedByReference: boolean
  readonly script: Uint8Array
}

export const author = new Author('forms')
const KEY = 'greeting'
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const lockOf = (key = KEY, level: 0 | 1 | 2 = 1): Key => author.keyFor([level, PROTOCOL[1]], key)
const fieldsOf = (content: Partial<KvContent> = {}): Uint8Array[] => writeFields(author.content(content))
const withField = (index: number, field: Uint8Array, lock = lockOf()): Uint8Array =>
  author.scriptOf(fieldsOf({ tags: ['a'] }).with(index, field), lock)
const withTags = (json: string): Uint8Array => withField(4, utf8(json))
const withValue = (value: Uint8Array): Uint8Array => withField(2, value)
const withProtocol = (json: string): Uint8Array => withField(0, utf8(json))

const pushes = [...fieldsOf({ tags: ['a'] }), sign(fieldsOf({ tags: ['a'] }), lockOf())]
const drops = [OP['2DROP'], OP['2DROP'], OP['2DROP']]
const lockKey = lockOf().publicKey

/** The second field with a length byte more than needed. */
const longPush = Uint8Array.of(
  ...buildScript([lockKey, OP.CHECKSIG, pushes[0]!]),
  OP.PUSHDATA1,
  pushes[1]!.length,
  ...pushes[1]!,
  ...buildScript([...pushes.slice(2), ...drops])
)

/** A signature whose r begins with a zero byte in DER, without that byte. */
const shortDer = (): Uint8Array => {
  for (let i = 0; ; i++) {
    const fields = fieldsOf({ value: `value ${i}` })
    const [sequence, length, integer, rLength, zero, ...rest] = sign(fields, lockOf())
    if (zero !== 0) continue
    const signature = Uint8Array.of(sequence!, length! - 1, integer!, rLength! - 1, ...rest)
    return buildScript([lockKey, OP.CHECKSIG, ...fields, signature, OP['2DROP'], OP['2DROP'], OP.DROP])
  }
}

const MANY = [...Array.from({ length: 100 }, (_, i) => `${i}`), 't'.repeat(5000)]
const JSON_RULE = '`protocolID` is encoded as the UTF-8 JSON serialization of the wallet protocol tuple'
const TAGS_RULE = '`tags`, when present, are encoded as the UTF-8 JSON serialization of an array of strings.'
const VALUE_RULE = '`value` is represented as UTF-8 bytes of an application string.'
const LOCK_RULE = 'emitters MUST use PushDrop lock position `before`'
const PUSHDROP_RULE =
  'Global KV tokens MUST use a BRC-48 PushDrop locking script with lock position `before`.'
const SIGNATURE_RULE = 'Any output that fails signature verification MUST be ignored.'
const MALFORMED_RULE = 'MUST reject or ignore malformed tokens.'

type Row = readonly [
  form: string,
  section: string,
  sentence: string,
  verdict: Form['verdict'],
  isAdmittedByReference: boolean,
  script: Uint8Array
]

const ROWS: readonly Row[] = [
  [
    'six fields, canonical',
    '3.2',
    'The canonical semantic field order is',
    { tags: ['a'] },
    true,
    withTags('["a"]')
  ],
  [
    'five fields, without tags',
    '6.2',
    'Parsers MUST continue to accept them',
    { tags: [] },
    true,
    author.script()
  ],
  [
    'tags are `[]`',
    '3.2',
    'SHOULD encode an empty tag set as absence of field 5',
    { tags: [] },
    true,
    withTags('[]')
  ],
  [
    '`[1, "kvstore"]`, with a space',
    '7.1',
    '`[1, "kvstore"]`',
    { protocolID: PROTOCOL },
    true,
    withProtocol('[1, "kvstore"]')
  ],
  [
    '`[1,"\\u006bvstore"]`, with an escape',
    '2.2',
    JSON_RULE,
    { protocolID: PROTOCOL },
    true,
    withProtocol('[1,"\\u006bvstore"]')
  ],
  [
    '`[1,"KVStore"]`, in mixed case',
    '2.2',
    JSON_RULE,
    { protocolID: PROTOCOL },
    true,
    withProtocol('[1,"KVStore"]')
  ],
  [
    '`[1," kvstore "]`, padded',
    '2.2',
    JSON_RULE,
    { protocolID: PROTOCOL },
    true,
    withProtocol('[1," kvstore "]')
  ],
  [
    '`[1.0,"kvstore"]`, another spelling of the level',
    '2.2',
    JSON_RULE,
    { protocolID: PROTOCOL },
    true,
    withProtocol('[1.0,"kvstore"]')
  ],
  [
    'a byte order mark before the JSON of the protocol',
    '2.2',
    JSON_RULE,
    { protocolID: PROTOCOL },
    true,
    withProtocol('\ufeff[1,"kvstore"]')
  ],
  [
    'tags with spaces and twice the same',
    '2.2',
    TAGS_RULE,
    { tags: ['a', 'a', ''] },
    true,
    withTags('[ "a", "a", "" ]')
  ],
  ['a tag with a lone surrogate', '2.2', TAGS_RULE, { tags: ['\ud800'] }, true, withTags('["\\ud800"]')],
  ['101 tags, one of 5,000 bytes', '2.2', TAGS_RULE, { tags: MANY }, true, withTags(JSON.stringify(MANY))],
  ['a value of no bytes', '2.2', VALUE_RULE, { value: '' }, false, withValue(new Uint8Array())],
  ['a value of the byte 16', '2.2', VALUE_RULE, { value: '\x10' }, false, withValue(Uint8Array.of(16))],
  [
    'a value that is not UTF-8',
    '2.2',
    'Applications that need binary values SHOULD encode them',
    { value: '\ufffd(', valueBytes: Uint8Array.of(0xc3, 0x28) },
    true,
    withValue(Uint8Array.of(0xc3, 0x28))
  ],
  [
    'a value of 100 kB',
    '2.2',
    VALUE_RULE,
    { value: 'v'.repeat(100_000) },
    true,
    withValue(utf8('v'.repeat(100_000)))
  ],
  [
    'a byte order mark before the key, keys derived of the rest',
    '3.3',
    '`key` from field 2 as the `keyID`',
    { key: KEY },
    true,
    withField(1, utf8(`\ufeff${KEY}`))
  ],
  [
    'a byte order mark before the key, keys derived of the whole',
    '3.3',
    '`key` from field 2 as the `keyID`',
    { key: `\ufeff${KEY}` },
    false,
    withField(1, utf8(`\ufeff${KEY}`), lockOf(`\ufeff${KEY}`))
  ],
  ['a push with a longer length than needed', '3.2', PUSHDROP_RULE, { tags: ['a'] }, true, longPush],
  [
    'six OP_DROP for three OP_2DROP',
    '3.2',
    PUSHDROP_RULE,
    { tags: ['a'] },
    true,
    buildScript([lockKey, OP.CHECKSIG, ...pushes, ...Array<number>(6).fill(OP.DROP)])
  ],
  [
    'an uncompressed lock key',
    '3.2',
    'The PushDrop lock for a global token MUST be derived under the same `protocolID` and `key` scope',
    { tags: ['a'] },
    true,
    buildScript([lockOf().uncompressed, OP.CHECKSIG, ...pushes, ...drops])
  ],
  [
    'a DER integer without its zero byte',
    '3.3',
    'Readers of global KV tokens MUST verify the appended signature',
    { tags: [] },
    true,
    shortDer()
  ],
  [
    'the lock key of somebody else',
    '3.2',
    'The PushDrop lock for a global token MUST be derived under the same `protocolID` and `key` scope',
    'lock',
    true,
    buildScript([new Author('thief').key.publicKey, OP.CHECKSIG, ...pushes, ...drops])
  ],
  [
    'OP_DROP in the place of OP_CHECKSIG',
    '3.2',
    PUSHDROP_RULE,
    'shape',
    true,
    buildScript([lockKey, OP.DROP, ...pushes, ...drops])
  ],
  [
    'the lock after the fields',
    '5',
    LOCK_RULE,
    'shape',
    false,
    buildScript([...pushes, ...drops, lockKey, OP.CHECKSIG])
  ],
  [
    'a drop too few, so that anybody spends it',
    '3.2',
    PUSHDROP_RULE,
    'shape',
    true,
    buildScript([lockKey, OP.CHECKSIG, ...pushes, ...drops.slice(1)])
  ],
  [
    'an opcode after the drops',
    '3.2',
    PUSHDROP_RULE,
    'shape',
    true,
    buildScript([lockKey, OP.CHECKSIG, ...pushes, ...drops, OP.NOP])
  ],
  [
    'an uncompressed controller',
    '3.2',
    "The `controller` field MUST contain the emitter's compressed identity public key.",
    'controller',
    true,
    withField(3, author.key.uncompressed)
  ],
  [
    '`[1,"kvstore",1]`, not the tuple of wallets',
    'A',
    MALFORMED_RULE,
    'protocolID',
    true,
    withProtocol('[1,"kvstore",1]')
  ],
  [
    '`[3,"kvstore"]`, a level that no wallet has',
    'A',
    MALFORMED_RULE,
    'protocolID',
    false,
    withProtocol('[3,"kvstore"]')
  ],
  [
    'a key that is not UTF-8',
    'A',
    MALFORMED_RULE,
    'key',
    true,
    withField(1, Uint8Array.of(0xff), lockOf('\ufffd'))
  ],
  [
    'tags that are JSON of another type',
    'A',
    'MUST decode `protocolID` and `tags` from their JSON string forms.',
    'tags',
    true,
    withTags('{"a":1}')
  ],
  [
    'seven fields',
    '3.2',
    'The canonical semantic field order is',
    'fields',
    false,
    author.scriptOf([...fieldsOf({ tags: ['a'] }), utf8('more')], lockOf())
  ],
  [
    'the signature of another key',
    '3.3',
    SIGNATURE_RULE,
    'signature',
    false,
    buildScript([lockKey, OP.CHECKSIG, ...pushes.slice(0, 5), sign(pushes.slice(0, 5), author.key), ...drops])
  ],
  [
    'a signature that leaves out the tags',
    '3.3',
    'tagged form: `protocolID || key || value || controller || tags`',
    'signature',
    false,
    buildScript([lockKey, OP.CHECKSIG, ...pushes.slice(0, 5), sign(pushes.slice(0, 4), lockOf()), ...drops])
  ]
]

export const FORMS: readonly Form[] = ROWS.map(
  ([form, section, sentence, verdict, isAdmittedByReference, script]) => ({
    form,
    section,
    sentence,
    verdict,
    isAdmittedByReference,
    script
  })
)

const verdictText = ({ verdict }: Form): string =>
  typeof verdict === 'string' ? `refused (\`${verdict}\`)` : 'entry'

export const formsPage = (): string => {
  const rows = FORMS.map(each => {
    const theirs = each.isAdmittedByReference ? 'admitted' : 'refused'
    const cells = [each.form, `§${each.section}: ${each.sentence}`, verdictText(each), theirs]
    return `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\ufeff', '')).join(' | ')} |`
  })
  return `${[
    '# BRC-35: forms of tokens',
    '',
    'Generated by `npx tsx packages/kvstore/src/forms.testing.ts > docs/brc-35-forms.md`. Each form with the sentence of the',
    'standard that decides on it, our verdict, and the verdict of the topic manager of the reference, which runs the PushDrop',
    'decoder and the signature check of `@bsv/sdk`. A test judges every form in the node, in the client and in the reference.',
    '',
    '| form | sentence | verdict | reference |',
    '|---|---|---|---|',
    ...rows
  ].join('\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(formsPage())
