/**
 * `ordlock`: a single satoshi for sale. A buyer spends it by paying the seller, and the seller can cancel the sale:
 *
 *     ‹prefix, 102 bytes› ‹hash of the seller's key› ‹payout› ‹suffix, 702 bytes›
 *
 * The payout is the output that the buyer has to make: its satoshis, which are the price, and its script.
 */
import { MAX_SATOSHIS } from '@quoin/chain'
import { QuoinError, Reader } from '@quoin/primitives'
import { addressAt } from './addresses.ts'
import { scriptEvents } from './events.ts'
import { SCRYPT_PREFIX } from './lock.ts'
import { endsAt } from './locking.ts'
import type { ScriptParser } from './parser.ts'
import { FixedPart, readContract } from './template.ts'
import { hexOf } from './text.ts'
import type { ScriptView } from './view.ts'

export interface OrdLock {
  /** The seller's address. */
  readonly seller: string
  /** Satoshis. */
  readonly price: number
  /** The serialized output that pays the price in the transaction of the buyer. */
  readonly payout: Uint8Array
}

const SUFFIX = new FixedPart({
  begins: '61517954',
  length: 702,
  sha256: 'a208540ae84c8c389126731c9e69958a778e0bde2c2b4cbb4c1e3fe11973a1ad'
})

/** A longer payout is left out of the data of the output. */
const MAX_PAYOUT = 1024

export const decodeOrdLock = (script: Uint8Array | ScriptView): OrdLock | undefined => {
  const contract = readContract(script, SCRYPT_PREFIX, 2, SUFFIX)
  if (!contract || !endsAt(contract.lock, contract.end)) return undefined
  const [seller, payout] = contract.values as [Uint8Array, Uint8Array]
  const price = priceOf(payout)
  return seller.length === 20 && price !== undefined
    ? { seller: addressAt(seller, 0), price, payout }
    : undefined
}

/** The satoshis of a payout; undefined unless it is a well-formed output. */
const priceOf = (payout: Uint8Array): number | undefined => {
  const reader = new Reader(payout, 'ERR_TX_FORMAT')
  try {
    const satoshis = reader.u53()
    reader.skip(reader.varint())
    reader.end()
    return satoshis <= MAX_SATOSHIS ? satoshis : undefined
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}

export const ordLockParser: ScriptParser = {
  tag: 'ordlock',
  about: 'Single satoshis for sale.',
  parse(view, { satoshis }) {
    const listing = satoshis === 1 ? decodeOrdLock(view) : undefined
    if (!listing) return undefined
    const { seller, price, payout } = listing
    return {
      data: { seller, price, ...(payout.length <= MAX_PAYOUT && { payout: hexOf(payout) }) },
      events: [scriptEvents.types.listing.text()],
      owners: [seller]
    }
  }
}
