import { buildScript, equalBytes, OP } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hash160 } from '../hash.ts'
import type { Transaction } from '../transaction.ts'
import { build, SCRIPTS, TEMPLATES } from './cases.testing.ts'
import { malleations, withHighS, withInputScript } from './mutations.testing.ts'
import { Sighash } from './sighash.ts'
import { evaluateFully, type InputVerdict } from './template-verdict.testing.ts'
import { readLock } from './templates.ts'
import { ALL, envelope, joined, makeKey, payTo, pushDrop } from './test-chain.testing.ts'

const key = makeKey('owner')
const keyHash = hash160(key.publicKey)
const text = new TextEncoder()
const ordinal = envelope('text/plain', 'hello')
const [P2PKH] = TEMPLATES as [(typeof TEMPLATES)[number]]

const evaluated = ([parent, child]: readonly Transaction[], index = 0): InputVerdict =>
  evaluateFully(new Sighash(child!), index, parent!.outputs[child!.inputs[index]!.vout]!)

describe('the owner of an output', () => {
  const field = text.encode('field')
  const drops = (...ops: number[]): Uint8Array => Uint8Array.from(ops)

  test.each<[string, Uint8Array]>([
    ['P2PKH', payTo(key)],
    ['an inscription before it', joined(ordinal, payTo(key))],
    ['an inscription after it', joined(payTo(key), ordinal)],
    ['inscriptions on both sides', joined(ordinal, payTo(key), ordinal)],
    ['an empty envelope', joined(drops(OP.FALSE, OP.IF, OP.ENDIF), payTo(key))],
    ['data behind a RETURN, even broken pushes', joined(payTo(key), drops(OP.RETURN, OP.PUSHDATA4, 1))],
    ['both', joined(payTo(key), ordinal, drops(OP.RETURN, 75))],
    [
      'dropped fields before it',
      joined(buildScript([field, OP.N5, OP['2DROP'], OP.N0, OP.DROP]), payTo(key))
    ],
    ['dropped one by one', joined(buildScript([field, field, OP.DROP, field, OP['2DROP']]), payTo(key))],
    ['dropped fields and an inscription', joined(buildScript([field, OP.DROP]), ordinal, payTo(key), ordinal)]
  ])('is the hash of a key: %s', (_, script) => {
    expect(readLock(script)).toEqual({ keyHash })
  })

  test.each<[string, Uint8Array]>([
    ['P2PK', pushDrop(key, [])],
    ['PushDrop before', pushDrop(key, [field])],
    ['PushDrop after', pushDrop(key, [field], 'after')],
    [
      'three fields, dropped one by one',
      joined(pushDrop(key, []), buildScript([field, field, field, OP.DROP, OP.DROP, OP.DROP]))
    ],
    [
      'dropped in an odd order',
      joined(pushDrop(key, []), buildScript([field, field, field, OP.DROP, OP['2DROP']]))
    ],
    ['a field like a key', pushDrop(key, [key.publicKey], 'after')],
    [
      'fields of all sizes',
      pushDrop(
        key,
        [0, 1, 75, 76, 255, 256, 65535, 65536].map(size => new Uint8Array(size))
      )
    ]
  ])('is a key: %s', (_, script) => {
    expect(readLock(script)).toEqual({ key: key.publicKey })
  })

  test.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['something before', joined(drops(OP.NOP), payTo(key))],
    ['something after', joined(payTo(key), drops(OP.NOP))],
    ['a field that stays', joined(buildScript([field]), payTo(key))],
    ['more drops than fields', joined(buildScript([field, OP['2DROP']]), payTo(key))],
    ['drops of the signature and of fields after', joined(buildScript([OP.DROP, field]), payTo(key))],
    ['a dropped push that is longer than needed', joined(drops(OP.PUSHDATA1, 1, 99, OP.DROP), payTo(key))],
    ['fields dropped after an inscription', joined(ordinal, buildScript([field, OP.DROP]), payTo(key))],
    ['fields dropped after the P2PKH', joined(payTo(key), buildScript([field, OP.DROP]))],
    ['two envelopes', joined(ordinal, ordinal, payTo(key))],
    ['an envelope alone', ordinal],
    ['an envelope that is not closed', joined(payTo(key), ordinal.subarray(0, -1))],
    [
      'an envelope with a condition',
      joined(drops(OP.FALSE, OP.IF, OP.FALSE, OP.IF, OP.ENDIF, OP.ENDIF), payTo(key))
    ],
    ['an envelope with an ELSE', joined(drops(OP.FALSE, OP.IF, OP.ELSE, OP.ENDIF), payTo(key))],
    ['an envelope with an opcode', joined(drops(OP.FALSE, OP.IF, OP.NOP, OP.ENDIF), payTo(key))],
    ['an envelope that is run', joined(drops(OP.TRUE, OP.IF, OP.ENDIF), payTo(key))],
    ['an envelope on a PushDrop', joined(ordinal, pushDrop(key, []))],
    ['another hash', joined(drops(OP.DUP, OP.SHA256), payTo(key).subarray(2))],
    ['CHECKSIGVERIFY', joined(payTo(key).subarray(0, -1), drops(OP.CHECKSIGVERIFY))],
    ['too few drops', pushDrop(key, [field, field]).subarray(0, -1)],
    ['too many drops', joined(pushDrop(key, [field]), drops(OP.DROP))],
    ['drops and nothing to drop', joined(pushDrop(key, []), drops(OP.DROP))],
    ['a field after the drops', joined(pushDrop(key, [field]), buildScript([field]))],
    ['two keys', joined(pushDrop(key, [field]), pushDrop(key, []))],
    ['a broken push', joined(pushDrop(key, [field]), drops(2, 1))],
    ['a push that is longer than needed', joined(pushDrop(key, []), drops(OP.PUSHDATA1, 1, 99, OP.DROP))],
    ['a number as bytes', joined(pushDrop(key, []), drops(1, 16, OP.DROP))],
    ['minus one as a byte', joined(pushDrop(key, []), drops(1, 0x81, OP.DROP))],
    ['nothing, pushed', joined(pushDrop(key, []), drops(OP.PUSHDATA1, 0, OP.DROP))],
    ['a reserved opcode for a field', joined(pushDrop(key, []), drops(OP.RESERVED, OP.DROP))],
    ['a key of 32 bytes', buildScript([key.publicKey.subarray(1), OP.CHECKSIG])],
    ['a key that is checked and dropped', joined(pushDrop(key, []), drops(OP.DROP, OP.TRUE))]
  ])('is not known: %s', (_, script) => {
    expect(readLock(script)).toBeUndefined()
  })

  test('is found in any script without an error, and is one whom the script names', () => {
    const pieces = [
      payTo(key),
      ordinal,
      pushDrop(key, []),
      pushDrop(key, [field], 'after'),
      buildScript([field])
    ]
    const piece = fc.oneof(
      fc.constantFrom(...pieces),
      fc
        .constantFrom(OP.DROP, OP['2DROP'], OP.RETURN, OP.CHECKSIG, OP.IF, OP.ENDIF, OP.N0)
        .map(op => drops(op)),
      fc.uint8Array({ maxLength: 40 })
    )
    let found = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), parts => {
        const script = joined(...parts)
        const lock = readLock(script)
        if (!lock) return
        const owner = 'key' in lock ? lock.key : lock.keyHash
        expect('key' in lock ? [33, 65] : [20]).toContain(owner.length)
        expect(Buffer.from(script).indexOf(joined(drops(owner.length), owner))).toBeGreaterThanOrEqual(0)
        if (equalBytes(owner, 'key' in lock ? key.publicKey : keyHash)) found++
      }),
      { numRuns: 5000 }
    )
    expect(found).toBeGreaterThan(100)
  })
})

describe('a signature', () => {
  test.each(TEMPLATES)('is a template: $name', form => {
    for (const type of [0x41, 0x42, 0x43, 0xc1, 0xc2, 0xc3]) {
      for (const version of [0, 1, 2]) {
        expect(evaluated(build({ form, version, type }).transactions)).toBe('valid')
      }
    }
  })

  test.each(SCRIPTS)('is not a template: $name', form => {
    expect(evaluated(build({ form, version: 1, type: ALL }).transactions)).toBe('unknown')
  })

  test('by another key is refused', () => {
    for (const form of TEMPLATES) {
      const { transactions } = build({ form, version: 1, type: ALL, signer: makeKey('thief') })
      expect(evaluated(transactions)).toHaveProperty('reason')
    }
  })

  test('of the time before FORKID is for the interpreter', () => {
    for (const type of [0x01, 0x02, 0x03, 0x81]) {
      expect(evaluated(build({ form: P2PKH, version: 1, type }).transactions)).toBe('unknown')
    }
    expect(evaluated(build({ form: P2PKH, version: 2, type: 0x61 }).transactions)).toBe('unknown')
  })

  test('of a type that there is not is refused; CHRONICLE is one before version 2', () => {
    for (const type of [0x40, 0x44, 0x5f, 0x61]) {
      const [parent, child] = build({ form: P2PKH, version: 1, type: ALL }).transactions
      const script = child!.inputs[0]!.script.slice()
      script[script[0]!] = type
      expect(evaluated([parent!, withInputScript(child!, 0, script)])).toEqual({
        reason: `unknown signature hash type ${type}`
      })
    }
  })

  test('may have a high s from version 2 on', () => {
    const verdicts = [1, 2].map(version => {
      const [parent, child] = build({ form: P2PKH, version, type: ALL }).transactions
      const { script } = child!.inputs[0]!
      const high = withHighS(script.subarray(1, 1 + script[0]!))
      return evaluated([
        parent!,
        withInputScript(child!, 0, buildScript([high, script.subarray(2 + script[0]!)]))
      ])
    })
    expect(verdicts).toEqual([{ reason: 'the signature has a high s' }, 'valid'])
  })

  test('that the output contains is for the interpreter, which removes it there', () => {
    // Such an output cannot be signed for; here the source is made up.
    const { transactions } = build({
      form: TEMPLATES.find(({ name }) => name === 'P2PK')!,
      version: 1,
      type: ALL
    })
    const child = transactions[1]!
    const { script } = child.inputs[0]!
    const lock = transactions[0]!.outputs[0]!.script
    const withSignature = joined(lock, script, Uint8Array.of(OP.DROP))
    expect(evaluateFully(new Sighash(child), 0, { satoshis: 1000, script: withSignature })).toBe('unknown')
  })

  test('in any other form than a plain push is never accepted here', () => {
    for (const form of TEMPLATES) {
      const [parent, child] = build({ form, version: 1, type: ALL }).transactions
      const original = child!.inputs[0]!.script
      for (const script of malleations(original)) {
        if (equalBytes(script, original)) continue
        expect(evaluated([parent!, withInputScript(child!, 0, script)])).not.toBe('valid')
      }
    }
  })
})
