/** Several transaction sources as one, asked in order until one has the transaction. */
import { QuoinError } from '@quoin/primitives'
import type { TransactionSource } from './source.ts'

/** Undefined without sources. A source that fails is skipped; its error is thrown if no other has the transaction. */
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
