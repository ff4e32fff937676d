/** Sends requests of a history to an engine. */
import { hasCode, QuoinError } from '@quoin/primitives'
import { type BatchStep, bytes } from '../../../store-contract/src/steps.ts'
import type { Subject, TextItem, TextReads } from '../../../store-contract/src/subject.ts'
import type { StepName } from '../operations.ts'
import type { Request, Response, TextRead, TextStep } from './store-specification.testing.ts'

/** `unknown`: the request may have had an effect. `none`: it had no effect. */
export type Result = { readonly response: Response } | { readonly failed: 'unknown' | 'none' }

export const send = async (store: Subject, request: Request): Promise<Result> => {
  try {
    return { response: await responseOf(store, request) }
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (hasCode(error, 'ERR_STORE_PRECONDITION') || hasCode(error, 'ERR_STORE_LEASE_LOST'))
      return { response: { refusedBy: error.details['check'] as number } }
    if (error.details['outcome'] === 'unknown' || error.details['outcome'] === 'applied')
      return { failed: 'unknown' }
    if (!AWAY.has(error.code)) throw error
    return { failed: 'none' }
  }
}

/** Errors of a server that is killed, or of keys that change too often. */
const AWAY: ReadonlySet<string> = new Set(['ERR_STORE_CONNECTION', 'ERR_STORE_BUSY', 'ERR_STORE_READ_ONLY'])

const responseOf = async (store: Subject, request: Request): Promise<Response> => {
  if ('batch' in request) {
    const answers = await store.commit(...request.batch.map(stepOf))
    return { answers: answers.map(each => (typeof each === 'number' ? each : names(each))) }
  }
  if ('read' in request) return { found: [await read(store, request.read)] }
  return {
    found: await store.snapshot(async reads => {
      const found: unknown[] = []
      for (const each of request.snapshot) found.push(await read(reads, each))
      return found
    })
  }
}

const stepOf = ([name, ...args]: TextStep): BatchStep => ({
  name: name as StepName,
  args: args.map(arg => (typeof arg === 'string' ? bytes(arg) : arg))
})

const names = (items: readonly TextItem[]): string[] => items.map(({ item }) => item).sort()

const read = async (reads: TextReads, [name, ...args]: TextRead): Promise<unknown> => {
  const [key] = args as [string]
  if (name === 'due' || name === 'leased') return names(await reads.qlist(key, name))
  const method = reads[name as 'get'] as (...args: string[]) => Promise<unknown>
  return (await method.call(reads, ...args)) ?? null
}
