/**
 * Sources of headers, merkle roots and proofs. None is trusted: a `HeaderStore` checks headers, and proofs are checked
 * against it. Nothing connects before a call, and there is no default address (D15).
 */

import { formatTxid, QuoinError, reasonOf, type Txid } from '@quoin/primitives'
import { Bump } from '../merkle/bump.ts'
import type { RootTracker } from '../verify/verify.ts'
import { HttpService, type HttpServiceOptions } from './http-service.ts'

export interface SourceTip {
  readonly height: number
  /** Hash order. */
  readonly hash: Uint8Array
}

export interface SourceOptions {
  readonly signal?: AbortSignal
}

/** A service with headers of the chain of most work, as it sees it. */
export interface HeaderSource {
  readonly name: string
  tip(options?: SourceOptions): Promise<SourceTip>
  /** Headers of 80 bytes each: `count` from height `from`, or fewer at the tip. */
  headers(from: number, count: number, options?: SourceOptions): Promise<Uint8Array>
}

/** A service that knows merkle roots but maybe no headers, like the SDK's `ChainTracker`. */
export interface RootSource extends RootTracker {
  readonly name: string
}

export type ProofAnswer =
  | { readonly status: 'mined'; readonly bump: Bump }
  | { readonly status: 'unmined' }
  | { readonly status: 'unknown' }

/** A service with merkle proofs of transactions. */
export interface ProofSource {
  readonly name: string
  proof(txid: Txid, options?: SourceOptions): Promise<ProofAnswer>
}

/** Wraps an SDK `ChainTracker`: failures and malformed answers become errors with a code. */
export const sdkTracker = (tracker: RootTracker, name = 'chain tracker'): RootSource => {
  const failure = (reason: string, cause?: unknown): QuoinError =>
    new QuoinError('ERR_CHAIN_SOURCE', `${name} ${reason}`, { source: name, reason, cause })
  const asked = async <T>(answer: () => Promise<T>, isGood: (value: T) => boolean): Promise<T> => {
    let value: T
    try {
      value = await answer()
    } catch (error) {
      throw failure(`failed: ${reasonOf(error)}`, error)
    }
    if (isGood(value)) return value
    throw failure('answered with an invalid value')
  }
  return {
    name,
    isValidRootForHeight: (root, height) =>
      asked(
        () => tracker.isValidRootForHeight(root, height),
        value => typeof value === 'boolean'
      ),
    currentHeight: () => asked(() => tracker.currentHeight(), Number.isSafeInteger)
  }
}

/**
 * Proofs of a 1Sat stack: `GET {url}/beef/{txid}/proof` answers with a BUMP. 404 on the proof but 200 on `…/tx`:
 * unmined. 404 on both: unknown, to be rolled back.
 */
export const proofService = (url: string, options?: HttpServiceOptions): ProofSource => {
  const service = new HttpService(url, options)
  return {
    name: service.name,
    async proof(txid, { signal } = {}) {
      const path = `/beef/${formatTxid(txid)}/proof`
      const answer = await service.ask(path, { signal }, [404])
      if (answer.status === 404) {
        const { status } = await service.ask(`/beef/${formatTxid(txid)}/tx`, { signal }, [404])
        return { status: status === 404 ? 'unknown' : 'unmined' }
      }
      const bump = parsed(answer.bytes)
      if (!bump?.proves(txid))
        throw service.failure(path, 'answered with an invalid proof of the transaction')
      return { status: 'mined', bump }
    }
  }
}

const parsed = (bytes: Uint8Array): Bump | undefined => {
  try {
    return Bump.parse(bytes)
  } catch {
    // The caller reports the txid and the service.
    return undefined
  }
}
