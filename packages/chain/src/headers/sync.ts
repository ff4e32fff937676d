/**
 * Synchronises headers of a store with a source. The source is asked for the header at our tip, then further down,
 * until a common header is found; later headers are added.
 */

import { equalBytes, hasCode, QuoinError } from '@quoin/primitives'
import { type ChainHeader, HEADER_LENGTH, readHeaders } from './header.ts'
import type { HeaderStore } from './header-store.ts'
import type { HeaderSource, SourceOptions } from './sources.ts'

/** Headers per request, as between nodes. */
const PAGE = 2000
/** Times that the source may change its branch during a sync. */
const MAX_RESTARTS = 5

export interface SyncProgress {
  /** Height up to which the source's chain is stored. */
  readonly height: number
  /** Height of the source's tip. */
  readonly target: number
}

export interface SyncOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

export interface HeaderSyncResult {
  /** Tip of the store; differs from the source's if that has less work. */
  readonly tip: ChainHeader
  /** Headers that the store did not have. */
  readonly added: number
  /** Blocks that left the chain of most work. */
  readonly removed: number
}

/**
 * Adds headers of a source to the store, up to the source's tip.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { openStore } from '@quoin/store'
 * const chain = new DevChain()
 * chain.mine()
 * const headers = await HeaderStore.open(await openStore('memory:'), { network: 'regtest' })
 * await syncHeaders(headers, chain)
 * (await headers.tip()).height // 1
 */
export const syncHeaders = async (
  store: HeaderStore,
  source: HeaderSource,
  options: SyncOptions = {}
): Promise<HeaderSyncResult> => {
  const counts = { added: 0, removed: 0 }
  for (let restarts = 0; ; restarts++) {
    try {
      await follow(store, source, options, counts)
      return { tip: await store.tip(), ...counts }
    } catch (error) {
      // The source changed its branch between two pages.
      const moved = hasCode(error, 'ERR_HEADER_UNKNOWN')
      if (!moved || restarts === MAX_RESTARTS) throw error
    }
  }
}

const follow = async (
  store: HeaderStore,
  source: HeaderSource,
  { signal, onProgress }: SyncOptions,
  counts: { added: number; removed: number }
): Promise<void> => {
  const asking: SourceOptions = signal ? { signal } : {}
  const target = await source.tip(asking)
  if (await store.headerOf(target.hash)) return
  let height = await commonHeight(store, source, target.height, asking)
  while (height < target.height) {
    signal?.throwIfAborted()
    const bytes = await source.headers(height + 1, Math.min(PAGE, target.height - height), asking)
    if (bytes.length === 0) return
    const { added, reorg } = await store.add(bytes)
    counts.added += added.length
    counts.removed += reorg?.removed.length ?? 0
    height += bytes.length / HEADER_LENGTH
    onProgress?.({ height, target: target.height })
  }
}

/** Highest of the given heights at which the source has our header. */
const commonHeight = async (
  store: HeaderStore,
  source: HeaderSource,
  highest: number,
  asking: SourceOptions
): Promise<number> => {
  let height = Math.min(highest, await store.currentHeight())
  for (let step = 1; height >= store.start; step *= 2) {
    asking.signal?.throwIfAborted()
    const [theirs] = readHeaders(await source.headers(height, 1, asking))
    const ours = await store.header(height)
    if (theirs && ours && equalBytes(theirs.hash, ours.header.hash)) return height
    if (height === store.start) break
    height = Math.max(store.start, height - step)
  }
  throw new QuoinError(
    'ERR_CHAIN_SOURCE',
    `${source.name} shares no header with the store: it follows another chain`,
    {
      source: source.name,
      start: store.start
    }
  )
}
