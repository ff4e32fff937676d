/** What a submission is answered: for each topic the instructions that `@bsv/sdk` knows, or why it failed. */
import { reasonOf } from '@quoin/primitives'
import type { Judgement } from './keys.ts'

export interface TopicAnswer {
  outputsToAdmit: number[]
  coinsToRetain: number[]
  coinsRemoved: number[]
  /** The topic itself failed; others are not affected, and it may be tried again. */
  error?: { code: string; message: string }
}

/** By topic. */
export type Steak = Record<string, TopicAnswer>

/** Without outputs that an operator evicted: the topic has them no longer. */
export const answerOf = (
  { outputsToAdmit, coinsToRetain, coinsRemoved }: Judgement,
  evicted: ReadonlySet<number>
): TopicAnswer => ({
  outputsToAdmit: outputsToAdmit.filter(vout => !evicted.has(vout)),
  coinsToRetain: [...coinsToRetain],
  coinsRemoved: [...coinsRemoved]
})

export const failureOf = (error: unknown): TopicAnswer => ({
  outputsToAdmit: [],
  coinsToRetain: [],
  coinsRemoved: [],
  error: {
    code: codeOf(error),
    message: reasonOf(error)
  }
})

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'ERR_TOPIC_FAILED'
