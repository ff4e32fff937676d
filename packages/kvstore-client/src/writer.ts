/**
 * Writes to the global store (BRC-35 §3.4), serialised for each tuple: look up the live token, have the wallet spend it,
 * create its successor and broadcast, then submit the transaction to the hosts.
 *
 * A token that the network has and the hosts do not would be created a second time by the next write. Each token is
 * therefore kept in a basket of the wallet, and a write first submits the tokens of the basket that the hosts do not show.
 * A removal leaves no token in the basket: it is discovered when the wallet refuses to spend the token again and names the
 * transaction that spent it. Both recoveries also work when the process that wrote ended before it submitted.
 */
import { type AtomicBEEF, Beef, type WalletInterface } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { type ActionResult, lock, lockKeyOf, runAction, type Scope, type TokenWallet } from './action.ts'
import { atomicOf } from './bundle.ts'
import type { Found } from './entry.ts'
import { entryMutex } from './entry-mutex.ts'
import { type Failures, hostError, type SubmissionResult, submit } from './overlay.ts'
import { type KvTuple, tupleText } from './tuple.ts'

export type GlobalWallet = TokenWallet & Pick<WalletInterface, 'listOutputs'>

export interface WriterOptions {
  readonly wallet: GlobalWallet
  readonly originator: string | undefined
  /** Hosts to submit to. */
  readonly hosts: () => Promise<readonly string[]>
  /** Live tokens of a tuple, verified. */
  readonly live: (tuple: KvTuple) => Promise<readonly Found[]>
}

export interface Write {
  /** Fields of the successor; undefined for a removal. */
  readonly fields?: readonly Uint8Array[]
  /** Spends several live tokens instead of failing. */
  readonly collapse: boolean | undefined
}

interface Submission {
  readonly txid: string
  readonly beef: AtomicBEEF
  /** Whether the answer of a host means that the host has the effect of the transaction. */
  readonly isAccepted: (by: SubmissionResult) => boolean
}

/** The basket of global tokens, each tagged with its lock key. */
const BASKET = 'global kvstore'
/** Attempts at a write in conflict with concurrent writers. */
const ATTEMPTS = 5

export class Writer {
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Undefined when there is nothing to remove. */
  async write(tuple: KvTuple, { fields, collapse = false }: Write): Promise<ActionResult | undefined> {
    const { wallet, originator, live } = this.#options
    const { protocolID, key } = tuple
    const scope: Scope = { protocolID: [...protocolID], keyID: key, counterparty: 'anyone' }
    return entryMutex.run(`global ${tupleText(tuple)}`, async () => {
      const tag = await lockKeyOf(wallet, scope, originator)
      const script = fields && (await lock(wallet, scope, fields, originator))
      let found = await live(tuple)
      if (await this.#submitMissing(tag, found)) found = await live(tuple)
      for (let attempt = 1; ; attempt++) {
        if (found.length > 1 && !collapse) throw ambiguityError(found)
        if (found.length === 0 && !script) return undefined
        try {
          const result = await runAction(
            wallet,
            {
              description: script ? 'Set a key-value entry' : 'Remove a key-value entry',
              scope,
              spends: found,
              beef: ancestry(found),
              output: script && { script, basket: BASKET, tags: [tag] }
            },
            originator
          )
          await this.#submit(script ? creation(result) : removal(result))
          return result
        } catch (error) {
          if (attempt === ATTEMPTS || !isReview(error)) throw error
          await this.#submitCompeting(error)
          const now = await live(tuple)
          // Without a concurrent write, the refusal has another reason.
          if (outpointsOf(now).join() === outpointsOf(found).join()) throw error
          found = now
        }
      }
    })
  }

  /** Submits tokens of the basket that the hosts do not show. Returns whether there were any. */
  async #submitMissing(tag: string, shown: readonly Found[]): Promise<boolean> {
    const { wallet, originator } = this.#options
    const { outputs, BEEF } = await wallet.listOutputs(
      { basket: BASKET, tags: [tag], include: 'entire transactions' },
      originator
    )
    const missing = outputs.filter(({ outpoint }) => !shown.some(each => each.outpoint === outpoint))
    if (missing.length === 0 || !BEEF) return false
    const beef = Beef.fromBinary(BEEF)
    for (const { outpoint } of missing) {
      const [txid = '', vout] = outpoint.split('.')
      // The hosts refuse a token that another wallet of the owner has spent meanwhile.
      await this.#submit(creation({ txid, vout: Number(vout), beef: atomicOf(beef, txid) })).catch(
        unlessRefused
      )
    }
    return true
  }

  /** Acceptance by one host is enough: hosts synchronise. */
  async #submit({ txid, beef, isAccepted }: Submission): Promise<void> {
    const { answers, failures } = await submit(await this.#options.hosts(), beef)
    if (answers.some(isAccepted)) return
    const hosts: Failures = Object.fromEntries(
      answers.map(({ host, error }) => [host, error ?? 'the topic admits nothing of the transaction'])
    )
    if (Object.keys(failures).length === 0) {
      throw new QuoinError('ERR_KV_REFUSED', 'every host refused the transaction', { txid, hosts })
    }
    throw hostError(
      'the transaction was broadcast but reached no host; the next write to the entry submits it again',
      { ...hosts, ...failures },
      { txid }
    )
  }

  /** Submits the transactions that spent the token first, as far as the wallet knows them: the hosts lack them. */
  async #submitCompeting({ reviewActionResults }: Review): Promise<void> {
    for (const { competingBeef, competingTxs = [] } of reviewActionResults) {
      if (!competingBeef) continue
      const beef = Beef.fromBinary(competingBeef)
      for (const txid of competingTxs) {
        if (beef.findTxid(txid)) await submit(await this.#options.hosts(), atomicOf(beef, txid))
      }
    }
  }
}

/** `WERR_REVIEW_ACTIONS`: the network refused the action. Recognised by shape, since it may come from another process. */
interface Review {
  readonly reviewActionResults: readonly {
    readonly competingTxs?: readonly string[]
    readonly competingBeef?: number[]
  }[]
}

const isReview = (error: unknown): error is Review =>
  Array.isArray((error as Partial<Review> | null)?.reviewActionResults)

const outpointsOf = (found: readonly Found[]): string[] => found.map(({ outpoint }) => outpoint).sort()

const creation = ({ txid, vout, beef }: ActionResult): Submission => ({
  txid,
  beef: requireBeef(beef),
  isAccepted: ({ admitted }) => admitted.includes(vout)
})

const removal = ({ txid, beef }: ActionResult): Submission => ({
  txid,
  beef: requireBeef(beef),
  isAccepted: ({ spent }) => spent.length > 0
})

const requireBeef = (beef: AtomicBEEF | undefined): AtomicBEEF => {
  if (!beef) throw new QuoinError('ERR_KV_WALLET', 'the wallet returned no transaction to submit')
  return beef
}

/** A refused submission is not repeated. */
const unlessRefused = (error: QuoinError): void => {
  if (error.code !== 'ERR_KV_REFUSED') throw error
}

/** The BEEF of the tokens; unchanged when all are from one bundle. */
const ancestry = (found: readonly Found[]): number[] | undefined => {
  const [first, ...rest] = new Set(found.map(({ bundle }) => bundle))
  if (!first || rest.length === 0) return first && Array.from(first.bytes)
  const beef = Beef.fromBinary(Array.from(first.bytes))
  for (const { bytes } of rest) beef.mergeBeef(Array.from(bytes))
  return beef.toBinary()
}

export const ambiguityError = (found: readonly Found[]): QuoinError =>
  new QuoinError(
    'ERR_KV_AMBIGUOUS',
    'the entry has several live tokens; `collapse: true` spends all of them',
    { outpoints: outpointsOf(found) }
  )
