/** The spec of a plug-in module: the export to load, its name, and its database. */
import type { Logger } from '../logger.ts'

export type Hydration = 'mongo' | 'knex'

/** One export of a module. Several specs of one module share a process. */
export interface ModuleSpec {
  /** An absolute path, or the name of a package. */
  readonly module: string
  /** The directory that package names are resolved from. */
  readonly directory: string
  /** Compiler options of a TypeScript module; those of the closest `tsconfig.json` above it unless given. */
  readonly compilerOptions?: Readonly<Record<string, unknown>> | undefined
  /** The export to take, `default` unless given. */
  readonly export?: string | undefined
  /** The name of the topic or lookup, `tm_…` or `ls_…`, where the export is one service without a name. */
  readonly name?: string | undefined
  /** Handed to the class, factory or plug-in. */
  readonly options?: unknown
  /** The database that a factory takes as its first argument (BRC-102). */
  readonly hydrateWith?: Hydration | undefined
  /** Hosts the topics of a plug-in of Quoin's form in a process. Modules of `@bsv/overlay`'s form always have one. */
  readonly isolate?: boolean | undefined
  /** Topics whose changes are delivered to its lookups; all unless given. */
  readonly topics?: readonly string[] | undefined
  /** Concurrent deliveries to a lookup service of the module. */
  readonly concurrency?: number | undefined
}

export interface HostOptions {
  readonly logger: Logger
  /** The URL of a MongoDB server, with the name of the database. */
  readonly mongo?: string | undefined
  /** A configuration of Knex. */
  readonly knex?: Readonly<Record<string, unknown>> | undefined
  /** Milliseconds that a call of a topic may take. */
  readonly topicTimeout: number
  /** Milliseconds that a call of a lookup service may take. */
  readonly lookupTimeout: number
  /** The limit of resident memory of a process, in megabytes. */
  readonly memoryMb: number
  /** Milliseconds that a module may take to load and to connect to its database, 30,000 unless given. */
  readonly loadTimeout?: number | undefined
}
