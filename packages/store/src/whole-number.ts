/** Options of a call, which are checked before an engine is asked for anything. */
import { QuoinError } from '@quoin/primitives'

export const wholeNumber = (name: string, value: number, least: number): number => {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new QuoinError('ERR_STORE_OPTION', `${name} is a whole number from ${least}, not ${value}`, {
      name
    })
  }
  return value
}
