/**
 * The identity of an entry (BRC-35 §1): its protocol, key and controller. Wallets accept the name of a protocol in any case
 * and with spaces around it, and derive the same keys as for its lower-case form (BRC-43). That form is the identity of a
 * protocol, and the only one that our clients emit.
 */

export interface KvTuple {
  readonly protocolID: ProtocolID
  readonly key: string
  /** In lower-case hex. */
  readonly controller: string
}

/** Security level and name in canonical form. */
export type ProtocolID = readonly [level: 0 | 1 | 2, name: string]

export const PROTOCOL_RULE =
  'protocolID must be a level from 0 to 2 and a name that wallets accept, for example [1, "kvstore"]'

/** Whether a value is a protocol in canonical form. */
export const isProtocolID = (value: unknown): value is ProtocolID => {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [level, name]: unknown[] = value
  if (level !== 0 && level !== 1 && level !== 2) return false
  if (typeof name !== 'string' || !/^[a-z0-9]+( [a-z0-9]+)*$/.test(name)) return false
  // The protocol of a specific linkage revelation contains the name of another protocol.
  const longest = name.startsWith('specific linkage revelation ') ? 430 : 400
  return name.length >= 5 && name.length <= longest && !name.endsWith(' protocol')
}

/**
 * The canonical form of a protocol that wallets accept; undefined for any other value.
 *
 * @example
 * import { normalizeProtocol } from '@quoin/kvstore-client/token'
 * normalizeProtocol([1, ' My Notes']) // [ 1, 'my notes' ]
 */
export const normalizeProtocol = (value: unknown): ProtocolID | undefined => {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[1] !== 'string') return undefined
  // JSON has a negative zero, of which wallets derive the keys of level 0.
  const canonical = [Object.is(value[0], -0) ? 0 : value[0], value[1].toLowerCase().trim()]
  return isProtocolID(canonical) ? canonical : undefined
}

/** The canonical JSON of a protocol. */
export const protocolText = ([level, name]: ProtocolID): string => JSON.stringify([level, name])

/** Map key of a tuple. It is unambiguous: a controller has a fixed length, and the JSON of a protocol is self-delimiting. */
export const tupleText = ({ controller, protocolID, key }: KvTuple): string =>
  `${controller}${protocolText(protocolID)}${key}`

/** The limit of key IDs in wallets, in UTF-16 units. */
export const MAX_KEY_LENGTH = 800

/** A requirement on the controller, as messages name it. */
export const CONTROLLER_RULE = 'controller must be a compressed public key in lower-case hex'

export const isController = (value: unknown): value is string =>
  typeof value === 'string' && /^0[23][0-9a-f]{64}$/.test(value)
