/** Ingest of transactions from files, or from another store, into a node without its server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOutputs } from '@quoin/bsv21'
import { type Beef, chain } from '@quoin/chain'
import { ERRORS, hasCode, QuoinError } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import type { OpenNode } from './node.ts'
import type { Config } from './settings.ts'

/**
 * The configuration with the chain whose headers the store has: its own development chain, or headers without a source.
 * Proofs are checked against them.
 */
export const withStoredChain = async (config: Config, reads: StoreReads): Promise<Config> => {
  if (await reads.use(chain.collections.devChain).get()) return { ...config, chain: 'dev' }
  const origin = await reads.use(chain.collections.origin).get()
  if (origin) return { ...config, chain: 'headers', network: origin.network }
  throw new QuoinError(
    'ERR_USAGE',
    'the store has no headers to check proofs against: --chain headers:URL gets them, --chain scripts-only does without',
    { store: config.store }
  )
}

/** A fault of one transaction does not stop the others; a fault of the store or of the chain does. */
export const isAboutTheTransaction = (error: unknown): error is QuoinError =>
  error instanceof QuoinError && ERRORS[error.code].origin === 'transaction'

/** Ingests the subject of a BEEF. */
export type IngestBeef = (beef: Beef) => Promise<void>

/** To topics. */
export const toTopics =
  ({ engine }: OpenNode, topics: readonly string[]): IngestBeef =>
  async beef => {
    await engine.admit({ beef, topics })
  }

/** Waits for the interpreter where it is busy: an import is one client, which may have more than its share at once. */
const patient =
  (take: IngestBeef): IngestBeef =>
  async beef => {
    for (;;) {
      try {
        return await take(beef)
      } catch (error) {
        if (!hasCode(error, 'ERR_INTERPRETER_BUSY')) throw error
        await sleep(Number(error.details['seconds']) * 1000)
      }
    }
  }

/**
 * Transactions with tokens go to the token pipeline too. A transaction that waits for another is in a queue, which the
 * pipeline works on when it settles.
 */
export const withTokens = ({ tokens }: OpenNode, take: IngestBeef): IngestBeef =>
  tokens
    ? async beef => {
        await patient(take)(beef)
        const hasTokens = beef.transactions.some(
          ({ transaction }) => transaction && tokenOutputs(transaction).size > 0
        )
        if (hasTokens) await tokens.pipeline.ingest.ingestBeef(beef)
      }
    : patient(take)
