/** The questions about outputs, answered once for every API that has routes for them. */
import { parseOutpoint, QuoinError, type Topic, type Txid } from '@quoin/primitives'
import type { LoadedOutput, LoadOptions, OutputSearch, OutputStore } from '@quoin/txo'

/** How an API spells outputs. */
export interface OutputForm<Fields, Json> {
  /** The fields that a request names. */
  readonly optionsOf: (fields: Fields) => LoadOptions
  readonly describe: (output: LoadedOutput & { readonly key?: string }, options: LoadOptions) => Json
}

export const outputHandlers = <Fields, Json>(
  outputs: OutputStore,
  { optionsOf, describe }: OutputForm<Fields, Json>
) => ({
  output: async (outpoint: string, fields: Fields): Promise<Json> => {
    const options = optionsOf(fields)
    const found = await outputs.loadOutput(parseOutpoint(outpoint), options)
    if (!found) throw new QuoinError('ERR_NOT_FOUND', `output ${outpoint} is not known`)
    return describe(found, options)
  },

  /** Outputs in the order of their outpoints; null for an unknown one. */
  outputs: async (
    outpoints: Parameters<OutputStore['loadOutputs']>[0],
    fields: Fields
  ): Promise<(Json | null)[]> => {
    const options = optionsOf(fields)
    return (await outputs.loadOutputs(outpoints, options)).map(each => each && describe(each, options))
  },

  /** The outputs of a transaction, in order; with a topic, the ones that it admitted. */
  ofTransaction: async (txid: Txid, fields: Fields, topic?: Topic): Promise<Json[]> => {
    const options = optionsOf(fields)
    const found = topic
      ? await outputs.loadOutputsByTxidForTopic(txid, topic, options)
      : await outputs.loadOutputsByTxid(txid, options)
    return found.map(each => describe(each, options))
  },

  search: async (
    search: Omit<OutputSearch, keyof LoadOptions>,
    fields: Fields
  ): Promise<{ readonly outputs: Json[]; readonly cursor: string | null }> => {
    const options = optionsOf(fields)
    const { rows, cursor = null } = await outputs.searchOutputs({ ...search, ...options })
    return { outputs: rows.map(row => describe(row, options)), cursor }
  }
})
