import { LockingScript, ProtoWallet, type PubKeyHex, PushDrop } from '@bsv/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Advertisement, isAdvertisableName, type Protocol, parseAdvertisement } from './advertisement.ts'
import { Host } from './host.testing.ts'
import { isAdvertisable } from './uri.ts'

const host = new Host('one')

describe('an advertisement', () => {
  it.each([
    ['SHIP', 'tm_kvstore'],
    ['SLAP', 'ls_kvstore']
  ] as const)('%s of a wallet of the SDK is read', async (protocol, name) => {
    expect(parseAdvertisement(await host.token(protocol, name), protocol)).toEqual({
      protocol,
      identityKey: host.identityKey,
      domain: 'https://one.example.com',
      name
    } satisfies Advertisement)
  })

  const other = new Host('two')
  const bytes = (text: string): Uint8Array => Buffer.from(text)
  const key = Buffer.from(host.identityKey, 'hex')
  const url = bytes('https://one.example.com')
  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    ['of the other protocol', () => host.token('SLAP', 'ls_kvstore'), /first field is not SHIP/],
    ['for a lookup service', () => host.token('SHIP', 'ls_kvstore'), /the name is not tm_/],
    ['with digits in the name', () => host.token('SHIP', 'tm_bsv21'), /BRC-87/],
    ['for localhost', () => new Host('x', 'https://localhost:8080').token('SHIP', 'tm_a'), /BRC-101/],
    ['for plain http', () => new Host('x', 'http://one.example.com').token('SHIP', 'tm_a'), /BRC-101/],
    ['locked for its own wallet', () => host.token('SHIP', 'tm_a', { counterparty: 'self' }), /the lock/],
    [
      'of another protocol name',
      () => host.token('SHIP', 'tm_a', { protocolName: 'something else' }),
      /the lock/
    ],
    [
      'in the name of another host',
      () =>
        host.token('SHIP', 'tm_a', {
          fields: [bytes('SHIP'), Buffer.from(other.identityKey, 'hex'), url, bytes('tm_a')]
        }),
      /the lock/
    ],
    [
      'with three fields',
      () => host.token('SHIP', 'tm_a', { fields: [bytes('SHIP'), key, url] }),
      /4 fields; expected 5/
    ],
    [
      'with a key off the curve',
      () =>
        host.token('SHIP', 'tm_a', {
          fields: [bytes('SHIP'), new Uint8Array(33).fill(5), url, bytes('tm_a')]
        }),
      /not a compressed public key/
    ],
    [
      'with a URI that is not UTF-8',
      () => host.token('SHIP', 'tm_a', { fields: [bytes('SHIP'), key, Uint8Array.of(0xff), bytes('tm_a')] }),
      /BRC-101/
    ],
    ['that pays somebody', async () => Uint8Array.of(0x76, 0xa9), /not PushDrop/]
  ])('%s is refused with the reason', async (_, token, reason) => {
    const parsed = parseAdvertisement(await token(), 'SHIP')
    expect(parsed).toMatchObject({ reason: expect.stringMatching(reason) })
  })

  /** The rule of the reference topic manager, by the wallet of the SDK. */
  const isValidForSdk = async (script: Uint8Array, protocol: Protocol): Promise<boolean> => {
    try {
      const { fields, lockingPublicKey } = PushDrop.decode(LockingScript.fromBinary([...script]))
      if (fields.length !== 5 || Buffer.from(fields[0]!).toString() !== protocol) return false
      const [, identity, domain, name, signature] = fields as [
        number[],
        number[],
        number[],
        number[],
        number[]
      ]
      const anyone = new ProtoWallet('anyone')
      const scope = {
        counterparty: Buffer.from(identity).toString('hex') as PubKeyHex,
        protocolID: [2, 'service host interconnect'] as [2, string],
        keyID: '1'
      }
      const { publicKey } = await anyone.getPublicKey(scope)
      if (publicKey !== lockingPublicKey.toString()) return false
      if (
        !isAdvertisable(Buffer.from(domain).toString()) ||
        !/^tm_[a-z]+(_[a-z]+)*$/.test(Buffer.from(name).toString())
      )
        return false
      const { valid } = await anyone.verifySignature({ ...scope, data: fields.slice(0, 4).flat(), signature })
      return valid
    } catch {
      return false
    }
  }

  /** The SDK does not look at the opcodes that drop five fields. */
  const DROPS = 3

  it('with a byte of its lock or fields changed is valid for Quoin exactly when it is for the SDK', async () => {
    const token = await host.token('SHIP', 'tm_kvstore')
    await fc.assert(
      fc.asyncProperty(
        fc.nat(token.length - 1 - DROPS),
        fc.integer({ min: 0, max: 255 }),
        async (at, value) => {
          const changed = Uint8Array.from(token)
          changed[at] = value
          expect('name' in parseAdvertisement(changed, 'SHIP')).toBe(await isValidForSdk(changed, 'SHIP'))
        }
      ),
      { numRuns: 300 }
    )
  })
})

describe('a URI', () => {
  it.each([
    ['https://example.com', true],
    ['https://example.com/', true],
    ['https://example.com:8443', true],
    ['https://10.0.0.7', true],
    ['https+bsvauth://example.com', true],
    ['https+bsvauth+smf://example.com', true],
    ['https+bsvauth+scrypt-offchain://example.com', true],
    ['https+rtt://example.com', true],
    ['wss://example.com/path', true],
    ['js8c+bsvauth+smf:?lat=40&long=130&freq=40meters&radius=1000miles', true],
    ['https://example.com/path', false],
    ['https://example.com?x=1', false],
    ['https://LOCALHOST', false],
    ['wss://localhost', false],
    ['http://example.com', false],
    ['https://', false],
    [' https://example.com', false],
    ['js8c+bsvauth+smf:?lat=91&long=130&freq=40&radius=10', false],
    ['js8c+bsvauth+smf:?lat=40&long=130&freq=0&radius=10', false],
    ['js8c+bsvauth+smf:?long=130&freq=1&radius=10', false],
    [`https://${'a'.repeat(1000)}.com`, false],
    ['', false]
  ])('%s: %s', (uri, expected) => expect(isAdvertisable(uri)).toBe(expected))
})

describe('a name', () => {
  it.each([
    ['tm_a', true],
    ['ls_some_service', true],
    [`tm_${'a'.repeat(47)}`, true],
    [`tm_${'a'.repeat(48)}`, false],
    ['tm_bsv21', false],
    ['tm__a', false],
    ['tm_a_', false],
    ['tm_', false],
    ['TM_A', false],
    ['kvstore', false]
  ])('%s: %s', (name, expected) => expect(isAdvertisableName(name)).toBe(expected))
})
