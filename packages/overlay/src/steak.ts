/** STEAK, the answer to a submission: for each topic its instructions, in the form of `@bsv/sdk`, or its error. */
import { reasonOf } from '@quoin/primitives'
import type { Admission } from './keys.ts'

export interface TopicAnswer {
  outputsToAdmit: number[]
  coinsToRetain: number[]
  coinsRemoved: number[]
  /** The topic failed. Other topics are not affected, and the submission may be repeated. */
  error?: { code: string; message: string }
}

/** By topic. */
export type Steak = Record<string, TopicAnswer>

/** Evicted outputs are left out: they are no longer in the topic. */
export const answerOf = (
  { outputsToAdmit, coinsToRetain, coinsRemoved }: Admission,
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
