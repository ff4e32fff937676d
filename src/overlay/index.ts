/** The overlay engine: topics admit outputs, lookups answer questions about them. */
export { type AnsweredOutput, answerBeef } from './answer.ts'
export { Engine, type EngineOptions, type Submitted } from './engine.ts'
export { type Judgement, type Judgements, overlay } from './keys.ts'
export { type Logger, SILENT } from './logger.ts'
export type { Steak, TopicAnswer } from './steak.ts'
export type { Broadcast } from './submission.ts'
export type * from './types.ts'
