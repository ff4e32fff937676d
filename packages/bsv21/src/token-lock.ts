/**
 * The lock of a token output, which determines its holder. Event types have the names of locks. A listed output belongs to
 * its seller; an output under a contract has no holder.
 */
import type { TokenId } from '@quoin/primitives'
import { decodeCosign, decodeLtm, decodeOrdLock, decodeOwner, decodePow20, ScriptView } from '@quoin/txo'
import { bsv21Events } from './keys.ts'

/** Locks with an address. */
export const HOLDER_LOCKS = ['p2pkh', 'cos', 'list'] as const
export type HolderLock = (typeof HOLDER_LOCKS)[number]

export type TokenLock =
  | { readonly lock: HolderLock; readonly holder: string }
  | { readonly lock: 'ltm' | 'pow20' | 'other'; readonly holder: undefined }

/** The first lock that matches. */
export const readTokenLock = (script: Uint8Array): TokenLock => {
  const view = new ScriptView(script)
  const owner = decodeOwner(view)
  if (owner !== undefined) return { lock: 'p2pkh', holder: owner }
  const cosign = decodeCosign(view)
  if (cosign) return { lock: 'cos', holder: cosign.address }
  if (decodeLtm(view)) return { lock: 'ltm', holder: undefined }
  if (decodePow20(view)) return { lock: 'pow20', holder: undefined }
  const listing = decodeOrdLock(view)
  if (listing) return { lock: 'list', holder: listing.seller }
  return { lock: 'other', holder: undefined }
}

const { p2pkh, cos, ltm, pow20, list, listBy } = bsv21Events.types

/** The events of a token output under a lock. */
export const lockEvents = ({ lock, holder }: TokenLock, token: TokenId): string[] => {
  switch (lock) {
    case 'p2pkh':
      return [p2pkh.text(holder, token)]
    case 'cos':
      return [cos.text(holder, token)]
    case 'list':
      return [listBy.text(holder, token), list.text(token)]
    case 'ltm':
      return [ltm.text(token)]
    case 'pow20':
      return [pow20.text(token)]
    case 'other':
      return []
  }
}

/** The lock of an output, from its events instead of its script. */
export const lockOfEvents = (events: readonly string[], token: TokenId): TokenLock => {
  for (const event of events) {
    const [lock, holder, id] = event.split(':') as [string, string, string | undefined]
    if (id === token && HOLDER_LOCKS.includes(lock as HolderLock)) return { lock: lock as HolderLock, holder }
    if (holder === token && (lock === 'ltm' || lock === 'pow20')) return { lock, holder: undefined }
  }
  return { lock: 'other', holder: undefined }
}
