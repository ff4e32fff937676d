/** Entries as people read them: what the token says, where it is, and whether its tuple is ambiguous. */
import type { Outpoint } from '@quoin/keyspace'
import type { KvContent } from '@quoin/kvstore-client/token'
import type { LoadedOutput, OutputStore } from '@quoin/txo'
import { liveUnder } from './find.ts'
import { readVerified } from './verify.ts'

export interface KvEntry extends KvContent {
  readonly outpoint: Outpoint
  /** `null`: not mined. */
  readonly height: number | null
  readonly score: number
  /** How many live tokens its tuple has. */
  readonly live: number
}

/** One answer for each outpoint; undefined for one that is not known, or no entry. */
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
  const { protocolID, key, value, controller, tags } = token
  const live = await liveUnder(outputs, events)
  return {
    outpoint,
    protocolID,
    key,
    value,
    controller,
    tags,
    height: block?.height ?? null,
    score,
    live
  }
}
