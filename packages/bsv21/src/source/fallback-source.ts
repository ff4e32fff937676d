/** Several places for single transactions as one: asked one after the other, until one has it. */
import { QuoinError } from '@quoin/primitives'
import type { TransactionSource } from './source.ts'

/** Undefined when there is none. One that fails is passed over; if none has it, the failure is told, for it may have. */
export const fallbackSource = (places: readonly TransactionSource[]): TransactionSource | undefined => {
  if (places.length < 2) return places[0]
  return {
    name: places.map(({ name }) => name).join(', '),
    async transaction(txid, options) {
      let failed: QuoinError | undefined
      for (const place of places) {
        try {
          const found = await place.transaction(txid, options)
          if (found) return found
        } catch (error) {
          if (!(error instanceof QuoinError)) throw error
          failed ??= error
        }
      }
      if (failed) throw failed
      return undefined
    }
  }
}
