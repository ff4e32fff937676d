/** Whether the node lives, whether it is ready, and how it does. */

import { formatHash } from '@quoin/chain'
import { JSON_TYPE, json, type Route, route } from '@quoin/http'
import type { Engine } from '@quoin/overlay'
import type { Topic } from '@quoin/primitives'
import type { EngineStats } from '@quoin/store'
import { Type } from '@sinclair/typebox'
import { version } from '../../package-files.ts'
import type { Context } from '../context.ts'
import { ROLES, type Role } from '../roles.ts'
import { tokenContext } from './onesat/bsv21.ts'
import { CompletenessJson, completenessJson, completenessOf, PendingJson } from './onesat/completeness.ts'

const Service = Type.Object({
  name: Type.String(),
  version: Type.String(),
  startedAt: Type.String(),
  uptimeMs: Type.Number()
})

const Time = Type.Optional(Type.Number({ description: 'Unix milliseconds.' }))
const PartSchema = Type.Object(
  {
    name: Type.String(),
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('error')], {
      description: '`error` makes the node unready, `degraded` does not.'
    }),
    message: Type.Optional(Type.String()),
    since: Time,
    lastSuccess: Time,
    lastError: Type.Optional(Type.String()),
    lastErrorAt: Time
  },
  { $id: 'Part' }
)

const Report = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('error')]),
    live: Type.Boolean(),
    ready: Type.Boolean(),
    service: Service,
    checks: Type.Array(PartSchema),
    context: Type.Record(Type.String(), Type.Unknown())
  },
  { $id: 'HealthReport' }
)

const Count = Type.Integer({ minimum: 0 })
const HealthState = Type.Union(
  [Type.Literal('untried'), Type.Literal('working'), Type.Literal('failing'), Type.Literal('stalled')],
  { description: 'Stalled: it takes questions and does not answer.' }
)
const Peer = Type.Object({
  topic: Type.String(),
  peer: Type.String(),
  state: HealthState,
  since: Type.Number({ description: 'When the state began, in unix milliseconds.' }),
  running: Type.Boolean(),
  live: Type.Boolean({ description: 'Whether the stream of its changes is open.' }),
  lastRun: Type.Optional(Type.Number({ description: 'Unix milliseconds.' })),
  lastSuccess: Type.Optional(Type.Number({ description: 'Unix milliseconds.' })),
  lastError: Type.Optional(Type.String()),
  lastReport: Type.Optional(Type.Unknown()),
  agrees: Type.Optional(
    Type.Boolean({ description: 'Whether its anchors agree, if both nodes have anchors of the topic.' })
  ),
  queued: Count,
  dead: Count,
  lag: Type.Number({ description: 'Seconds that the oldest item to fetch has waited.' })
})
const Status = Type.Object(
  {
    service: Service,
    roles: Type.Array(Type.Union(ROLES.map(role => Type.Literal(role))), {
      description: 'The parts of a node that this process runs.'
    }),
    leases: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Tasks that run in one of the processes on the store, and whether this process runs them.'
    }),
    parts: Type.Array(PartSchema),
    store: Type.Object({
      engine: Type.String(),
      bytes: Type.Integer(),
      durability: Type.Optional(
        Type.Union([Type.Literal('standby'), Type.Literal('server')], {
          description:
            'Of PostgreSQL: whether an acknowledged commit is on a synchronous standby too, or on one server alone, with which the last commits may be lost.'
        })
      ),
      warning: Type.Optional(Type.String({ description: 'Why the server may lose commits.' }))
    }),
    journal: Type.Object({ position: Type.Integer({ description: 'Of the last change.' }) }),
    chain: Type.Union(
      [
        Type.Object({
          height: Type.Integer(),
          hash: Type.String(),
          time: Type.Integer({ description: 'Of the last block, in unix seconds.' })
        }),
        Type.Null()
      ],
      { description: 'Null when the node keeps no headers.' }
    ),
    topics: Type.Array(Type.String()),
    anchors: Type.Record(
      Type.String(),
      Type.Object({
        start: Type.Integer({ description: 'The first height of the anchors.' }),
        height: Type.Integer({ description: 'The last height, below the start if there is none.' }),
        tac: Type.Optional(Type.String({ description: 'The anchor at that height.' }))
      }),
      { description: 'The last anchor of each topic that has anchors (BRC-136).' }
    ),
    lookups: Type.Array(Type.String()),
    totals: Type.Object(
      { submits: Count, refused: Count, admitted: Count },
      { description: 'Submissions, and the outputs that topics admitted, since the process began.' }
    ),
    queues: Type.Record(
      Type.String(),
      Type.Object({
        due: Count,
        leased: Count,
        waiting: Count,
        dead: Count,
        age: Type.Optional(Type.Union([Type.Number(), Type.Null()]))
      })
    ),
    sync: Type.Array(Peer),
    tokens: Type.Union(
      [
        Type.Object({
          sources: Type.Array(Type.Record(Type.String(), Type.Unknown())),
          ready: Count,
          idle: Count,
          discovery: PendingJson,
          spends: Type.Optional(
            Type.Object(
              { asked: Count, found: Count, sweptAt: Type.Optional(Type.Number()) },
              {
                description:
                  'Unspent outputs whose spenders a service was asked for, and unknown ones that it had.'
              }
            )
          ),
          completeness: CompletenessJson
        }),
        Type.Null()
      ],
      {
        description: 'The token pipeline: how far its sources are, and the tokens that have something to do.'
      }
    ),
    broadcast: Type.Union(
      [
        Type.Object({
          when: Type.Union([Type.Literal('before'), Type.Literal('with')]),
          processors: Type.Array(
            Type.Object({
              name: Type.String(),
              state: HealthState,
              lastSuccess: Time,
              lastError: Type.Optional(Type.String())
            })
          ),
          transactions: Type.Object({ queued: Count, sent: Count, seen: Count, rejected: Count })
        }),
        Type.Null()
      ],
      {
        description:
          'Transactions on their way into the network, those that are not mined and those that are refused.'
      }
    ),
    streams: Count
  },
  { $id: 'Status' }
)

export const healthRoutes = (context: Context): Route[] => {
  const reported = async (): Promise<{ status: number; report: unknown }> => {
    const checks = await context.parts.states()
    const has = (status: string): boolean => checks.some(each => each.status === status)
    const ready = !has('error')
    return {
      status: ready ? 200 : 503,
      report: {
        status: !ready ? 'error' : has('degraded') ? 'degraded' : 'ok',
        live: true,
        ready,
        service: serviceOf(context),
        checks,
        context: { roles: rolesOf(context) }
      }
    }
  }
  const report = (path: string, name: string, summary: string): Route =>
    route({
      method: 'get',
      path,
      name,
      summary,
      tag: 'health',
      responses: {
        200: { description: 'Ready.', content: { [JSON_TYPE]: Report } },
        503: { description: 'Not ready; `checks` says why.', content: { [JSON_TYPE]: Report } }
      },
      async handle() {
        const { status, report: body } = await reported()
        return json(body, status)
      }
    })
  return [
    route({
      method: 'get',
      path: '/health/live',
      name: 'healthLive',
      summary: 'Whether the process answers at all.',
      tag: 'health',
      responses: { 200: { description: 'It does.', content: { [JSON_TYPE]: Report } } },
      handle: () =>
        json({
          status: 'ok',
          live: true,
          ready: !context.closing.aborted,
          service: serviceOf(context),
          checks: [],
          context: { roles: rolesOf(context) }
        })
    }),
    report('/health/ready', 'healthReady', 'Whether to send requests here.'),
    report('/health', 'health', 'Readiness, as `/health/ready` has it.'),
    status(context),
    metrics(context)
  ]
}

const serviceOf = ({ options, started }: Context) => ({
  name: options.name ?? 'quoin',
  version,
  startedAt: new Date(started).toISOString(),
  uptimeMs: Date.now() - started
})

const storeOf = ({ engine, bytes, details: { durability, warning } }: EngineStats) => ({
  engine,
  bytes,
  durability,
  warning
})

const rolesOf = ({ options }: Context): readonly Role[] => options.roles ?? ROLES

const status = (context: Context): Route => {
  const { engine, headers, queues, metrics: counted } = context
  return route({
    method: 'get',
    path: '/status',
    name: 'status',
    summary: 'Topics, lookups, chain, queues and health of the node.',
    tag: 'health',
    responses: {
      200: {
        description: 'The status; fields depend on the parts of the node.',
        content: { [JSON_TYPE]: Status }
      }
    },
    async handle() {
      const { store, journal } = engine.outputs
      const [parts, stored, position, tip, totals, counts] = await Promise.all([
        context.parts.states(),
        store.stats(),
        journal.last(),
        headers?.tip(),
        counted.totals(),
        Promise.all([...queues()].map(async ([queue, each]) => [queue, await each.stats()] as const))
      ])
      return json({
        service: serviceOf(context),
        roles: rolesOf(context),
        leases: Object.fromEntries(
          Object.entries(context.options.leases ?? {}).map(([name, lease]) => [
            name,
            lease.signal !== undefined
          ])
        ),
        parts,
        store: storeOf(stored),
        journal: { position },
        chain: tip ? { height: tip.height, hash: formatHash(tip.header.hash), time: tip.header.time } : null,
        topics: [...engine.topics.keys()],
        anchors: await anchorsOf(engine),
        lookups: [...engine.lookups.keys()],
        totals,
        queues: Object.fromEntries(counts),
        sync: (await context.options.sync?.status()) ?? [],
        tokens: (await tokenStatus(context)) ?? null,
        broadcast: (await broadcastStatus(context)) ?? null,
        streams: counted.streams
      })
    }
  })
}

const broadcastStatus = async ({ options: { broadcaster } }: Context) =>
  broadcaster && {
    when: broadcaster.when,
    processors: broadcaster.network.processors.map(({ name, health: { state, lastSuccess, lastError } }) => ({
      name,
      state,
      lastSuccess,
      lastError
    })),
    transactions: await broadcaster.records.counts()
  }

const anchorsOf = async ({ anchors, topics }: Engine) => {
  const found: Record<string, { start: number; height: number; tac?: string }> = {}
  for (const topic of topics.keys()) {
    const start = anchors?.start(topic as Topic)
    if (!anchors || start === undefined) continue
    const tip = await anchors.tip(topic as Topic)
    found[topic] = { start, height: tip?.height ?? start - 1, ...(tip && { tac: formatHash(tip.tac) }) }
  }
  return found
}

const tokenStatus = async (context: Context) => {
  const tokens = tokenContext(context)
  if (!tokens) return undefined
  const completeness = completenessJson(await completenessOf(tokens, undefined))
  return { ...(await tokens.node.pipeline.status()), completeness }
}

const metrics = ({ metrics: { registry } }: Context): Route =>
  route({
    method: 'get',
    path: '/metrics',
    name: 'metrics',
    summary: 'For Prometheus.',
    tag: 'health',
    responses: { 200: { description: 'Its text format.', content: { 'text/plain': Type.String() } } },
    handle: async () => ({ type: registry.contentType, body: await registry.metrics() })
  })
