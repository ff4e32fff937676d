/** A node: its configuration, and its HTTP server. */
import type { StoreUpgrade, StoreUpgradeOptions } from './upgrade/upgrade.ts'

export { type BootstrapOptions, bootstrap, type TopicBootstrap } from './bootstrap.ts'
export {
  type ConfigSources,
  type LoadedConfig,
  type LoadedDeployment,
  loadConfig,
  type Problem,
  shownConfig
} from './config.ts'
export type { ServerOptions } from './context.ts'
export {
  type IngestBeef,
  isAboutTheTransaction,
  toTopics,
  withStoredChain,
  withTokens
} from './ingest.ts'
export { LIMITS, type Limits, type RateLimit } from './limits.ts'
export { jsonLogger, LEVELS, type Level, type LogOptions } from './log.ts'
export { type Node, type NodeOptions, type OpenNode, openNode, startNode } from './node.ts'
export type { Part, PartState } from './parts.ts'
export { moduleSpecs } from './plugin-settings.ts'
export { HIDDEN, withoutPassword } from './secrets.ts'
export { type CreateServer, createServer, type Server, type ServerAddress } from './server.ts'
export { type Config, SETTINGS, type Setting } from './settings.ts'
export type { StoreUpgrade, StoreUpgradeOptions } from './upgrade/upgrade.ts'

/** Upgrades a store to this version. The layouts of older versions are loaded by the call, and not by the start of a node. */
export const upgradeStore = async (url: string, options: StoreUpgradeOptions): Promise<StoreUpgrade> =>
  (await import('./upgrade/upgrade.ts')).upgradeStore(url, options)
