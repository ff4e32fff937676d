/** The `Storage` interface of `@bsv/overlay` on an output store. */

export { type AppliedTransaction, EngineStorage } from './engine-storage.ts'
export type { EngineOutpoint, EngineOutput } from './output-rows.ts'
