/**
 * Commits batches, in the order in which they come: a transaction for those that came while the last one ran. One that
 * PostgreSQL rolled back in favour of another process is committed again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { QuoinError } from '@quoin/primitives'
import { BatchDecoder } from '../batch-decoder.ts'
import type { OperationResult } from '../engine.ts'
import { BatchRows, type Steps } from './batch-rows.ts'
import type { Database } from './database.ts'
import { isConflict, isDuplicate } from './errors.ts'

/** Of one transaction. */
const GROUP_BATCHES = 500
const GROUP_BYTES = 4 * 1024 * 1024
/** Times that a transaction is tried. */
const ATTEMPTS = 20
/** Milliseconds; the pause before an attempt is random, and grows with each. */
const PAUSE_MS = 5

interface Submission {
  readonly batch: Uint8Array
  readonly resolve: (answers: OperationResult[]) => void
  readonly reject: (error: unknown) => void
}

/** The answers of a batch, or its refusal. */
type Outcome = OperationResult[] | QuoinError

export class Commits {
  readonly #database: Database
  readonly #schema: string
  readonly #waiting: Submission[] = []
  #running: Promise<void> | undefined

  /** Called when a transaction with deferred appends has ended. */
  readonly #onDeferred: () => void

  constructor(database: Database, schema: string, onDeferred: () => void) {
    this.#database = database
    this.#schema = schema
    this.#onDeferred = onDeferred
  }

  commit(batch: Uint8Array): Promise<OperationResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  async settled(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Batches of the same turn of the event loop share a transaction.
    await undefined
    while (this.#waiting.length > 0) await this.#commitGroup(this.#nextGroup())
    this.#running = undefined
  }

  /** A batch that scans goes by itself: it locks rows that nobody has named. */
  #nextGroup(): Submission[] {
    let bytes = 0
    let length = 0
    for (const { batch } of this.#waiting) {
      if (length > 0 && (bytes + batch.length > GROUP_BYTES || new BatchDecoder(batch).hasScan)) break
      bytes += batch.length
      length++
      if (length === GROUP_BATCHES || new BatchDecoder(batch).hasScan) break
    }
    return this.#waiting.splice(0, length)
  }

  async #commitGroup(group: readonly Submission[]): Promise<void> {
    try {
      const outcomes = await this.#outcomes(group.map(({ batch }) => batch))
      for (const [i, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[i]!
        if (outcome instanceof QuoinError) reject(outcome)
        else resolve(outcome)
      }
    } catch (error) {
      // Where the server refused the group, the fault may be of one batch: each is tried by itself.
      if (group.length > 1 && !isOfAll(error)) {
        for (const each of group) await this.#commitGroup([each])
      } else for (const { reject } of group) reject(error)
    }
  }

  /** The transaction of a group, again after conflicts and while the server is away. */
  async #outcomes(batches: readonly Uint8Array[]): Promise<Outcome[]> {
    let isCareful = false
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#database.patiently(() => this.#transaction(batches, isCareful))
      } catch (error) {
        if (attempt === ATTEMPTS || !isRepeatable(error)) throw error
        isCareful ||= isDuplicate(error)
        if (!isDuplicate(error)) await sleep(PAUSE_MS * attempt * Math.random())
      }
    }
  }

  async #transaction(batches: readonly Uint8Array[], isCareful: boolean): Promise<Outcome[]> {
    let hasDeferred = false
    const outcomes = await this.#database.transaction(async query => {
      const decoders = batches.map(batch => new BatchDecoder(batch))
      const rows = new BatchRows(this.#schema, isCareful)
      const steps = rows.stepsOf(decoders)
      for (const { operations } of steps) for (const operation of operations) operation()
      // Batches that depend on nothing are written at once, under the same order of locks.
      if (rows.hasReads) {
        rows.predict()
        await rows.load(query)
        const outcomes = steps.map((each, i) => outcomeOf(each, decoders[i]!))
        const { hasChanges } = rows
        hasDeferred = rows.hasDeferred
        return { result: outcomes, hasChanges, last: hasChanges ? await rows.write(query) : undefined }
      }
      hasDeferred = rows.hasDeferred
      const last = await rows.write(query)
      return { result: steps.map((): OperationResult[] => []), hasChanges: rows.hasChanges, last }
    })
    if (hasDeferred) this.#onDeferred()
    return outcomes
  }
}

const outcomeOf = ({ conditions, operations }: Steps, decoder: BatchDecoder): Outcome => {
  const failing = conditions.findIndex(holds => !holds())
  if (failing >= 0) return decoder.refusal(failing)
  const answers: OperationResult[] = []
  for (const operation of operations) {
    const answer = operation()
    if (answer !== undefined) answers.push(answer as OperationResult)
  }
  return answers
}

const isRepeatable = (error: unknown): boolean => isConflict(error) || isDuplicate(error)

const OF_ALL: ReadonlySet<string> = new Set([
  'ERR_STORE_CONNECTION',
  'ERR_STORE_READ_ONLY',
  'ERR_STORE_FULL',
  'ERR_STORE_REPLICAS',
  'ERR_STORE_BUSY'
])

/** The state of the server, or a commit that may have been done. */
const isOfAll = (error: unknown): boolean =>
  !(error instanceof QuoinError) || OF_ALL.has(error.code) || error.details['outcome'] !== undefined
