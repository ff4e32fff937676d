/**
 * Writing to the global store (BRC-35 §3.4), one at a time for each tuple: what is live is looked up, the wallet spends it
 * and makes its successor, the network gets the transaction from the wallet and the hosts from here.
 *
 * What the network has and the hosts do not would be minted a second time by whoever asks them. So each token is in a
 * basket of the wallet, and before anything is written the hosts are told what is there and they do not show. A removal
 * leaves nothing there: that shows when the wallet refuses to spend the token again, and says what spent it. Both hold
 * also when the process that wrote it ended before the hosts were told.
 */
import { type AtomicBEEF, Beef, type WalletInterface } from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { type Acted, act, lock, lockKeyOf, type Scope, type TokenWallet } from './action.ts'
import { atomicOf } from './bundle.ts'
import { type Found, type KvTuple, tupleText } from './entry.ts'
import { type Failures, hostError, type Submitted, submit } from './overlay.ts'
import { inTurn } from './turns.ts'

export type GlobalWallet = TokenWallet & Pick<WalletInterface, 'listOutputs'>

export interface WriterOptions {
  readonly wallet: GlobalWallet
  readonly originator: string | undefined
  /** Whom to submit to. */
  readonly hosts: () => Promise<readonly string[]>
  /** What is live, verified. */
  readonly live: (tuple: KvTuple) => Promise<readonly Found[]>
}

export interface Write {
  /** Of the successor; without them there is none. */
  readonly fields?: readonly Uint8Array[]
  /** Several tokens are spent as one would be. */
  readonly collapse: boolean | undefined
}

interface Sent {
  readonly txid: string
  readonly beef: AtomicBEEF
  /** Whether a host has it. */
  readonly isTaken: (by: Submitted) => boolean
}

/** Where the wallet keeps them, each under its lock. */
const BASKET = 'global kvstore'
/** Attempts at a write when another got in between. */
const ATTEMPTS = 5

export class Writer {
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Undefined when there is nothing to remove. */
  async write(tuple: KvTuple, { fields, collapse = false }: Write): Promise<Acted | undefined> {
    const { wallet, originator, live } = this.#options
    const { protocolID, key } = tuple
    const scope: Scope = { protocolID: [...protocolID], keyID: key, counterparty: 'anyone' }
    return inTurn(`global ${tupleText(tuple)}`, async () => {
      const tag = await lockKeyOf(wallet, scope, originator)
      const script = fields && (await lock(wallet, scope, fields, originator))
      let found = await live(tuple)
      if (await this.#tell(tag, found)) found = await live(tuple)
      for (let attempt = 1; ; attempt++) {
        if (found.length > 1 && !collapse) throw ambiguous(found)
        if (found.length === 0 && !script) return undefined
        try {
          const acted = await act(
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
          await this.#send(script ? made(acted) : removed(acted))
          return acted
        } catch (error) {
          if (attempt === ATTEMPTS || !isReview(error)) throw error
          await this.#learn(error)
          const now = await live(tuple)
          // Nobody got in between: it is refused for what it is.
          if (outpointsOf(now).join() === outpointsOf(found).join()) throw error
          found = now
        }
      }
    })
  }

  /** Tells the hosts what the wallet holds and they do not show. Answers whether there was anything to tell. */
  async #tell(tag: string, shown: readonly Found[]): Promise<boolean> {
    const { wallet, originator } = this.#options
    const { outputs, BEEF } = await wallet.listOutputs(
      { basket: BASKET, tags: [tag], include: 'entire transactions' },
      originator
    )
    const missed = outputs.filter(({ outpoint }) => !shown.some(each => each.outpoint === outpoint))
    if (missed.length === 0 || !BEEF) return false
    const beef = Beef.fromBinary(BEEF)
    for (const { outpoint } of missed) {
      const [txid = '', vout] = outpoint.split('.')
      // Another wallet of the owner may have spent it since; that is for the hosts to know.
      await this.#send(made({ txid, vout: Number(vout), beef: atomicOf(beef, txid) })).catch(unlessRefused)
    }
    return true
  }

  /** One host that has it is enough: hosts tell each other. */
  async #send({ txid, beef, isTaken }: Sent): Promise<void> {
    const { answers, failures } = await submit(await this.#options.hosts(), beef)
    if (answers.some(isTaken)) return
    const hosts: Failures = Object.fromEntries(
      answers.map(({ host, error }) => [host, error ?? 'it takes no part of the transaction'])
    )
    if (Object.keys(failures).length === 0) {
      throw new QuoinError('ERR_KV_REFUSED', 'no host took the transaction', { txid, hosts })
    }
    throw hostError(
      'the transaction is sent and reached no host; the next write to the entry submits it again',
      { ...hosts, ...failures },
      { txid }
    )
  }

  /** Another transaction spent the token first. Where the wallet knows it, the hosts learn it: they do not have it yet. */
  async #learn({ reviewActionResults }: Review): Promise<void> {
    for (const { competingBeef, competingTxs = [] } of reviewActionResults) {
      if (!competingBeef) continue
      const beef = Beef.fromBinary(competingBeef)
      for (const txid of competingTxs) {
        if (beef.findTxid(txid)) await submit(await this.#options.hosts(), atomicOf(beef, txid))
      }
    }
  }
}

/** `WERR_REVIEW_ACTIONS`, by which wallets say that the network refused. It comes over wires and from other SDKs. */
interface Review {
  readonly reviewActionResults: readonly {
    readonly competingTxs?: readonly string[]
    readonly competingBeef?: number[]
  }[]
}

const isReview = (error: unknown): error is Review =>
  Array.isArray((error as Partial<Review> | null)?.reviewActionResults)

const outpointsOf = (found: readonly Found[]): string[] => found.map(({ outpoint }) => outpoint).sort()

const made = ({ txid, vout, beef }: Acted): Sent => ({
  txid,
  beef: given(beef),
  isTaken: ({ admitted }) => admitted.includes(vout)
})

const removed = ({ txid, beef }: Acted): Sent => ({
  txid,
  beef: given(beef),
  isTaken: ({ spent }) => spent.length > 0
})

const given = (beef: AtomicBEEF | undefined): AtomicBEEF => {
  if (!beef) throw new QuoinError('ERR_KV_WALLET', 'the wallet keeps what it made to itself')
  return beef
}

/** What no host wants, none has to be told again. */
const unlessRefused = (error: QuoinError): void => {
  if (error.code !== 'ERR_KV_REFUSED') throw error
}

/** As it came, where it came together. */
const ancestry = (found: readonly Found[]): number[] | undefined => {
  const [first, ...rest] = new Set(found.map(({ bundle }) => bundle))
  if (!first || rest.length === 0) return first && Array.from(first.bytes)
  const beef = Beef.fromBinary(Array.from(first.bytes))
  for (const { bytes } of rest) beef.mergeBeef(Array.from(bytes))
  return beef.toBinary()
}

export const ambiguous = (found: readonly Found[]): QuoinError =>
  new QuoinError(
    'ERR_KV_AMBIGUOUS',
    'the entry has several live tokens, of which none counts more than another',
    { outpoints: outpointsOf(found) }
  )
