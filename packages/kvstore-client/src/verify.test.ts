/** Tokens of ours and of @bsv/sdk are the same tokens, to both. */
import {
  LockingScript,
  PrivateKey,
  ProtoWallet,
  PushDrop,
  Signature,
  Utils,
  type WalletInterface,
  type WalletProtocol
} from '@bsv/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shows } from '../../kvstore/src/shows.testing.ts'
import { lock } from './action.ts'
import { isRefusal, type KvContent, type KvToken, parseToken, writeFields } from './token.ts'
import { verifyScript } from './verify.ts'

const walletOf = (root: number): WalletInterface =>
  new ProtoWallet(new PrivateKey(root)) as unknown as WalletInterface
const controllerOf = (root: number): string => new PrivateKey(root).toPublicKey().toString()
const bytes = (script: LockingScript): Uint8Array => Uint8Array.from(script.toBinary())

/** As `GlobalKVStore` makes one. */
const made = (
  { protocolID, key, value, controller, tags }: KvContent,
  root: number
): Promise<LockingScript> =>
  new PushDrop(walletOf(root)).lock(
    [
      Utils.toArray(JSON.stringify(protocolID), 'utf8'),
      Utils.toArray(key, 'utf8'),
      Utils.toArray(value, 'utf8'),
      Utils.toArray(controller, 'hex'),
      ...(tags.length > 0 ? [Utils.toArray(JSON.stringify(tags), 'utf8')] : [])
    ],
    [...protocolID],
    key,
    'anyone',
    true
  )

/** As `GlobalKVStore` reads one; undefined when it passes it over. */
const readBySdk = async (script: LockingScript): Promise<KvContent | undefined> => {
  try {
    const { fields } = PushDrop.decode(script)
    if (fields.length !== 5 && fields.length !== 6) return undefined
    const signature = fields.pop()!
    const protocolID = JSON.parse(Utils.toUTF8(fields[0]!)) as WalletProtocol
    const [key, value] = [Utils.toUTF8(fields[1]!), Utils.toUTF8(fields[2]!)]
    const controller = Utils.toHex(fields[3]!)
    await new ProtoWallet('anyone').verifySignature({
      data: fields.flat(),
      signature,
      counterparty: controller,
      protocolID,
      keyID: key
    })
    const tags = fields[4] ? (JSON.parse(Utils.toUTF8(fields[4])) as string[]) : []
    return { protocolID, key, value, controller, tags }
  } catch {
    return undefined
  }
}

const contentOf = (token: KvToken): KvContent => {
  const { protocolID, key, value, controller, tags } = token
  return { protocolID, key, value, controller, tags }
}
const verified = (script: Uint8Array): KvContent => {
  const token = verifyScript(script)
  if (isRefusal(token)) throw new Error(token.reason)
  return contentOf(token)
}
const ours = async (content: KvContent, root: number): Promise<Uint8Array> => {
  const { protocolID, key } = content
  const scope = { protocolID: [...protocolID] as WalletProtocol, keyID: key, counterparty: 'anyone' as const }
  return lock(walletOf(root), scope, writeFields(content), undefined)
}

const planes = fc.integer({ min: 0, max: 16 }).chain(plane =>
  fc
    .integer({ min: plane * 0x10000, max: plane * 0x10000 + 0xffff })
    .filter(point => point < 0xd800 || point > 0xdfff)
    .map(point => String.fromCodePoint(point))
)
const text = fc
  .oneof(
    planes,
    fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
    fc.array(planes, { minLength: 1, maxLength: 20 }).map(parts => parts.join(''))
  )
  .filter(each => each !== '\x10' && !each.startsWith('\ufeff'))
const protocol = fc.tuple(
  fc.constantFrom(0 as const, 1 as const, 2 as const),
  fc.stringMatching(/^[a-z0-9]{5,20}( [a-z0-9]{1,10})?$/).filter(name => !name.endsWith(' protocol'))
)
const root = fc.integer({ min: 1, max: 1_000_000 })
const content = fc.record({
  protocolID: protocol,
  key: text,
  value: text,
  tags: fc.array(fc.oneof(text, fc.constant('')), { maxLength: 5 })
})

const RUNS = { numRuns: 40 }

describe('a global token', () => {
  it('§3.2 made by ours is the script that @bsv/sdk makes, over random entries', async () => {
    await fc.assert(
      fc.asyncProperty(content, root, async (each, by) => {
        const entry = { ...each, controller: controllerOf(by) }
        expect(Utils.toHex([...(await ours(entry, by))])).toBe((await made(entry, by)).toHex())
      }),
      RUNS
    )
  })

  it('§3.3 made by ours verifies in @bsv/sdk, and the other way round', async () => {
    await fc.assert(
      fc.asyncProperty(content, root, async (each, by) => {
        const entry = { ...each, controller: controllerOf(by) }
        expect(await readBySdk(LockingScript.fromBinary([...(await ours(entry, by))]))).toEqual(entry)
        expect(verified(bytes(await made(entry, by)))).toEqual(entry)
      }),
      RUNS
    )
  })

  it.each([1, 75, 76, 255, 256, 65_535, 65_536, 100_000])('§3.2 with a value of %i bytes', async length => {
    const entry = {
      protocolID: [1, 'kvstore'] as const,
      key: 'long',
      value: 'v'.repeat(length),
      controller: controllerOf(7),
      tags: []
    }
    const script = await ours(entry, 7)
    expect(verified(script)).toEqual(entry)
    expect(await readBySdk(LockingScript.fromBinary([...script]))).toEqual(entry)
  })

  it('§5 the lock is before the fields, the signature is the last of them, over all that come before', async () => {
    const entry = {
      protocolID: [1, 'kvstore'] as const,
      key: 'k',
      value: 'v',
      controller: controllerOf(3),
      tags: ['a']
    }
    const { fields, lockingPublicKey } = PushDrop.decode(
      LockingScript.fromBinary([...(await ours(entry, 3))])
    )
    expect(
      fields
        .slice(0, -1)
        .map(field => Utils.toUTF8(field))
        .toSpliced(3, 1)
    ).toEqual(['[1,"kvstore"]', 'k', 'v', '["a"]'])
    shows(
      '3.3-1 5-2 5-3',
      lockingPublicKey.verify(fields.slice(0, -1).flat(), Signature.fromDER(fields.at(-1)!))
    ).toBe(true)
  })

  it('§2.2 protocol and tags are JSON, key and value UTF-8, the controller its bytes', async () => {
    const entry = {
      protocolID: [2, 'some protocol of ours'] as const,
      key: 'ключ',
      value: '値 🜚',
      controller: controllerOf(4),
      tags: ['é', '"']
    }
    const { fields } = PushDrop.decode(LockingScript.fromBinary([...(await ours(entry, 4))]))
    const utf8 = (text: string): number[] => [...new TextEncoder().encode(text)]
    shows('A-4', fields.slice(0, -1)).toEqual([
      utf8('[2,"some protocol of ours"]'),
      utf8('ключ'),
      utf8('値 🜚'),
      Utils.toArray(entry.controller, 'hex'),
      utf8('["é","\\""]')
    ])
  })

  it('§3.2 the controller is the identity key, and not the key that locks', async () => {
    const entry = {
      protocolID: [1, 'kvstore'] as const,
      key: 'k',
      value: 'v',
      controller: controllerOf(3),
      tags: []
    }
    const script = await ours(entry, 3)
    const { fields, lockingPublicKey } = PushDrop.decode(LockingScript.fromBinary([...script]))
    const { publicKey } = await walletOf(3).getPublicKey({ identityKey: true })
    shows('3.2-6', Utils.toHex(fields[3]!)).toBe(publicKey)
    expect(lockingPublicKey.toString()).not.toBe(publicKey)
    shows('3.2-7', verified(script).controller).toBe(publicKey)
  })

  it('§3.2 no tags are no field, and not an empty list', async () => {
    const entry = { protocolID: [1, 'kvstore'] as const, key: 'k', value: 'v', controller: controllerOf(3) }
    const fieldsOf = async (tags: string[]): Promise<number> =>
      PushDrop.decode(LockingScript.fromBinary([...(await ours({ ...entry, tags }, 3))])).fields.length
    shows('3.2-4 3.2-5', [await fieldsOf([]), await fieldsOf(['a'])]).toEqual([5, 6])
  })

  it('§A the legacy form without tags and the form with them are both accepted', async () => {
    for (const [tags, fields] of [
      [[], 5],
      [['a', 'b'], 6]
    ] as const) {
      const entry = {
        protocolID: [1, 'kvstore'] as const,
        key: 'k',
        value: 'v',
        controller: controllerOf(3),
        tags
      }
      const script = await made(entry, 3)
      expect(PushDrop.decode(script).fields).toHaveLength(fields)
      shows('3.2-3 6.2-1 A-1', verified(bytes(script))).toEqual(entry)
    }
  })

  describe('with what the PushDrop of @bsv/sdk cannot bring back', () => {
    const entry = {
      protocolID: [1, 'kvstore'] as const,
      key: 'k',
      value: 'v',
      controller: controllerOf(5),
      tags: []
    }
    const refused = (field: string) => expect.objectContaining({ code: 'ERR_KV_ENTRY', details: { field } })

    it.each([
      ['an empty value', { value: '' }, 'value'],
      ['the byte 16 as a value', { value: '\x10' }, 'value'],
      ['a value with a byte order mark in front', { value: '\ufeffv' }, 'value'],
      ['the byte 16 as a key', { key: '\x10' }, 'key'],
      ['a key with a byte order mark in front', { key: '\ufeffk' }, 'key']
    ])('§2.2 %s: ours refuses to write it', async (_, part, field) => {
      expect(await readBySdk(await made({ ...entry, ...part }, 5))).not.toEqual({ ...entry, ...part })
      expect(() => writeFields({ ...entry, ...part })).toThrow(refused(field))
    })

    it('§2.2 half a pair of surrogates: ours refuses to write it', async () => {
      for (const [field, part] of [
        ['value', { value: '\ud800' }],
        ['key', { key: 'k\udc00' }],
        ['tags', { tags: ['\udbff'] }]
      ] as const) {
        expect(() => writeFields({ ...entry, ...part })).toThrow(refused(field))
      }
    })

    it('§2.2 other bytes alone it does bring back, and ours reads and writes them', async () => {
      for (const code of [...Array(18).keys(), 0x4f, 0x50, 0x51, 0x60, 0x7f]) {
        const value = String.fromCharCode(code)
        if (value === '\x10') continue
        const script = await ours({ ...entry, value }, 5)
        expect((await readBySdk(LockingScript.fromBinary([...script])))?.value).toBe(value)
        expect(verified(script).value).toBe(value)
      }
    })

    it('§2.2 an empty value that somebody wrote is read for what it is', async () => {
      expect(verified(bytes(await made({ ...entry, value: '' }, 5))).value).toBe('')
      expect(verified(bytes(await made({ ...entry, value: '\x10' }, 5))).value).toBe('\x10')
    })
  })

  describe('is refused', () => {
    const entry = {
      protocolID: [1, 'kvstore'] as const,
      key: 'k',
      value: 'v',
      controller: controllerOf(9),
      tags: ['t']
    }
    const codeOf = (script: Uint8Array): string => {
      const token = verifyScript(script)
      return isRefusal(token) ? token.code : 'verified'
    }

    it('§3.3 when another signed it', async () => {
      shows('3.3-2', codeOf(bytes(await made(entry, 10)))).toBe('lock')
    })

    it('§3.2 when it is locked by another key, whatever the signature', async () => {
      const [good, foreign] = [
        await made(entry, 9),
        await made({ ...entry, controller: controllerOf(10) }, 10)
      ]
      const script = bytes(good)
      script.set(bytes(foreign).subarray(0, 34))
      shows('3.2-8', codeOf(script)).toBe('lock')
      expect(await readBySdk(LockingScript.fromBinary([...script]))).toEqual(entry)
    })

    it('§3.2 when the controller is no point of the curve', async () => {
      for (const controller of [`02${'ff'.repeat(32)}`, `02${'00'.repeat(31)}05`]) {
        const fields = writeFields({ ...entry, controller })
        const scope = {
          protocolID: [1, 'kvstore'] as WalletProtocol,
          keyID: 'k',
          counterparty: 'anyone' as const
        }
        expect(codeOf(await lock(walletOf(9), scope, fields, undefined))).toBe('controller')
      }
    })

    it('§3.3 when any byte of it is changed', async () => {
      const script = bytes(await made(entry, 9))
      await fc.assert(
        fc.asyncProperty(fc.nat(script.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
          const forged = script.slice()
          forged[at] = forged[at]! ^ by
          shows('3.3-7', codeOf(forged)).not.toBe('verified')
          expect(parseToken(forged)).not.toHaveProperty('others')
        }),
        { numRuns: 300 }
      )
    })
  })
})
