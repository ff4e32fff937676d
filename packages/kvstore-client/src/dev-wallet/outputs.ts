/** The outputs that a development wallet keeps in baskets, in the order of their creation. */
import type { ListOutputsArgs, WalletOutput } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'

export interface BasketOutput {
  readonly outpoint: string
  readonly satoshis: number
  readonly script: string
  readonly basket: string
  readonly tags: readonly string[]
  readonly customInstructions?: string
}

/** The content of a development wallet, as it is stored. */
export interface DevWalletState {
  /** Root key in hex. */
  readonly key: string
  /** The first block of the chain that has the outputs, in hex. */
  readonly chain?: string
  readonly outputs: readonly BasketOutput[]
}

/** Wallets compare baskets and tags without case and outer spaces. */
export const normalize = (name: string): string => name.trim().toLowerCase()

const DEFAULT_LIMIT = 10

/** The page of outputs that a query selects, and the number of all. */
export const selectOutputs = (
  all: readonly BasketOutput[],
  { basket, tags = [], tagQueryMode = 'any', limit = DEFAULT_LIMIT, offset = 0 }: ListOutputsArgs
): { readonly page: readonly BasketOutput[]; readonly total: number } => {
  const wanted = tags.map(normalize)
  const selected = all.filter(output => {
    if (output.basket !== normalize(basket)) return false
    const has = (tag: string): boolean => output.tags.includes(tag)
    return wanted.length === 0 || (tagQueryMode === 'all' ? wanted.every(has) : wanted.some(has))
  })
  return { page: selected.slice(offset, offset + limit), total: selected.length }
}

export const walletOutput = (
  { outpoint, satoshis, script, tags, customInstructions }: BasketOutput,
  { include, includeTags, includeCustomInstructions }: ListOutputsArgs
): WalletOutput => ({
  outpoint,
  satoshis,
  spendable: true,
  ...(include === 'locking scripts' && { lockingScript: script }),
  ...(includeTags && { tags: [...tags] }),
  ...(includeCustomInstructions && customInstructions !== undefined && { customInstructions })
})

/** Parses a stored state. Throws `ERR_KV_WALLET` for anything else. */
export const readState = (text: string): DevWalletState => {
  let state: Partial<DevWalletState> | null
  try {
    state = JSON.parse(text)
  } catch (cause) {
    throw stateError('it is not JSON', cause)
  }
  const { key, chain, outputs } = state ?? {}
  if (typeof key !== 'string' || !/^[0-9a-f]{64}$/.test(key))
    throw stateError('it has no key of 32 bytes in hex')
  if (!Array.isArray(outputs)) throw stateError('it has no list of outputs')
  return { key, outputs, ...(typeof chain === 'string' && { chain }) }
}

const stateError = (reason: string, cause?: unknown): QuoinError =>
  new QuoinError('ERR_KV_WALLET', `this is not the file of a development wallet: ${reason}`, { cause })
