/**
 * Advertisements of SHIP (BRC-23) and SLAP (BRC-25) as tokens (BRC-88): a PushDrop output with the protocol, the identity
 * key of the host, its URI, the name of a topic or lookup service, and a signature. Its lock and its signature are of the
 * key that BRC-42 derives from the identity key for counterparty "anyone".
 */
import { deriveAnyoneKey, readSignature, sha256, verifySignature } from '@quoin/chain'
import { equalBytes, toHex } from '@quoin/primitives'
import { decodePushDrop } from '@quoin/txo'
import { isAdvertisable } from './uri.ts'

export const PROTOCOLS = ['SHIP', 'SLAP'] as const
/** SHIP advertises topics, SLAP lookup services. */
export type Protocol = (typeof PROTOCOLS)[number]

export interface Advertisement {
  readonly protocol: Protocol
  /** A compressed public key in hex. */
  readonly identityKey: string
  /** The URI of the host. */
  readonly domain: string
  /** The topic or the lookup service. */
  readonly name: string
}

export interface Refusal {
  readonly reason: string
}

const INVOICES: Readonly<Record<Protocol, string>> = {
  SHIP: '2-service host interconnect-1',
  SLAP: '2-service lookup availability-1'
}
const PREFIXES: Readonly<Record<Protocol, string>> = { SHIP: 'tm_', SLAP: 'ls_' }
const FIELDS = 5
const KEY_BYTES = 33
/** An all-lower-case name of words (BRC-87). */
const NAME = /^(?=.{1,50}$)(?:tm_|ls_)[a-z]+(?:_[a-z]+)*$/
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Whether a topic or lookup service can be advertised under its name (BRC-87): lower-case letters and single underscores.
 *
 * @example
 * isAdvertisableName('tm_kvstore') // true
 * isAdvertisableName('tm_bsv21') // false
 */
export const isAdvertisableName = (name: string): boolean => NAME.test(name)

/**
 * Why a name cannot be advertised; undefined of one that can.
 *
 * @example
 * nameProblem('tm_bsv21') // 'it has digits'
 */
export const nameProblem = (name: string): string | undefined => {
  if (isAdvertisableName(name)) return undefined
  if (!/^(tm|ls)_/.test(name)) return 'it does not begin with tm_ or ls_'
  if (name.length > 50) return 'it has more than 50 characters'
  if (/[0-9]/.test(name)) return 'it has digits'
  if (/[A-Z]/.test(name)) return 'it has capitals'
  return 'it is not words of lower-case letters with single underscores between them'
}

/** The ways of an operator with a name that cannot be advertised. */
export const REFUSED_NAME_ADVICE =
  'Give a plug-in another name ([name=]module); or tell clients the address: hostOverrides of LookupResolver, peers of nodes.'

/** Parses and verifies a locking script as an advertisement of a protocol. */
export const parseAdvertisement = (script: Uint8Array, protocol: Protocol): Advertisement | Refusal => {
  const decoded = decodePushDrop(script)
  if (decoded?.position !== 'before')
    return { reason: 'the script is not PushDrop with the lock first (BRC-48)' }
  const { key, fields } = decoded
  if (fields.length !== FIELDS) return { reason: `the token has ${fields.length} fields; expected ${FIELDS}` }
  const [kind, identity, uri, service, signature] = fields as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array
  ]
  if (textOf(kind) !== protocol) return { reason: `the first field is not ${protocol}` }
  const domain = textOf(uri)
  if (domain === undefined || !isAdvertisable(domain))
    return { reason: 'the URI cannot be advertised (BRC-101)' }
  const name = textOf(service)
  if (name === undefined || !isAdvertisableName(name) || !name.startsWith(PREFIXES[protocol]))
    return {
      reason: `the name is not ${PREFIXES[protocol]} and lower-case words with underscores between them (BRC-87)`
    }
  const derived = identity.length === KEY_BYTES ? deriveAnyoneKey(identity, INVOICES[protocol]) : undefined
  if (!derived) return { reason: 'the identity key is not a compressed public key' }
  if (!equalBytes(compressed(derived), key))
    return { reason: 'the lock is not of the key that the identity key derives' }
  if (!isSigned(fields.slice(0, FIELDS - 1), signature, derived))
    return { reason: 'the signature does not hold' }
  return { protocol, identityKey: toHex(identity), domain, name }
}

/** Reads an admitted advertisement again, without verification. */
export const readAdvertisement = (script: Uint8Array, protocol: Protocol): Advertisement | undefined => {
  const fields = decodePushDrop(script)?.fields
  const [, identity, uri, service] = fields ?? []
  const [domain, name] = [uri && textOf(uri), service && textOf(service)]
  if (!identity || domain === undefined || name === undefined) return undefined
  return { protocol, identityKey: toHex(identity), domain, name }
}

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A point of 65 bytes in 33. */
const compressed = (point: Uint8Array): Uint8Array => {
  const bytes = point.slice(0, KEY_BYTES)
  bytes[0] = 2 + (point[point.length - 1]! & 1)
  return bytes
}

const isSigned = (fields: readonly Uint8Array[], der: Uint8Array, key: Uint8Array): boolean => {
  // Signatures in scripts end with a sighash byte, which `readSignature` expects.
  const signature = readSignature(Uint8Array.from([...der, 0]))
  return signature !== undefined && verifySignature(signature, sha256(Buffer.concat(fields)), key)
}
