/** Metrics of the world around a node: its sources, its peers, its disk, its backups, its version. */
import type { SourceProgress } from '@quoin/bsv21'
import type { SyncService, SyncStatus } from '@quoin/overlay'
import type { Store } from '@quoin/store'
import { Gauge, type Registry } from 'prom-client'
import { version } from '../package-files.ts'
import { diskSpace, newestBackup } from './disk.ts'
import type { Parts } from './parts.ts'
import type { NodeTokens } from './tokens.ts'

export interface OperatorMetricSources {
  readonly parts: Parts
  readonly tokens: NodeTokens | undefined
  readonly sync: SyncService | undefined
  readonly store: Store
  /** The directory of backups over HTTP. */
  readonly backups: string | undefined
}

export const measureOperation = (registry: Registry, sources: OperatorMetricSources): void => {
  const { parts, tokens, sync, store, backups } = sources
  const registers = [registry]
  new Gauge({
    name: 'quoin_build_info',
    help: '1, with the versions of Quoin and of Node.',
    labelNames: ['version', 'node'],
    registers
  }).set({ version, node: process.version }, 1)
  new Gauge({
    name: 'quoin_ready',
    help: '1 where /health/ready answers 200, else 0.',
    registers,
    async collect() {
      this.set(Number((await parts.states()).every(({ status }) => status !== 'error')))
    }
  })
  measureDisk(registry, store)
  if (backups !== undefined) measureBackups(registry, backups)
  if (tokens && tokens.sources.length > 0) measureSources(registry, tokens)
  if (sync) measurePeers(registry, sync)
}

const measureDisk = (registry: Registry, store: Store): void => {
  for (const [field, help] of [
    ['free', 'Bytes that the node may still write on the file system of the store.'],
    ['total', 'The size of the file system of the store.']
  ] as const) {
    new Gauge({
      name: `quoin_store_disk_${field}_bytes`,
      help,
      labelNames: ['engine'],
      registers: [registry],
      async collect() {
        const { engine, details } = await store.stats()
        const path = details['path']
        if (typeof path === 'string') this.set({ engine }, (await diskSpace(path))[field])
      }
    })
  }
}

const measureBackups = (registry: Registry, directory: string): void => {
  new Gauge({
    name: 'quoin_backup_last_seconds',
    help: 'When the newest finished backup began, in unix seconds; 0 without one.',
    registers: [registry],
    async collect() {
      const newest = await newestBackup(directory)
      this.set(newest ? Date.parse(newest.time) / 1000 : 0)
    }
  })
}

/** The lag of a source with a known end, in the unit of the source: blocks, bytes or positions. */
const lagOf = ({ at, end }: SourceProgress): number | undefined =>
  at === undefined || end === undefined ? undefined : Math.max(0, end - at)

const measureSources = (registry: Registry, { pipeline }: NodeTokens): void => {
  const gauge = (name: string, help: string, of: (progress: SourceProgress) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['source'],
      registers: [registry],
      async collect() {
        for (const each of (await pipeline.status()).sources) {
          const value = of(each)
          if (value !== undefined) this.set({ source: each.source }, value)
        }
      }
    })
  gauge('quoin_source_up', '1 while a source of tokens answers, else 0.', ({ state, lastError }) =>
    Number(lastError === undefined && state !== 'idle' && state !== 'connecting')
  )
  gauge('quoin_source_position', 'The block or position that a source of tokens has reached.', ({ at }) => at)
  gauge('quoin_source_lag', 'Blocks or positions between a source of tokens and its end.', lagOf)
  gauge(
    'quoin_source_transactions',
    'Transactions that a source of tokens delivered since the process began.',
    ({ transactions }) => transactions
  )
}

const measurePeers = (registry: Registry, sync: SyncService): void => {
  const gauge = (name: string, help: string, of: (status: SyncStatus) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['topic', 'peer'],
      registers: [registry],
      async collect() {
        for (const status of await sync.status()) {
          const { topic, peer } = status
          const value = of(status)
          if (value !== undefined) this.set({ topic, peer }, value)
        }
      }
    })
  gauge('quoin_peer_up', '1 while a peer answers, else 0.', ({ state }) => Number(state === 'working'))
  gauge(
    'quoin_peer_last_success_seconds',
    'When a topic was last synced with a peer, in unix seconds.',
    ({ lastSuccess }) => lastSuccess && lastSuccess / 1000
  )
}
