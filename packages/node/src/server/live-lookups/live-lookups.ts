/**
 * Live lookups (BRC-193, a draft) of the members of a topic: a snapshot, then the changes of its membership log by long
 * polls. The log is the durable part: a cursor of the live phase is a position in it, for every process and after restarts.
 * A snapshot is in the memory of the process that took it; elsewhere its cursors are answered with `reset-required`.
 */
import { createHmac } from 'node:crypto'
import { formatHash, type HeaderStore, NETWORKS, sha256d } from '@quoin/chain'
import type { Engine } from '@quoin/overlay'
import { hasCode, type Outpoint, sleep, type Topic } from '@quoin/primitives'
import { type MembershipEntry, MembershipLog, topicSnapshot } from '@quoin/txo'
import { type Chain, type Group, Observations, type Scope } from './observations.ts'
import {
  clamped,
  LiveError,
  MAXIMA,
  type OpenRequest,
  packetDigest,
  type ReadLimits,
  VERSION
} from './protocol.ts'
import { type Session, Sessions } from './sessions.ts'

/** The service of live lookups, whose query is `{topic}`. */
export const SERVICE = 'ls_topic_members'
const RULES = {
  service: SERVICE,
  selection: 'the unspent outputs that the topic admitted and did not remove',
  order: 'snapshot by score and outpoint, changes by position in the membership log of the topic',
  version: 1
}
export const RULES_DIGEST = packetDigest('lookup-rules', RULES)

const SESSION_SECONDS = 3600
const REPLAY_SECONDS = 3600
/** Outputs of one snapshot, and of all that a process holds. */
const MAX_SNAPSHOT = 100_000
const MAX_HELD = 1_000_000
const WAITERS = 1000
/** Milliseconds between reads for commits of other processes. */
const POLL_MS = 1000
const LOG_PAGE = 256

export interface LiveLookupOptions {
  readonly engine: Engine
  readonly headers: HeaderStore | undefined
  /** The public address of the node. */
  readonly provider: string
  /** Aborts when the node closes. */
  readonly closing: AbortSignal
}

interface Batch {
  readonly version: typeof VERSION
  readonly session: string
  readonly scope: Scope
  readonly phase: 'snapshot' | 'live'
  readonly groups: readonly Group[]
  readonly cursor: string
  readonly snapshotComplete: boolean
  readonly through: string
  readonly highWater: string
  readonly expiresAt: string
  readonly replayUntil: string
  readonly limits: ReadLimits
}

export class LiveLookups {
  readonly #options: LiveLookupOptions
  readonly #sessions: Sessions
  readonly #chain: Chain
  /** By session, the oldest first. */
  readonly #snapshots = new Map<string, readonly Outpoint[]>()
  #held = 0
  readonly #waiters = new Map<() => void, string>()
  #epoch: string | undefined

  constructor(options: LiveLookupOptions) {
    this.#options = options
    const { engine, headers, closing } = options
    this.#sessions = new Sessions(engine.outputs.store)
    this.#chain = chainOf(headers)
    engine.outputs.onMembership(topics => {
      for (const [wake, topic] of this.#waiters) if (topics.includes(topic as Topic)) wake()
    })
    closing.addEventListener('abort', () => {
      for (const wake of this.#waiters.keys()) wake()
    })
  }

  async open(request: OpenRequest): Promise<Batch> {
    const { requestId, service, query, requiredRulesDigest, critical = [] } = request
    const limits = clamped(request.limits)
    if (critical.length > 0) throw new LiveError('unsupported', `unknown extension: ${critical[0]}`)
    if (service !== SERVICE)
      throw new LiveError('not-found', `no live lookup is called ${service}; expected ${SERVICE}`)
    if (requiredRulesDigest !== undefined && requiredRulesDigest !== RULES_DIGEST)
      throw new LiveError('unsupported', `the rules of ${SERVICE} are ${RULES_DIGEST}`)
    const topic = this.#topicOf(query)
    const digest = packetDigest('lookup-open', { ...request, limits: { ...request.limits } })
    const known = await this.#sessions.opened(requestId, digest)
    if (known) return this.#readSnapshot(known, 0, limits)
    const { engine } = this.#options
    const { store, events } = engine.outputs
    const { position, outpoints } = await topicSnapshot(store, events, topic, MAX_SNAPSHOT).catch(error => {
      if (!hasCode(error, 'ERR_REQUEST_LIMIT')) throw error
      throw new LiveError('unsupported', error.message)
    })
    const openedAt = Math.floor(Date.now() / 1000)
    const session = await this.#sessions.open(requestId, digest, {
      topic,
      queryDigest: packetDigest('lookup-query', { service, query }),
      watermark: position,
      expiresAt: openedAt + SESSION_SECONDS,
      replayUntil: openedAt + SESSION_SECONDS + REPLAY_SECONDS
    })
    if (!session) return this.open(request)
    this.#hold(session.id, outpoints)
    return this.#readSnapshot(session, 0, limits)
  }

  async read(id: string, cursor: string, given: ReadLimits): Promise<Batch> {
    const limits = clamped(given)
    const session = await this.#current(id)
    const { phase, at } = await this.#parseCursor(session, cursor)
    return phase === 'snapshot'
      ? this.#readSnapshot(session, at, limits)
      : this.#readLive(session, at, limits)
  }

  async close(id: string): Promise<void> {
    this.#release(id)
    await this.#sessions.close(id)
  }

  #topicOf(query: unknown): Topic {
    const { topic, ...rest } = Object(query) as { topic?: unknown }
    if (typeof topic !== 'string' || Object.keys(rest).length > 0)
      throw new LiveError('invalid', `the query of ${SERVICE} is {"topic": name}`)
    if (!this.#options.engine.topics.has(topic))
      throw new LiveError('not-found', `no topic is called ${topic}`)
    return topic as Topic
  }

  async #current(id: string): Promise<Session> {
    const session = await this.#sessions.find(id)
    if (session?.isClosed) throw new LiveError('expired', 'the session is closed')
    if (!session || Date.now() / 1000 >= session.expiresAt) {
      this.#release(id)
      throw new LiveError('reset-required', 'the session is unknown or expired; open another')
    }
    return session
  }

  /** Groups of the snapshot from an index on; the last ones lead to the live phase. */
  async #readSnapshot(session: Session, from: number, limits: ReadLimits): Promise<Batch> {
    const outpoints = this.#snapshots.get(session.id)
    if (!outpoints)
      throw new LiveError('reset-required', 'the snapshot is not in the memory of this process; open another')
    const { watermark } = session
    const scope = await this.#scope(session)
    const observations = new Observations(this.#options.engine.outputs, scope)
    const fill = new Fill(limits, this.#envelope(session, scope, limits))
    let next = from
    for (; next < outpoints.length; next++) {
      const group = await observations.ofSnapshot(next, outpoints[next]!, watermark)
      if (group && !fill.add(group)) break
    }
    const isComplete = next >= outpoints.length
    const highWater = await this.#log(session).last()
    return {
      ...this.#envelope(session, scope, limits),
      phase: 'snapshot',
      groups: fill.groups,
      cursor: await this.#cursor(session, isComplete ? `l.${watermark}` : `s.${next}`),
      snapshotComplete: isComplete,
      through: String(watermark),
      highWater: String(Math.max(highWater, watermark))
    }
  }

  /** Groups of the log after a position; waits for one when there is none. */
  async #readLive(session: Session, after: number, limits: ReadLimits): Promise<Batch> {
    const scope = await this.#scope(session)
    const deadline = Math.min(performance.now() + limits.waitMs, leftOf(session))
    const { closing } = this.#options
    let through = after
    for (;;) {
      const waiting = this.#wait(session.topic)
      try {
        const fill = new Fill(limits, this.#envelope(session, scope, limits))
        const { reached, last } = await this.#examine(session, scope, through, fill)
        through = reached
        const left = deadline - performance.now()
        if (fill.groups.length > 0 || left <= 0 || closing.aborted) {
          // The session may have been closed, or expired, during the poll.
          await this.#current(session.id)
          return {
            ...this.#envelope(session, scope, limits),
            phase: 'live',
            groups: fill.groups,
            cursor: await this.#cursor(session, `l.${through}`),
            snapshotComplete: true,
            through: String(through),
            highWater: String(Math.max(last, through))
          }
        }
        const enough = new AbortController()
        await Promise.race([waiting.woken, sleep(Math.min(POLL_MS, left), { signal: enough.signal })])
        enough.abort()
      } finally {
        waiting.end()
      }
    }
  }

  async #examine(
    session: Session,
    scope: Scope,
    after: number,
    fill: Fill
  ): Promise<{ readonly reached: number; readonly last: number }> {
    const log = this.#log(session)
    const observations = new Observations(this.#options.engine.outputs, scope)
    let reached = after
    for (;;) {
      const { entries, last } = await log.read({ after: reached, limit: LOG_PAGE })
      const expected = entries[0]?.position
      if (reached > last || (expected !== undefined && expected !== reached + 1))
        throw new LiveError(
          'reset-required',
          'the log does not continue after the cursor; open another session'
        )
      for (const entry of entries as readonly MembershipEntry[]) {
        const group = await observations.ofEntry(entry)
        if (group && !fill.add(group)) return { reached, last }
        reached = entry.position
      }
      if (entries.length < LOG_PAGE) return { reached, last }
    }
  }

  /** A wake that is registered before the log is read, so that no commit is missed between the two. */
  #wait(topic: string): { readonly woken: Promise<void>; readonly end: () => void } {
    if (this.#waiters.size >= WAITERS)
      throw new LiveError('unavailable', 'too many live lookups wait', {
        retryable: true,
        retryAfterMs: POLL_MS
      })
    let wake: () => void = () => undefined
    const woken = new Promise<void>(resolve => {
      wake = resolve
    })
    this.#waiters.set(wake, topic)
    return { woken, end: () => void this.#waiters.delete(wake) }
  }

  #log({ topic }: Session): MembershipLog {
    return new MembershipLog(this.#options.engine.outputs.store, topic as Topic)
  }

  #envelope({ id, expiresAt, replayUntil }: Session, scope: Scope, limits: ReadLimits) {
    return {
      version: VERSION,
      session: id,
      scope,
      expiresAt: String(expiresAt),
      replayUntil: String(replayUntil),
      limits
    } as const
  }

  async #scope({ queryDigest }: Session): Promise<Scope> {
    const { provider } = this.#options
    const epoch = await this.#epochOf()
    return {
      chain: this.#chain,
      provider,
      service: SERVICE,
      queryDigest,
      rulesDigest: RULES_DIGEST,
      access: 'public',
      epoch
    }
  }

  async #epochOf(): Promise<string> {
    this.#epoch ??= await this.#sessions.epoch()
    return this.#epoch
  }

  /** A position with the mark of its session: a client cannot make one. */
  async #cursor(session: Session, position: string): Promise<string> {
    return `${position}.${await this.#mark(session, position)}`
  }

  async #mark({ id }: Session, position: string): Promise<string> {
    return createHmac('sha256', `${await this.#epochOf()}.${id}`)
      .update(position)
      .digest('hex')
      .slice(0, 32)
  }

  async #parseCursor(
    session: Session,
    cursor: string
  ): Promise<{ readonly phase: 'snapshot' | 'live'; readonly at: number }> {
    const [, phase, digits, mark] = /^([sl])\.(\d{1,15})\.([0-9a-f]{32})$/.exec(cursor) ?? []
    if (mark === undefined || mark !== (await this.#mark(session, `${phase}.${digits}`)))
      throw new LiveError('reset-required', 'the cursor is not of this session; open another')
    return { phase: phase === 's' ? 'snapshot' : 'live', at: Number(digits) }
  }

  #hold(id: string, outpoints: readonly Outpoint[]): void {
    this.#snapshots.set(id, outpoints)
    this.#held += outpoints.length
    for (const oldest of this.#snapshots.keys()) {
      if (this.#held <= MAX_HELD || oldest === id) return
      this.#release(oldest)
    }
  }

  #release(id: string): void {
    this.#held -= this.#snapshots.get(id)?.length ?? 0
    this.#snapshots.delete(id)
  }
}

/** Milliseconds on the monotonic clock at which a session expires. */
const leftOf = ({ expiresAt }: Session): number => performance.now() + expiresAt * 1000 - Date.now()

/** Digits of cursor, positions and mark, and the names and marks of the properties of a batch. */
const ENVELOPE = 512

/** The groups of a batch, within its limits; whole groups only. */
class Fill {
  readonly groups: Group[] = []
  readonly #limits: ReadLimits
  #bytes: number
  #observations = 0

  constructor(limits: ReadLimits, envelope: object) {
    this.#limits = limits
    this.#bytes = JSON.stringify(envelope).length + ENVELOPE
    if (this.#bytes > limits.maxBytes)
      throw new LiveError('limited', 'a batch without groups has more bytes than maxBytes', {
        limit: { kind: 'envelope', minimumBytes: this.#bytes }
      })
  }

  /** Whether the group was added; a first group that does not fit is refused, since nothing could follow it. */
  add(group: Group): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(group)) + 1
    const count = group.observations.length
    const { maxBytes, maxObservations } = this.#limits
    if (this.#bytes + bytes <= maxBytes && this.#observations + count <= maxObservations) {
      this.groups.push(group)
      this.#bytes += bytes
      this.#observations += count
      return true
    }
    if (this.groups.length > 0) return false
    const isPermanent = this.#bytes + bytes > MAXIMA.maxBytes || count > MAXIMA.maxObservations
    throw new LiveError('limited', 'the next group has more bytes or observations than the limits', {
      limit: isPermanent
        ? { kind: 'permanent-group' }
        : { kind: 'group', minimumBytes: this.#bytes + bytes, minimumObservations: count }
    })
  }
}

const chainOf = (headers: HeaderStore | undefined): Chain => {
  const network = headers?.network
  return {
    network: network ?? 'unknown',
    genesisHash: network ? formatHash(sha256d(NETWORKS[network].genesis)) : '00'.repeat(32)
  }
}
