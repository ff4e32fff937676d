/** Entries as the HTTP routes show them: content, outpoint, height, and the number of live tokens of the tuple. */

import type { KvContent } from '@quoin/kvstore-client/token'
import type { Outpoint } from '@quoin/primitives'
import type { LoadedOutput, OutputStore } from '@quoin/txo'
import { countLiveTokens } from './find.ts'
import { readVerified } from './verify.ts'

export interface KvEntry extends KvContent {
  readonly outpoint: Outpoint
  /** `null`: not mined. */
  readonly height: number | null
  readonly score: number
  /** Number of live tokens of the tuple. */
  readonly live: number
}

/** The entry at each outpoint; undefined for an unknown outpoint and for an output that is not a token. */
export const loadEntries = async (
  outputs: OutputStore,
  outpoints: readonly Outpoint[]
): Promise<(KvEntry | undefined)[]> => {
  const loaded = await outputs.loadOutputs(outpoints, {
    includeOutput: true,
    includeBlock: true,
    includeEvents: true
  })
  return Promise.all(loaded.map(each => (each ? entryOf(outputs, each) : undefined)))
}

const entryOf = async (
  outputs: OutputStore,
  { outpoint, score, output, block, events = [] }: LoadedOutput
): Promise<KvEntry | undefined> => {
  const token = output && readVerified(output.script)
  if (!token) return undefined
  const { protocolID, key, value, valueBytes, controller, tags } = token
  const live = await countLiveTokens(outputs, events)
  return {
    outpoint,
    protocolID,
    key,
    value,
    ...(valueBytes && { valueBytes }),
    controller,
    tags,
    height: block?.height ?? null,
    score,
    live
  }
}
