/** Ingest of transactions from files, or from another store, into a node without its server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOutputs } from '@quoin/bsv21'
import { Beef, chain } from '@quoin/chain'
import { ERRORS, hasCode, QuoinError } from '@quoin/primitives'
import type { StoreReads } from '@quoin/store'
import { Indexer } from '@quoin/txo'
import type { OpenNode } from './node.ts'
import type { Config } from './settings.ts'

/**
 * The configuration with the chain whose headers the store has: its own development chain, or headers without a source.
 * Proofs are checked against those.
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

/** Takes in the subject of a BEEF. */
export type Take = (beef: Uint8Array) => Promise<void>

/** Into the index, under the rules of the node's chain. */
export const nodeIndexer = ({ engine, tracker }: OpenNode, { index }: Config): Indexer => {
  const trusting = { isValidRootForHeight: async () => true, currentHeight: async () => 0xffffffff }
  return new Indexer(engine.outputs, tracker === 'scripts only' ? trusting : tracker, {
    interpreter: engine.interpreter,
    ...(Array.isArray(index) && { tags: index })
  })
}

/** To topics. */
export const toTopics =
  ({ engine }: OpenNode, topics: readonly string[]): Take =>
  async beef => {
    const steak = await engine.submit({ beef, topics }, 'historical-tx')
    const failed = Object.values(steak).find(({ error }) => error)?.error
    if (failed) throw new QuoinError('ERR_TOPIC_FAILED', failed.message)
  }

/** Waits for the interpreter where it is busy: an import is one client, which may have more than its share at once. */
const patient =
  (take: Take): Take =>
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
export const withTokens = ({ tokens }: OpenNode, take: Take): Take =>
  tokens
    ? async beef => {
        await patient(take)(beef)
        const { transactions } = Beef.parse(beef)
        const hasTokens = transactions.some(
          ({ transaction }) => transaction && tokenOutputs(transaction).size > 0
        )
        if (hasTokens) await tokens.pipeline.ingest.ingestBeef(beef)
      }
    : patient(take)
