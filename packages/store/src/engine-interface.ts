/** For authors of engines and of the contract suite: the interface of an engine, and the encoding of batches. */
export * from './engine.ts'
export * from './program.ts'
export { ProgramWriter } from './program-writer.ts'
