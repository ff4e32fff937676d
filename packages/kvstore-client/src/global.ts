/**
 * The global store (BRC-35 §3): entries that everybody can find and only their controller can change, on overlay hosts.
 * Hosts are not trusted: every entry is verified. A failure is not an answer: without an answer from a host, the absence
 * of an entry is unknown, and the call throws.
 *
 * @example
 * const kv = new GlobalKV({ wallet, host: 'http://localhost:8080' })
 * await kv.set('profile.displayName', 'Ty', { tags: ['profile'] })
 * await kv.get('profile.displayName') // { …value: 'Ty'…tags: [ 'profile' ]… }
 */
import { QuoinError } from '@quoin/primitives'
import { liveEntries } from './agreement.ts'
import { type Found, type KvEntry, matches, type Selectors, toEntry } from './entry.ts'
import { walkHistory } from './history.ts'
import { type HostOptions, type Hosts, hostsOf } from './hosts.ts'
import { hostError, lookUp } from './overlay.ts'
import { check, isText, textOf } from './text.ts'
import {
  CONTROLLER_RULE,
  isController,
  type KvTuple,
  normalizeProtocol,
  PROTOCOL_RULE,
  type ProtocolID,
  tupleText
} from './tuple.ts'
import { type KvChange, watchEntries } from './watch.ts'
import { writeFields } from './write-token.ts'
import { ambiguityError, type GlobalWallet, Writer } from './writer.ts'

export interface GlobalKVOptions extends HostOptions {
  /** Required for writes, and for reads that name no controller. */
  readonly wallet?: GlobalWallet
  /** Protocol of calls that name none, in any spelling that wallets accept; default `[1, 'kvstore']`. */
  readonly protocolID?: ProtocolID
  /** Passed to the wallet with every call. */
  readonly originator?: string
}

export interface GetOptions {
  /** Controller in hex; default: the identity key of the wallet. */
  readonly controller?: string
  readonly protocolID?: ProtocolID
}

export interface SetOptions {
  readonly tags?: readonly string[]
  readonly protocolID?: ProtocolID
  /** Spends all tokens of an ambiguous entry instead of failing. */
  readonly collapse?: boolean
}

export type RemoveOptions = Omit<SetOptions, 'tags'>

/** A query (§3.5) with at least one selector. */
export interface ListQuery extends Selectors {
  readonly limit?: number
  readonly skip?: number
  readonly sortOrder?: 'asc' | 'desc'
  /** From the previous page; an extension of Quoin nodes. */
  readonly cursor?: string
}

export interface ListedEntry extends KvEntry {
  /** The tuple has another live token (§3.4). */
  readonly isAmbiguous: boolean
}

export interface Page {
  readonly entries: readonly ListedEntry[]
  /** Start of the next page, if any; an extension of Quoin nodes. */
  readonly cursor: string | undefined
}

/** Live tokens of one tuple to ask for; more than one is an ambiguity. */
const MAX_LIVE = 10
/** The largest page of a host. */
const PAGE_SIZE = 1000

interface LookupResult {
  readonly found: readonly Found[]
  /** Number of hosts that answered. */
  readonly answers: number
  /** Outpoints whose tuple is ambiguous according to a host. */
  readonly ambiguous: ReadonlySet<string>
  /** Paths of the rest of histories that the host cut, by outpoint. */
  readonly cut: ReadonlyMap<string, string>
  readonly cursor: string | undefined
}

export class GlobalKV {
  readonly protocolID: ProtocolID
  readonly #wallet: GlobalWallet | undefined
  readonly #originator: string | undefined
  readonly #hosts: Hosts
  #identity: Promise<string> | undefined

  constructor({ wallet, protocolID = [1, 'kvstore'], originator, ...hosts }: GlobalKVOptions) {
    this.protocolID = protocolOf(protocolID)
    this.#wallet = wallet
    this.#originator = originator
    this.#hosts = hostsOf(hosts)
  }

  /** The identity key of the wallet: the controller of its entries. */
  identity(): Promise<string> {
    this.#identity ??= this.#requireWallet()
      .getPublicKey({ identityKey: true }, this.#originator)
      .then(({ publicKey }) => publicKey)
    this.#identity.catch(() => {
      this.#identity = undefined
    })
    return this.#identity
  }

  /** The live entry; undefined when there is none. An error when there are several (§3.4). */
  async get(key: string, options: GetOptions = {}): Promise<KvEntry | undefined> {
    const found = await this.#live(await this.#tuple(key, options))
    if (found.length > 1) throw ambiguityError(found)
    return found[0] && toEntry(found[0])
  }

  /**
   * Earlier states of the live entry, oldest first, and the live entry last (§3.6). Empty when there is none. Throws
   * `ERR_KV_HOST` when the only host cuts the history: Quoin nodes do so after 100,000 steps or 64 MiB.
   */
  async history(key: string, options: GetOptions = {}): Promise<KvEntry[]> {
    const tuple = await this.#tuple(key, options)
    const { found, cut } = await this.#agreed(tuple, true)
    if (found.length > 1) throw ambiguityError(found)
    const [entry] = found
    if (!entry) return []
    const rest = cut.get(entry.outpoint)
    if (rest === undefined) return walkHistory(entry)
    throw new QuoinError('ERR_KV_HOST', `the host cut the history; ${rest} has the values before, in pages`, {
      rest,
      hosts: {}
    })
  }

  /** Live entries, in the order of the host. */
  async list(query: ListQuery): Promise<Page> {
    const selectors = selectorsOf(query)
    const { limit } = query
    const { found, ambiguous, cursor } = await this.#find(selectors, {
      ...query,
      ...selectors,
      history: false
    })
    const counts = new Map<string, number>()
    for (const each of found) counts.set(tupleText(each), (counts.get(tupleText(each)) ?? 0) + 1)
    const entries = found.slice(0, limit).map(each => ({
      ...toEntry(each),
      isAmbiguous: counts.get(tupleText(each))! > 1 || ambiguous.has(each.outpoint)
    }))
    return { entries, cursor }
  }

  /**
   * Yields every matching live entry as a change, then changes as they happen, until the signal aborts or the loop over
   * them ends. Connections to hosts are retried. Requires Quoin nodes.
   */
  async *watch(
    selected: Selectors,
    { signal }: { readonly signal?: AbortSignal } = {}
  ): AsyncGenerator<KvChange, void, undefined> {
    const selectors = selectorsOf(selected)
    yield* watchEntries({
      hosts: await this.#hosts.lookup(),
      selectors,
      signal,
      one: async (host, tuple) => {
        const live = await this.#live(tuple, [host])
        return live.filter(each => matches(selectors, each)).map(toEntry)
      },
      all: async host => {
        const entries: KvEntry[] = []
        for (let cursor: string | undefined; ; ) {
          const query = {
            ...selectors,
            history: false,
            limit: PAGE_SIZE,
            ...(cursor !== undefined && { cursor })
          }
          const page = await this.#find(selectors, query, [host])
          entries.push(...page.found.map(toEntry))
          if (page.cursor === undefined) return entries
          cursor = page.cursor
        }
      }
    })
  }

  /** Creates or updates an entry of the wallet. Returns the outpoint of its token. */
  async set(key: string, value: string, { tags = [], ...options }: SetOptions = {}): Promise<string> {
    const tuple = await this.#tuple(key, options)
    const fields = writeFields({ ...tuple, value, tags })
    const { txid, vout } = (await this.#writer().write(tuple, { fields, collapse: options.collapse }))!
    return `${txid}.${vout}`
  }

  /** Deletes an entry of the wallet. Returns the txid; undefined when there was no entry. */
  async remove(key: string, options: RemoveOptions = {}): Promise<string | undefined> {
    const tuple = await this.#tuple(key, options)
    return (await this.#writer().write(tuple, { collapse: options.collapse }))?.txid
  }

  #writer(): Writer {
    return new Writer({
      wallet: this.#requireWallet(),
      originator: this.#originator,
      hosts: this.#hosts.submit,
      live: tuple => this.#live(tuple)
    })
  }

  #requireWallet(): GlobalWallet {
    if (!this.#wallet) throw new QuoinError('ERR_KV_WALLET', 'this call needs the option `wallet`')
    return this.#wallet
  }

  async #tuple(key: string, { controller, protocolID = this.protocolID }: GetOptions): Promise<KvTuple> {
    check(isText(key) && key !== '', 'key', 'key must be a string that is not empty')
    check(controller === undefined || isController(controller), 'controller', CONTROLLER_RULE)
    return { protocolID: protocolOf(protocolID), key, controller: controller ?? (await this.identity()) }
  }

  async #live(tuple: KvTuple, hosts?: readonly string[]): Promise<readonly Found[]> {
    return (await this.#agreed(tuple, false, hosts)).found
  }

  /** When several hosts show several tokens, their history decides whether one is an update of another. */
  async #agreed(tuple: KvTuple, history: boolean, hosts?: readonly string[]): Promise<LookupResult> {
    const result = await this.#find(tuple, { ...tuple, history, limit: MAX_LIVE }, hosts)
    return result.found.length > 1 && result.answers > 1 && !history
      ? this.#agreed(tuple, true, hosts)
      : result
  }

  /** An empty result requires an answer from every host. */
  async #find(selectors: Selectors, query: object, hosts?: readonly string[]): Promise<LookupResult> {
    const { answers, failures } = await lookUp(hosts ?? (await this.#hosts.lookup()), query)
    const found = liveEntries(answers, selectors)
    if (answers.length === 0 || (found.length === 0 && Object.keys(failures).length > 0)) {
      throw hostError('the entry cannot be looked up', failures)
    }
    const ambiguous = new Set<string>()
    const cut = new Map<string, string>()
    let cursor: string | undefined
    for (const { txid, vout, context } of answers.flat()) {
      const parsed = parseContext(context)
      if (parsed.ambiguous) ambiguous.add(`${txid}.${vout}`)
      if (answers.length > 1) continue
      cursor = parsed.cursor
      if (parsed.rest !== undefined) cut.set(`${txid}.${vout}`, parsed.rest)
    }
    return { found, answers: answers.length, ambiguous, cut, cursor }
  }
}

/** The canonical form of a protocol in any spelling. Throws `ERR_KV_ENTRY` for one that wallets refuse. */
const protocolOf = (value: unknown): ProtocolID => {
  const protocolID = normalizeProtocol(value)
  check(protocolID !== undefined, 'protocolID', PROTOCOL_RULE)
  return protocolID!
}

/** The selectors of a query, with the protocol in canonical form. */
const selectorsOf = ({ key, controller, protocolID, tags, tagQueryMode }: Selectors): Selectors => {
  check(
    key !== undefined || controller !== undefined || protocolID !== undefined || (tags ?? []).length > 0,
    'query',
    'a query needs at least one selector: key, controller, protocolID or tags'
  )
  return {
    ...(key !== undefined && { key }),
    ...(controller !== undefined && { controller }),
    ...(protocolID !== undefined && { protocolID: protocolOf(protocolID) }),
    ...(tags !== undefined && { tags }),
    ...(tagQueryMode !== undefined && { tagQueryMode })
  }
}

/** The JSON context that Quoin nodes attach to an output. */
const parseContext = (
  context: Uint8Array | undefined
): { ambiguous?: number; cursor?: string; rest?: string } => {
  const text = context && textOf(context)
  if (text === undefined) return {}
  try {
    const { ambiguous: count, cursor, history } = JSON.parse(text) as Record<string, unknown>
    const { rest } = Object(history) as Record<string, unknown>
    return {
      ...(typeof rest === 'string' && { rest }),
      ...(typeof count === 'number' && { ambiguous: count }),
      ...(typeof cursor === 'string' && { cursor })
    }
  } catch {
    // Other hosts attach other contexts.
    return {}
  }
}
