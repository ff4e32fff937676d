/**
 * Keys that BRC-42 derives for counterparty "anyone". The private key of "anyone" is 1, so the shared secret is the public
 * key itself: the cost is one addition on the curve.
 */
import { createHmac } from 'node:crypto'
import { tweakPublicKey } from './secp256k1.ts'

/**
 * The uncompressed key for an invoice number, `{level}-{protocol}-{key ID}`; undefined for a key off the curve.
 *
 * @example
 * const generator = Buffer.from('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex')
 * deriveAnyoneKey(generator, '2-service host interconnect-1')!.length // 65
 */
export const deriveAnyoneKey = (publicKey: Uint8Array, invoice: string): Uint8Array | undefined =>
  tweakPublicKey(publicKey, createHmac('sha256', publicKey).update(invoice).digest())
