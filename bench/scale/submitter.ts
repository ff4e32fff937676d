/**
 * A process that submits: it makes its transactions, warms up, waits for a message, submits them, and reports. The
 * arguments are the URL of the store, a seed, the number of submissions and the number that warm up.
 */
import { once } from 'node:events'
import pg from 'pg'
import { TestChain } from '../../packages/chain/src/verify/test-chain.testing.ts'
import { makeBeefs, openSubmissions, submitAll } from './submissions.ts'

export interface Report {
  /** Microseconds of processor time for each submission. */
  readonly processor: number
  readonly milliseconds: number
  /** Transactions of the database. */
  readonly begun: number
  /** Transactions that PostgreSQL aborted: serialization failures and deadlocks. */
  readonly aborted: number
  /** Transactions of groups of batches. */
  readonly groups: number
}

const counts = { begun: 0, aborted: 0, groups: 0 }
const ABORTED = ['40001', '40P01']

const countAbort = (error: { readonly code?: string }): void => {
  if (ABORTED.includes(error.code ?? '')) counts.aborted++
}

/** A statement and the commit in one message, which calls this when both are done. */
interface CommitQuery {
  submit?: unknown
  text?: unknown
  handleReadyForQuery(): void
  handleError(error: { readonly code?: string }): void
}

const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
const { query } = prototype
prototype.query = function (this: unknown, ...args: unknown[]) {
  const first = args[0] as string | CommitQuery
  const text = String(typeof first === 'string' ? first : first.text)
  if (text.startsWith('BEGIN')) counts.begun++
  if (typeof first === 'object' && typeof first.submit === 'function') {
    const handle = first.handleReadyForQuery.bind(first)
    first.handleReadyForQuery = () => {
      counts.groups++
      handle()
    }
    const fail = first.handleError.bind(first)
    first.handleError = (error, ...rest: unknown[]) => {
      countAbort(error)
      ;(fail as (...args: unknown[]) => void)(error, ...rest)
    }
    return query.apply(this, args)
  }
  const result = query.apply(this, args)
  // The engine handles the error, too.
  if (result instanceof Promise) result.catch(countAbort)
  return result
}

const [url, seed, count, warm] = process.argv.slice(2) as [string, string, string, string]
const chain = new TestChain(1000, 1000 * Number(seed))
const beefs = await makeBeefs(chain, Number(seed), Number(count) + Number(warm))
const { engine, close } = await openSubmissions(url, chain)
await submitAll(engine, beefs.slice(0, Number(warm)))
process.on('disconnect', () => process.exit())
process.send!('ready')
await once(process, 'message')
const before = { ...counts }
const start = performance.now()
const processor = await submitAll(engine, beefs.slice(Number(warm)))
const report: Report = {
  processor,
  milliseconds: performance.now() - start,
  begun: counts.begun - before.begun,
  aborted: counts.aborted - before.aborted,
  groups: counts.groups - before.groups
}
process.send!(report)
await once(process, 'message')
await close()
process.disconnect()
