/**
 * The global store (BRC-35 §3): entries that everybody can find and only their controller can change, kept by overlay
 * hosts. Nothing that a host says is believed: an entry is verified before it is one. And nothing that goes wrong is
 * taken for an answer: when a host cannot be asked, that there is nothing is not known.
 *
 * @example
 * const kv = new GlobalKV({ wallet, host: 'http://localhost:8080' })
 * await kv.set('profile.displayName', 'Ty', { tags: ['profile'] })
 * await kv.get('profile.displayName') // { value: 'Ty', tags: ['profile'], … }
 */
import { QuoinError } from '@quoin/primitives'
import { liveEntries } from './agreement.ts'
import { type Found, type KvEntry, type KvTuple, matches, type Selectors, shown, tupleText } from './entry.ts'
import { walkHistory } from './history.ts'
import { type HostOptions, type Hosts, hostsOf } from './hosts.ts'
import { hostError, lookUp } from './overlay.ts'
import { check, isText, textOf } from './text.ts'
import { isProtocolID, type ProtocolID, writeFields } from './token.ts'
import { type KvChange, watchEntries } from './watch.ts'
import { ambiguous, type GlobalWallet, Writer } from './writer.ts'

export interface GlobalKVOptions extends HostOptions {
  /** Needed to write, and to read one's own entries without saying whose. */
  readonly wallet?: GlobalWallet
  /** Of entries for which no other is given, `[1, 'kvstore']` unless told. */
  readonly protocolID?: ProtocolID
  /** Told to the wallet with every call. */
  readonly originator?: string
}

export interface GetOptions {
  /** Whose entry, in hex; the wallet's own unless given. */
  readonly controller?: string
  readonly protocolID?: ProtocolID
}

export interface SetOptions {
  readonly tags?: readonly string[]
  readonly protocolID?: ProtocolID
  /** Where the entry is ambiguous, all its tokens are spent. */
  readonly collapse?: boolean
}

export type RemoveOptions = Omit<SetOptions, 'tags'>

/** A question (§3.5), with at least one selector. */
export interface ListQuery extends Selectors {
  readonly limit?: number
  readonly skip?: number
  readonly sortOrder?: 'asc' | 'desc'
  /** From the page before; only nodes of Quoin know it. */
  readonly cursor?: string
}

export interface ListedEntry extends KvEntry {
  /** The tuple has another live token (§3.4). */
  readonly isAmbiguous: boolean
}

export interface Page {
  readonly entries: readonly ListedEntry[]
  /** Where the next page begins, if the host says so and there is one. */
  readonly cursor: string | undefined
}

/** More than one is one too many. */
const FEW = 10
/** As many as a page has at most. */
const MANY = 1000

interface Looked {
  readonly found: readonly Found[]
  /** Of so many hosts. */
  readonly answers: number
  /** Outpoints of which a host says that their tuple has another. */
  readonly claimed: ReadonlySet<string>
  readonly cursor: string | undefined
}

export class GlobalKV {
  readonly protocolID: ProtocolID
  readonly #wallet: GlobalWallet | undefined
  readonly #originator: string | undefined
  readonly #hosts: Hosts
  #identity: Promise<string> | undefined

  constructor({ wallet, protocolID = [1, 'kvstore'], originator, ...hosts }: GlobalKVOptions) {
    check(isProtocolID(protocolID), 'protocolID', PROTOCOL)
    this.protocolID = protocolID
    this.#wallet = wallet
    this.#originator = originator
    this.#hosts = hostsOf(hosts)
  }

  /** The identity key of the wallet: the controller of what it writes. */
  identity(): Promise<string> {
    this.#identity ??= this.#needed()
      .getPublicKey({ identityKey: true }, this.#originator)
      .then(({ publicKey }) => publicKey)
    this.#identity.catch(() => {
      this.#identity = undefined
    })
    return this.#identity
  }

  /** The live entry; undefined when there is none. An error when there are several (§3.4). */
  async get(key: string, options: GetOptions = {}): Promise<KvEntry | undefined> {
    const entry = await this.#one(await this.#tuple(key, options), false)
    return entry && shown(entry)
  }

  /** The values that the live entry had, oldest first, and itself last (§3.6). None when it is not there. */
  async history(key: string, options: GetOptions = {}): Promise<KvEntry[]> {
    const entry = await this.#one(await this.#tuple(key, options), true)
    return entry ? walkHistory(entry) : []
  }

  /** Live entries, in the order of the host. */
  async list(query: ListQuery): Promise<Page> {
    checkSelectors(query)
    const { limit } = query
    const { found, claimed, cursor } = await this.#find(query, { ...query, history: false })
    const counts = new Map<string, number>()
    for (const each of found) counts.set(tupleText(each), (counts.get(tupleText(each)) ?? 0) + 1)
    const entries = found.slice(0, limit).map(each => ({
      ...shown(each),
      isAmbiguous: counts.get(tupleText(each))! > 1 || claimed.has(each.outpoint)
    }))
    return { entries, cursor }
  }

  /**
   * What is live and matches, each as a change, and then changes as they come: for as long as the loop over them goes on,
   * or until the signal ends it. Hosts that cannot be reached are tried again. Only nodes of Quoin tell changes.
   */
  async *watch(
    selectors: Selectors,
    { signal }: { readonly signal?: AbortSignal } = {}
  ): AsyncGenerator<KvChange, void, undefined> {
    checkSelectors(selectors)
    yield* watchEntries({
      hosts: await this.#hosts.lookup(),
      selectors,
      signal,
      one: async (host, tuple) => {
        const live = await this.#live(tuple, false, [host])
        return live.filter(each => matches(selectors, each)).map(shown)
      },
      all: async host => {
        const entries: KvEntry[] = []
        for (let cursor: string | undefined; ; ) {
          const query = { ...selectors, history: false, limit: MANY, ...(cursor !== undefined && { cursor }) }
          const page = await this.#find(selectors, query, [host])
          entries.push(...page.found.map(shown))
          if (page.cursor === undefined) return entries
          cursor = page.cursor
        }
      }
    })
  }

  /** Creates or updates the entry of the wallet's owner. Answers the outpoint of its token. */
  async set(key: string, value: string, { tags = [], ...options }: SetOptions = {}): Promise<string> {
    const tuple = await this.#tuple(key, options)
    const fields = writeFields({ ...tuple, value, tags })
    const { txid, vout } = (await this.#writer().write(tuple, { fields, collapse: options.collapse }))!
    return `${txid}.${vout}`
  }

  /** Deletes the entry of the wallet's owner. Answers the txid; undefined when there was none. */
  async remove(key: string, options: RemoveOptions = {}): Promise<string | undefined> {
    const tuple = await this.#tuple(key, options)
    return (await this.#writer().write(tuple, { collapse: options.collapse }))?.txid
  }

  #writer(): Writer {
    return new Writer({
      wallet: this.#needed(),
      originator: this.#originator,
      hosts: this.#hosts.submit,
      live: tuple => this.#live(tuple, false)
    })
  }

  #needed(): GlobalWallet {
    if (!this.#wallet) throw new QuoinError('ERR_KV_WALLET', 'no wallet is given')
    return this.#wallet
  }

  async #tuple(key: string, { controller, protocolID = this.protocolID }: GetOptions): Promise<KvTuple> {
    check(isProtocolID(protocolID), 'protocolID', PROTOCOL)
    check(isText(key) && key !== '', 'key', 'a key is a text that is not empty')
    check(
      controller === undefined || /^0[23][0-9a-f]{64}$/.test(controller),
      'controller',
      'a controller is a compressed public key in hex'
    )
    return { protocolID, key, controller: controller ?? (await this.identity()) }
  }

  async #one(tuple: KvTuple, history: boolean): Promise<Found | undefined> {
    const found = await this.#live(tuple, history)
    if (found.length > 1) throw ambiguous(found)
    return found[0]
  }

  /** The history tells whether of several tokens one is the other, updated. */
  async #live(tuple: KvTuple, history: boolean, hosts?: readonly string[]): Promise<readonly Found[]> {
    const { found, answers } = await this.#find(tuple, { ...tuple, history, limit: FEW }, hosts)
    return found.length > 1 && answers > 1 && !history ? this.#live(tuple, true, hosts) : found
  }

  /** That there is nothing is known only when every host says so. */
  async #find(selectors: Selectors, query: object, hosts?: readonly string[]): Promise<Looked> {
    const { answers, failures } = await lookUp(hosts ?? (await this.#hosts.lookup()), query)
    const found = liveEntries(answers, selectors)
    if (answers.length === 0 || (found.length === 0 && Object.keys(failures).length > 0)) {
      throw hostError('the entry cannot be looked up', failures)
    }
    const claimed = new Set<string>()
    let cursor: string | undefined
    for (const { txid, vout, context } of answers.flat()) {
      const said = contextOf(context)
      if (said.ambiguous) claimed.add(`${txid}.${vout}`)
      if (answers.length === 1) cursor = said.cursor
    }
    return { found, answers: answers.length, claimed, cursor }
  }
}

const PROTOCOL = 'a protocol is a level from 0 to 2 and a name as wallets take it: [1, "kvstore"]'

const checkSelectors = ({ key, controller, protocolID, tags = [] }: Selectors): void =>
  check(
    key !== undefined || controller !== undefined || protocolID !== undefined || tags.length > 0,
    'query',
    'a query has at least one selector: key, controller, protocolID or tags'
  )

/** What nodes of Quoin say beside an output, as JSON. */
const contextOf = (context: Uint8Array | undefined): { ambiguous?: number; cursor?: string } => {
  const text = context && textOf(context)
  if (text === undefined) return {}
  try {
    const { ambiguous: count, cursor } = JSON.parse(text) as Record<string, unknown>
    return {
      ...(typeof count === 'number' && { ambiguous: count }),
      ...(typeof cursor === 'string' && { cursor })
    }
  } catch {
    // Other hosts say other things there.
    return {}
  }
}
