/** `quoin status`: how a node does, and whether it is ready. */
import { bytes, count, EXIT, paint, print, printJson, table } from '@quoin/primitives/command'
import { ask, askJson } from './http.ts'

interface Status {
  readonly service: { readonly name: string; readonly version: string; readonly uptimeMs: number }
  readonly roles: readonly string[]
  readonly leases: Readonly<Record<string, boolean>>
  readonly store: {
    readonly engine: string
    readonly bytes: number
    readonly durability?: keyof typeof DURABILITY
    readonly warning?: string
  }
  readonly journal: { readonly position: number }
  readonly chain: { readonly height: number; readonly hash: string } | null
  readonly topics: readonly string[]
  /** Absent in answers of nodes without anchors. */
  readonly anchors?: Readonly<Record<string, { readonly height: number; readonly tac?: string }>>
  readonly lookups: readonly string[]
  readonly queues: Readonly<Record<string, Readonly<Record<string, number | null>>>>
  readonly sync: readonly PeerStatus[]
  readonly tokens?: {
    readonly sources: readonly SourceStatus[]
    readonly ready: number
    readonly idle: number
    /** Absent in answers of nodes of version 0.1. */
    readonly completeness?: { readonly complete: boolean }
  } | null
  /** Absent in answers of nodes of version 0.1. */
  readonly broadcast?: BroadcastStatus | null
}

interface BroadcastStatus {
  readonly when: 'before' | 'with'
  readonly processors: readonly {
    readonly name: string
    readonly state: string
    readonly lastError?: string
  }[]
  readonly transactions: Readonly<Record<string, number>>
}

const DURABILITY = {
  standby: 'on a synchronous standby too',
  server: 'on one server: a failover may lose the last ones'
} as const

interface SourceStatus {
  readonly source: string
  readonly state: string
  readonly at?: number
  readonly end?: number
  readonly transactions: number
  readonly rate: number
  readonly left?: number
  readonly lastError?: string
}

interface PeerStatus {
  readonly topic: string
  readonly peer: string
  readonly state: string
  readonly since: number
  readonly live: boolean
  readonly queued: number
  readonly dead: number
  readonly lastSuccess?: number
  readonly lastError?: string
  readonly agrees?: boolean
}

interface Part {
  readonly name: string
  readonly status: string
  readonly message?: string
  readonly since?: number
}

interface Health {
  readonly ready: boolean
  readonly checks: readonly Part[]
}

export const status = async (url: string, json: boolean): Promise<number> => {
  const found = await askJson<Status>(url, '/status')
  // Not ready is status 503, and still an answer.
  const health = (await (await ask(url, '/health/ready')).json()) as Health
  if (json) printJson({ url, ready: health.ready, checks: health.checks, ...found })
  else report(url, found, health)
  return health.ready ? EXIT.ok : EXIT.no
}

const report = (
  url: string,
  {
    service,
    roles,
    leases,
    store,
    journal,
    chain,
    topics,
    anchors = {},
    lookups,
    queues,
    sync,
    tokens,
    broadcast
  }: Status,
  health: Health
): void => {
  const ready = health.ready ? paint('green', 'ready') : paint('red', 'not ready')
  print(`${paint('bold', service.name)} ${service.version} at ${url}: ${ready}`)
  for (const { name, status: state, message, since } of health.checks) {
    const color = state === 'error' ? 'red' : 'yellow'
    const time = since === undefined ? '' : `, for ${ago(since)}`
    if (state !== 'ok') print(`  ${paint(color, name)}: ${message ?? state}${time}`)
  }
  print(
    table([
      ['  up', duration(service.uptimeMs / 1000)],
      ['  roles', roles.join(', ')],
      ...Object.entries(leases).map(([name, isHeld]) => [
        `  lease ${name}`,
        isHeld ? 'held' : 'held by another process'
      ]),
      ['  store', `${store.engine}, ${bytes(store.bytes)}`],
      ...(store.durability ? [['  commits', DURABILITY[store.durability]]] : []),
      ['  chain', chain ? `height ${count(chain.height)}, ${chain.hash}` : 'none: proofs are taken on trust'],
      ['  changes', count(journal.position)],
      ['  topics', topics.join(', ') || 'none'],
      ...Object.entries(anchors).map(([topic, anchor]) => [
        `  anchor ${topic}`,
        anchorLine(
          anchor,
          sync.filter(each => each.topic === topic)
        )
      ]),
      ['  lookups', lookups.join(', ') || 'none'],
      ...Object.entries(queues).map(([name, stats]) => [`  queue ${name}`, figures(stats)]),
      ...(broadcast ? broadcastRows(broadcast) : []),
      ...sync.map(each => [`  peer ${each.topic}`, peerLine(each)]),
      ...(tokens
        ? [
            [
              '  tokens',
              `${count(tokens.ready)} to work on, ${count(tokens.idle)} not active${completenessText(tokens.completeness)}`
            ]
          ]
        : []),
      ...(tokens?.sources ?? []).map(each => [`  ${each.source}`, going(each)])
    ])
  )
}

const broadcastRows = ({ when, processors, transactions }: BroadcastStatus): string[][] => [
  ['  broadcast', `${when} admission: ${figures(transactions)}`],
  ...processors.map(({ name, state, lastError }) => [
    '  processor',
    `${name}: ${state}${lastError === undefined ? '' : `; ${paint('red', lastError)}`}`
  ])
]

const completenessText = (completeness: { readonly complete: boolean } | undefined): string =>
  completeness === undefined ? '' : completeness.complete ? ', complete' : ', incomplete'

/** An anchor, and the peers that have the same one. */
const anchorLine = (
  { height, tac }: { readonly height: number; readonly tac?: string },
  peers: readonly PeerStatus[]
): string => {
  const compared = peers.filter(({ agrees }) => agrees !== undefined)
  const agreeing = compared.filter(({ agrees }) => agrees).length
  const agreement = compared.length === 0 ? '' : `, ${agreeing} of ${compared.length} compared peers agree`
  return `${tac === undefined ? 'none before its start' : `${tac} at height ${count(height)}`}${agreement}`
}

const peerLine = ({ peer, state, since, live, queued, dead, lastSuccess, lastError }: PeerStatus): string => {
  const last = lastSuccess === undefined ? 'never answered' : `last answered ${ago(lastSuccess)} ago`
  const failed = queued + dead === 0 ? '' : `, ${count(queued)} queued, ${count(dead)} dead`
  const wrong = lastError === undefined ? '' : `; ${paint('red', lastError)}`
  return `${peer}: ${state}${live ? ', live' : ''} for ${ago(since)}, ${last}${failed}${wrong}`
}

const ago = (milliseconds: number): string => duration((Date.now() - milliseconds) / 1000)

const figures = (stats: Readonly<Record<string, number | null>>): string =>
  Object.entries(stats)
    .map(([name, value]) => `${name} ${value === null ? '-' : count(value)}`)
    .join(', ')

/** How far a source is, how fast it goes, and how long that will take. */
const going = ({ state, at, end, transactions, rate, left, lastError }: SourceStatus): string => {
  const place = at === undefined ? '' : ` at ${count(at)}${end === undefined ? '' : ` of ${count(end)}`}`
  const time = left === undefined || left === 0 ? '' : `, ${duration(left)} left`
  const wrong = lastError === undefined ? '' : `; ${paint('red', lastError)}`
  return `${state}${place}, ${count(transactions)} transactions, ${rate.toFixed(0)} a second${time}${wrong}`
}

/** 3 days 4 h, 5 min 6 s, 7 s. */
export const duration = (seconds: number): string => {
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1]
  ]
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first === -1) return '0 s'
  let rest = Math.round(seconds)
  return units
    .slice(first, first + 2)
    .map(([name, size]) => {
      const value = Math.floor(rest / size)
      rest -= value * size
      return `${value} ${name}`
    })
    .join(' ')
}
