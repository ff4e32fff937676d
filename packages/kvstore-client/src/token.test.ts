/** The token of the global profile: what is one, what is none and why, and that `@bsv/sdk` reads the same. */

import { verifyToken } from '@quoin/kvstore'
import { buildScript, fromHex, OP } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeKey } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, PROTOCOL, sign } from '../../kvstore/src/author.testing.ts'
import { sdkRead, sdkScript } from '../../kvstore/src/sdk.testing.ts'
import { shows } from '../../kvstore/src/shows.testing.ts'
import { readVerified } from '../../kvstore/src/verify.ts'
import {
  isProtocolID,
  isRefusal,
  type KvContent,
  type KvToken,
  parseToken,
  type Refusal,
  signedBytes,
  writeFields,
  writeToken
} from './token.ts'

const ann = new Author('ann')
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Texts of every plane, with control characters and without halves of pairs. */
const text = (most: number): fc.Arbitrary<string> =>
  fc.string({ unit: 'binary', minLength: 1, maxLength: most }).filter(each => !each.startsWith('\ufeff'))
const protocol: fc.Arbitrary<readonly [0 | 1 | 2, string]> = fc.tuple(
  fc.constantFrom(0 as const, 1 as const, 2 as const),
  fc.stringMatching(/^[a-z0-9]{5,12}( [a-z0-9]{1,5}){0,3}$/)
)
const content: fc.Arbitrary<KvContent> = fc
  .record({
    protocolID: protocol,
    key: text(40),
    value: text(200),
    tags: fc.array(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 5 })
  })
  .filter(({ key, value }) => key !== '\x10' && value !== '\x10' && key.length <= 800)
  .map(each => ({ ...each, controller: ann.controller }))

const codeOf = (read: KvToken | Refusal): string | undefined => (isRefusal(read) ? read.code : undefined)
const plain = ({ protocolID, key, value, controller, tags }: KvToken): KvContent => ({
  protocolID,
  key,
  value,
  controller,
  tags
})

/** A token of any fields, signed and locked as it should be. */
const tokenOf = (
  fields: readonly Uint8Array[],
  { protocolID = PROTOCOL, key = 'greeting' } = {}
): Uint8Array => ann.scriptOf(fields, ann.keyFor(protocolID, key))
const fieldsOf = (given: Partial<KvContent> = {}): Uint8Array[] => writeFields(ann.content(given))
const withField = (index: number, field: Uint8Array, given: Partial<KvContent> = {}): Uint8Array =>
  tokenOf(fieldsOf(given).with(index, field), ann.content(given))

describe('§3.2 the canonical form', () => {
  it('§3.2 §A is read as it was written, with tags and without, in every plane of Unicode', () => {
    fc.assert(
      fc.property(content, given => {
        const script = ann.script(given)
        const token = parseToken(script)
        if (isRefusal(token)) throw new Error(token.reason)
        expect(plain(token)).toEqual(given)
        expect(token.fields).toHaveLength(given.tags.length > 0 ? 5 : 4)
        expect(writeToken(token)).toEqual(script)
      }),
      { numRuns: 300 }
    )
  })

  it('§3.2 has the fields in their order: protocolID, key, value, controller, tags, signature', () => {
    const token = parseToken(ann.script({ key: 'k', value: 'v', tags: ['a', 'b'] })) as KvToken
    shows('3.2-2', token.fields).toEqual([
      utf8('[1,"kvstore"]'),
      utf8('k'),
      utf8('v'),
      fromHex(ann.controller),
      utf8('["a","b"]')
    ])
    shows('5-2', token.signature).toEqual(sign(token.fields, ann.keyFor(PROTOCOL, 'k')))
  })

  it('§3.2 §6.2 the legacy form without tags is valid, and so is one with an empty list', () => {
    const legacy = ann.script()
    expect(parseToken(legacy)).toMatchObject({ tags: [] })
    const empty = tokenOf([...fieldsOf(), utf8('[]')])
    expect(verifyToken(empty)).toMatchObject({ tags: [] })
    shows('3.2-3 6.2-1 A-1', verifyToken(legacy)).toMatchObject({ tags: [] })
  })

  it('§3.2 new tokens without tags have no field for them', () => {
    shows('3.2-5', writeFields(ann.content({ tags: [] }))).toHaveLength(4)
    shows('3.2-4', writeFields(ann.content({ tags: ['a'] }))).toHaveLength(5)
  })

  it('§2.2 takes values of no bytes, of one, and of 100 kB', () => {
    for (const value of ['\0', 'x', '\x01', '\x0f', 'é'.repeat(50_000)]) {
      expect(verifyToken(ann.script({ value }))).toMatchObject({ value })
    }
    const empty = fieldsOf().with(2, new Uint8Array())
    shows('2.2-1', verifyToken(tokenOf(empty))).toMatchObject({ value: '' })
    expect(readVerified(tokenOf(empty))).toMatchObject({ value: '' })
    expect(readVerified(ann.script({ value: '\0' }))).toMatchObject({ value: '\0' })
  })

  it('§3.2 §A takes no longer text for a token than the standard has bytes for', () => {
    const long = 'k'.repeat(800)
    expect(verifyToken(ann.script({ key: long }))).toMatchObject({ key: long })
    expect(codeOf(parseToken(withField(1, utf8(`${long}k`))))).toBe('key')
  })
})

describe('§A malformed tokens are refused, with a reason', () => {
  const lock = ann.keyFor(PROTOCOL, 'greeting')
  const fields = fieldsOf({ tags: ['a'] })
  const pushes = [...fields, sign(fields, lock)]
  const drops = [OP['2DROP'], OP['2DROP'], OP['2DROP']]

  it.each<[string, string, Uint8Array]>([
    ['nothing', 'shape', new Uint8Array()],
    ['a lock after the fields', 'shape', buildScript([...pushes, ...drops, lock.publicKey, OP.CHECKSIG])],
    [
      'another opcode where OP_CHECKSIG belongs',
      'shape',
      buildScript([lock.publicKey, OP.DROP, ...pushes, ...drops])
    ],
    ['a drop too few', 'shape', buildScript([lock.publicKey, OP.CHECKSIG, ...pushes, ...drops.slice(1)])],
    ['a drop too many', 'shape', buildScript([lock.publicKey, OP.CHECKSIG, ...pushes, ...drops, OP.DROP])],
    ['something behind', 'shape', buildScript([lock.publicKey, OP.CHECKSIG, ...pushes, ...drops, OP.NOP])],
    ['a script that breaks off', 'shape', ann.script().subarray(0, 60)],
    ['four fields', 'fields', tokenOf(fields.slice(0, 3))],
    ['seven fields', 'fields', tokenOf([...fields, utf8('more')])],
    ['a protocol that is no JSON', 'protocolID', withField(0, utf8('kvstore'))],
    ['a protocol of three parts', 'protocolID', withField(0, utf8('[1,"kvstore",1]'))],
    ['a protocol of an unknown level', 'protocolID', withField(0, utf8('[3,"kvstore"]'))],
    ['a protocol of a name too short', 'protocolID', withField(0, utf8('[1,"kv"]'))],
    ['a key that is not UTF-8', 'key', withField(1, Uint8Array.of(0xff, 0xfe))],
    ['a controller of 32 bytes', 'controller', withField(3, fromHex(ann.controller).subarray(1))],
    ['a controller in hex, as text', 'controller', withField(3, utf8(ann.controller))],
    ['an uncompressed controller', 'controller', withField(3, ann.key.uncompressed)],
    ['a controller that is not on the curve', 'controller', withField(3, fromHex(`02${'ff'.repeat(32)}`))],
    ['tags that are no JSON', 'tags', withField(4, utf8('a,b'), { tags: ['a'] })],
    ['tags that are one text', 'tags', withField(4, utf8('"a"'), { tags: ['a'] })],
    ['tags that are an object', 'tags', withField(4, utf8('{"0":"a"}'), { tags: ['a'] })],
    ['tags with a number', 'tags', withField(4, utf8('["a",1]'), { tags: ['a'] })]
  ])('§A §2.3 refuses %s', (_, code, script) => {
    const read = verifyToken(script)
    shows('2.3-4 3.2-1 A-2', codeOf(read)).toBe(code)
    expect((read as Refusal).reason).toMatch(/^\w.{10,}/)
  })

  it('§A §2.3 no bytes at all make it throw', () => {
    const script = ann.script({ tags: ['a', 'b'] })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc
            .array(fc.tuple(fc.nat(script.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
            .map(changes => {
              const changed = script.slice()
              for (const [at, byte] of changes) changed[at] = byte
              return changed
            }),
          fc.nat(script.length).map(end => script.subarray(0, end))
        ),
        bytes => {
          const read = parseToken(bytes)
          if (!isRefusal(read)) expect(parseToken(writeToken(read))).toEqual(read)
        }
      ),
      { numRuns: 3000 }
    )
  })
})

describe('§3.3 the signature', () => {
  it('§3.3 is of all fields before it, one after the other', () => {
    for (const tags of [[], ['a', 'b']]) {
      const token = parseToken(ann.script({ tags })) as KvToken
      shows('3.3-1 5-3', signedBytes(token.fields)).toEqual(new Uint8Array(Buffer.concat([...token.fields])))
      expect(verifyToken(writeToken(token))).toMatchObject({ tags })
    }
  })

  it('§3.3 §B of another value, key, protocol or of fewer fields is no signature of these', () => {
    const lock = ann.keyFor(PROTOCOL, 'greeting')
    const fields = fieldsOf({ tags: ['a'] })
    for (const signed of [
      fieldsOf({ value: 'other', tags: ['a'] }),
      fields.slice(0, 4),
      [...fields].reverse()
    ]) {
      const forged = writeToken({ fields, lockKey: lock.publicKey, signature: sign(signed, lock) })
      shows('3.3-1 3.3-6', codeOf(verifyToken(forged))).toBe('signature')
    }
  })

  it('§3.3 is verified under protocol, key and controller: a key of another scope does not do', () => {
    const fields = fieldsOf()
    const lock = ann.keyFor(PROTOCOL, 'greeting')
    for (const other of [
      ann.key,
      ann.keyFor(PROTOCOL, 'other'),
      ann.keyFor([2, 'kvstore'], 'greeting'),
      makeKey('x')
    ]) {
      shows(
        '3.3-3 3.3-4 3.3-5',
        codeOf(verifyToken(writeToken({ fields, lockKey: lock.publicKey, signature: sign(fields, other) })))
      ).toBe('signature')
    }
  })

  it('§3.2 the lock is derived under the same scope: a token that another can spend is none', () => {
    const fields = fieldsOf()
    const lock = ann.keyFor(PROTOCOL, 'greeting')
    for (const other of [ann.key, ann.keyFor(PROTOCOL, 'other'), makeKey('thief')]) {
      const foreign = writeToken({ fields, lockKey: other.publicKey, signature: sign(fields, lock) })
      shows('3.2-8', codeOf(verifyToken(foreign))).toBe('lock')
    }
  })

  it('§3.2 §5 the key that locks it is not the controller, and is never taken for one', () => {
    const token = verifyToken(ann.script()) as KvToken
    expect(Buffer.from(token.lockKey).toString('hex')).not.toBe(ann.controller)
    shows('3.2-7', token.controller).toBe(ann.controller)
    expect(token.lockKey).toEqual(ann.keyFor(PROTOCOL, 'greeting').publicKey)
    // Signed and locked by the controller's identity key itself, as if that were the derived one.
    expect(codeOf(verifyToken(ann.scriptOf(fieldsOf(), ann.key)))).toBe('lock')
  })
})

describe('with @bsv/sdk', () => {
  const samples = fc.sample(content, { numRuns: 40, seed: 35 })

  it('§3.2 §3.3 tokens of ours verify there, to the byte the same', async () => {
    for (const given of samples) {
      const script = ann.script(given)
      expect(await sdkRead(script)).toEqual(given)
      expect(await sdkScript(ann, given)).toEqual(script)
    }
  })

  it('§3.2 §3.3 tokens from there verify here', async () => {
    for (const value of ['x', '\x01', '\x0f', '\0', '€'.repeat(33_000), '\u{10ffff}']) {
      const given = ann.content({ value, tags: ['t'] })
      expect(verifyToken(await sdkScript(ann, given))).toMatchObject(given)
    }
  })

  it('§2.2 an empty value and the byte 16, which it cannot read back, are tokens here and not written by us', async () => {
    for (const value of ['', '\x10']) {
      const script = await sdkScript(ann, ann.content({ value }))
      expect(await sdkRead(script)).toBeUndefined()
      expect(verifyToken(script)).toMatchObject({ value })
      expect(() => writeFields(ann.content({ value }))).toThrow(
        expect.objectContaining({ code: 'ERR_KV_ENTRY', details: { field: 'value' } })
      )
    }
  })

  it('§2.2 a byte order mark, which it drops, is not written by us', async () => {
    const marked = '\ufeffx'
    expect(await sdkRead(await sdkScript(ann, ann.content({ value: marked })))).toMatchObject({ value: 'x' })
    for (const field of ['key', 'value'] as const) {
      expect(() => writeFields(ann.content({ [field]: marked }))).toThrow(/byte order mark/)
    }
  })
})

describe('§B what emitters write', () => {
  it.each<[string, Partial<KvContent>]>([
    ['protocolID', { protocolID: [1, 'KVStore'] }],
    ['key', { key: '' }],
    ['key', { key: 'k'.repeat(801) }],
    ['key', { key: '\x10' }],
    ['key', { key: '\ud800' }],
    ['value', { value: 1 as never }],
    ['value', { value: '\udfff' }],
    ['controller', { controller: 'me' }],
    ['tags', { tags: [1 as never] }],
    ['tags', { tags: ['t'.repeat(1001)] }]
  ])('§B a wrong %s is refused: %j', (field, given) => {
    expect(() => writeFields(ann.content(given))).toThrow(
      expect.objectContaining({ code: 'ERR_KV_ENTRY', details: { field } })
    )
  })

  it('§B protocols are those that wallets take', () => {
    for (const name of [
      'kvstore',
      'abcde',
      'a b c',
      'x'.repeat(400),
      `specific linkage revelation ${'x'.repeat(402)}`
    ]) {
      expect(isProtocolID([1, name])).toBe(true)
    }
    for (const name of [
      'kv',
      'x'.repeat(401),
      'two  spaces',
      ' kvstore',
      'kvstore ',
      'kv_store',
      'my protocol',
      'Kvstore'
    ]) {
      expect(isProtocolID([1, name])).toBe(false)
    }
    for (const value of [null, 'kvstore', [1], ['1', 'kvstore'], [1.5, 'kvstore'], [1, 2]]) {
      expect(isProtocolID(value)).toBe(false)
    }
  })
})
