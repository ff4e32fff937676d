import { type Txid, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TxidIndex } from './txid-index.ts'

/** Many of them alike, and many twice. */
const txids = fc
  .array(fc.uint8Array({ minLength: 2, maxLength: 2 }), { maxLength: 30 })
  .map(ends => ends.map(end => Uint8Array.of(end[0]! % 3, ...new Uint8Array(30), end[1]! % 7) as Txid))

describe('places', () => {
  it('are those of a list that is looked through, be it short or long', () => {
    fc.assert(
      fc.property(txids, txids, (some, others) => {
        const names = some.map(toHex)
        const places = new TxidIndex(some)
        for (const txid of [...some, ...others]) {
          const place = names.indexOf(toHex(txid))
          expect(places.of(txid.slice() as Txid)).toBe(place === -1 ? undefined : place)
        }
      })
    )
  })
})
