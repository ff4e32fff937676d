/** For authors of engines and of the contract suite: the interface of an engine, and the encoding of batches. */

export { BatchEncoder, encode } from './batch-encoder.ts'
export * from './engine.ts'
export * from './operations.ts'
