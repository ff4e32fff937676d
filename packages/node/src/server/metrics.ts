/** Metrics for Prometheus, in a registry of their own. Counts of the store are read when Prometheus collects. */

import { type HeaderStore, signatureBackend } from '@quoin/chain'
import type { Broadcaster, Engine, HostedModuleState, PluginHost, Steak, SyncService } from '@quoin/overlay'
import { startedTasks, type TaskState } from '@quoin/primitives'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { measureBroadcasts } from './broadcast-metrics.ts'
import { measureOperation } from './operator-metrics.ts'
import type { NamedState, Parts } from './parts.ts'
import { pluginLabel } from './plugin-parts.ts'
import type { NodeQueues } from './queues.ts'
import type { NodeTokens } from './tokens.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** The measured parts beside the engine. */
export interface MetricSources {
  readonly headers: HeaderStore | undefined
  readonly sync: SyncService | undefined
  readonly plugins: Pick<PluginHost, 'states'> | undefined
  readonly broadcaster: Broadcaster | undefined
  readonly queues: NodeQueues
  readonly parts: Parts
  readonly tokens: NodeTokens | undefined
  readonly backups: string | undefined
}

export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Histogram<'method' | 'route' | 'status'>
  readonly #submits: Counter<'outcome'>
  readonly #submitSeconds: Histogram
  readonly #admitted: Counter<'topic'>
  readonly #topicFailures: Counter<'topic'>
  readonly #lookups: Counter<'service'>
  streams = 0

  constructor(engine: Engine, sources: MetricSources) {
    const { headers, sync, plugins, broadcaster, queues, parts } = sources
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Histogram({
      name: 'quoin_http_request_seconds',
      help: 'Requests by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registers
    })
    this.#submits = new Counter({
      name: 'quoin_submits_total',
      help: 'Submissions, answered and refused.',
      labelNames: ['outcome'],
      registers
    })
    this.#submitSeconds = new Histogram({
      name: 'quoin_submit_seconds',
      help: 'Submissions from verification to the durable commit.',
      buckets: SECONDS,
      registers
    })
    this.#admitted = new Counter({
      name: 'quoin_admitted_outputs_total',
      help: 'Outputs that topics admitted, each submission counted.',
      labelNames: ['topic'],
      registers
    })
    this.#topicFailures = new Counter({
      name: 'quoin_topic_failures_total',
      help: 'Submissions that a topic failed on.',
      labelNames: ['topic'],
      registers
    })
    this.#lookups = new Counter({
      name: 'quoin_lookups_total',
      help: 'Lookups that were answered.',
      labelNames: ['service'],
      registers
    })
    this.#measureInterpreter(engine)
    this.#measureSignatures()
    this.#measureParts(parts)
    this.#measure(engine, queues)
    this.#measureTasks()
    if (headers) this.#measureChain(headers)
    if (sync) this.#measureSync(sync)
    this.#measureDeliveries(engine)
    if (plugins) this.#measurePlugins(plugins)
    if (broadcaster) measureBroadcasts(this.registry, broadcaster)
    measureOperation(this.registry, { ...sources, store: engine.outputs.store })
  }

  #measure({ outputs }: Engine, queues: MetricSources['queues']): void {
    const registers = [this.registry]
    const commits = new Histogram({
      name: 'quoin_commit_seconds',
      help: 'Commits to the output store, until they are durable.',
      buckets: SECONDS,
      registers
    })
    outputs.onCommit(seconds => commits.observe(seconds))
    new Gauge({
      name: 'quoin_queue_items',
      help: 'Items of a queue by state.',
      labelNames: ['queue', 'state'],
      registers,
      async collect() {
        const all = await Promise.all(
          [...queues()].map(async ([queue, each]) => [queue, await each.stats()] as const)
        )
        this.reset()
        for (const [queue, { age: _, ...counts }] of all) {
          for (const [state, count] of Object.entries(counts)) this.set({ queue, state }, count)
        }
      }
    })
    new Gauge({
      name: 'quoin_queue_age_seconds',
      help: 'How long the first item of a queue has been in it.',
      labelNames: ['queue'],
      registers,
      async collect() {
        const all = await Promise.all(
          [...queues()].map(async ([queue, each]) => [queue, await each.stats()] as const)
        )
        this.reset()
        for (const [queue, { age }] of all) this.set({ queue }, age ?? 0)
      }
    })
    new Gauge({
      name: 'quoin_store_bytes',
      help: 'The size of the store.',
      labelNames: ['engine'],
      registers,
      async collect() {
        const { engine, bytes } = await outputs.store.stats()
        this.set({ engine }, bytes)
      }
    })
    new Gauge({
      name: 'quoin_journal_position',
      help: 'The last position of the journal of changes.',
      registers,
      async collect() {
        this.set(await outputs.journal.last())
      }
    })
    const streams = () => this.streams
    new Gauge({
      name: 'quoin_live_streams',
      help: 'Clients that follow changes.',
      registers,
      collect() {
        this.set(streams())
      }
    })
  }

  #measureInterpreter({ interpreter }: Engine): void {
    const registers = [this.registry]
    new Gauge({
      name: 'quoin_interpreter_processes',
      help: 'Processes for scripts of no known form, by whether they run a job.',
      labelNames: ['state'],
      registers,
      collect() {
        const { busy, processes } = interpreter.state
        this.set({ state: 'busy' }, busy)
        this.set({ state: 'free' }, processes - busy)
      }
    })
    new Gauge({
      name: 'quoin_interpreter_queue_jobs',
      help: 'Transactions that wait for the interpreter. Long ones ran for a slice and start again.',
      labelNames: ['lane'],
      registers,
      collect() {
        const { short, long } = interpreter.state
        this.set({ lane: 'short' }, short)
        this.set({ lane: 'long' }, long)
      }
    })
    new Counter({
      name: 'quoin_interpreter_refused_total',
      help: 'Transactions that the interpreter refused as busy.',
      registers,
      collect() {
        this.reset()
        this.inc(interpreter.state.refused)
      }
    })
  }

  #measureParts(parts: Parts): void {
    const registers = [this.registry]
    const labelNames = ['part'] as const
    const gauge = (name: string, help: string, of: (state: NamedState) => number | undefined) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const all = await parts.states()
          this.reset()
          for (const state of all) {
            const value = of(state)
            if (value !== undefined) this.set({ part: state.name }, value)
          }
        }
      })
    const seconds = (milliseconds: number | undefined) => milliseconds && milliseconds / 1000
    gauge('quoin_part_up', '1 where a part of the node works, else 0.', ({ status }) =>
      Number(status === 'ok')
    )
    gauge('quoin_part_since_seconds', 'When a part came into its state, in unix seconds.', ({ since }) =>
      seconds(since)
    )
    gauge('quoin_part_last_success_seconds', 'When a part last worked, in unix seconds.', state =>
      seconds(state.lastSuccess)
    )
    gauge('quoin_part_last_error_seconds', 'When a part last failed, in unix seconds.', state =>
      seconds(state.lastErrorAt)
    )
  }

  #measureSignatures(): void {
    new Gauge({
      name: 'quoin_signature_backend',
      help: 'What verifies signatures: native is libsecp256k1, javascript is forty times slower.',
      labelNames: ['backend'],
      registers: [this.registry]
    }).set({ backend: signatureBackend() }, 1)
  }

  #measureTasks(): void {
    const registers = [this.registry]
    const gauge = (name: string, help: string, measure: (state: TaskState) => number) =>
      new Gauge({
        name,
        help,
        labelNames: ['task'],
        registers,
        collect() {
          this.reset()
          for (const { state } of startedTasks) this.inc({ task: state.name }, measure(state))
        }
      })
    gauge('quoin_task_passes', 'Passes of a background task since its start.', ({ passes }) => passes)
    gauge(
      'quoin_task_failures',
      'Failed passes of a background task since its start.',
      ({ failures }) => failures
    )
    gauge(
      'quoin_task_seconds',
      'Duration of all passes of a background task since its start.',
      ({ milliseconds }) => milliseconds / 1000
    )
  }

  #measureChain(headers: HeaderStore): void {
    const registers = [this.registry]
    new Gauge({
      name: 'quoin_chain_height',
      help: 'The height of the chain of most work.',
      registers,
      async collect() {
        this.set((await headers.tip()).height)
      }
    })
    new Gauge({
      name: 'quoin_chain_tip_age_seconds',
      help: 'How long ago the last block was made, by its own time.',
      registers,
      async collect() {
        this.set(Date.now() / 1000 - (await headers.tip()).header.time)
      }
    })
  }

  #measureSync(sync: SyncService): void {
    const registers = [this.registry]
    const labelNames = ['topic', 'peer'] as const
    new Gauge({
      name: 'quoin_sync_lag_seconds',
      help: 'How long the oldest item to fetch from a peer has waited.',
      labelNames,
      registers,
      async collect() {
        const all = await sync.status()
        // Without the peers that are none any more.
        this.reset()
        for (const { topic, peer, lag } of all) this.set({ topic, peer }, lag)
      }
    })
    new Gauge({
      name: 'quoin_sync_items',
      help: 'Items to fetch from a peer, and abandoned ones.',
      labelNames: [...labelNames, 'state'],
      registers,
      async collect() {
        const all = await sync.status()
        this.reset()
        for (const { topic, peer, queued, dead } of all) {
          this.set({ topic, peer, state: 'queued' }, queued)
          this.set({ topic, peer, state: 'dead' }, dead)
        }
      }
    })
  }

  #measureDeliveries({ outbox }: Engine): void {
    const registers = [this.registry]
    new Gauge({
      name: 'quoin_lookup_entries',
      help: 'Changes of topics that a lookup service has yet to take: behind its cursor, tried again, given up.',
      labelNames: ['service', 'state'],
      registers,
      async collect() {
        for (const { service, lag, retrying, dead } of await outbox.states()) {
          this.set({ service, state: 'behind' }, lag)
          this.set({ service, state: 'retrying' }, retrying)
          this.set({ service, state: 'dead' }, dead)
        }
      }
    })
    new Gauge({
      name: 'quoin_lookup_failing',
      help: '1 while calls of a lookup service pause after failures, else 0.',
      labelNames: ['service'],
      registers,
      async collect() {
        for (const { service, status } of await outbox.states())
          this.set({ service }, Number(status === 'failing'))
      }
    })
  }

  #measurePlugins(plugins: Pick<PluginHost, 'states'>): void {
    const registers = [this.registry]
    const labelNames = ['plugin'] as const
    const gauge = (name: string, help: string, of: (state: HostedModuleState) => number | undefined) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          for (const state of plugins.states()) {
            const value = of(state)
            if (value !== undefined) this.set({ plugin: pluginLabel(state) }, value)
          }
        }
      })
    gauge('quoin_plugin_up', '1 while the process of a plug-in runs, else 0.', ({ state }) =>
      Number(state === 'running')
    )
    gauge(
      'quoin_plugin_restarts',
      'Restarts of the process of a plug-in since the node began.',
      ({ restarts }) => restarts
    )
    gauge('quoin_plugin_memory_bytes', 'Resident memory of the process of a plug-in.', ({ memory }) => memory)
  }

  /** Since the process began. */
  async totals(): Promise<{ readonly submits: number; readonly refused: number; readonly admitted: number }> {
    const [{ values: submits }, { values: admitted }] = await Promise.all([
      this.#submits.get(),
      this.#admitted.get()
    ])
    const refused = sum(submits.filter(({ labels }) => labels.outcome === 'refused'))
    return { submits: sum(submits), refused, admitted: sum(admitted) }
  }

  requested(method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe({ method, route, status: String(status) }, seconds)
  }

  submitted(steak: Steak, seconds: number): void {
    this.#submits.inc({ outcome: 'answered' })
    this.#submitSeconds.observe(seconds)
    for (const [topic, { outputsToAdmit, error }] of Object.entries(steak)) {
      if (error) this.#topicFailures.inc({ topic })
      else this.#admitted.inc({ topic }, outputsToAdmit.length)
    }
  }

  refused(): void {
    this.#submits.inc({ outcome: 'refused' })
  }

  looked(service: string): void {
    this.#lookups.inc({ service })
  }
}

const sum = (values: readonly { readonly value: number }[]): number =>
  values.reduce((total, { value }) => total + value, 0)
