/**
 * Upgrades a store to this version: its rows, then its key layouts by migrations, or by a rebuild where no migration
 * leads from the recorded layouts to the present ones. A store in files is upgraded in a copy or after a backup, which
 * stays beside it. An upgrade that was cut off goes on where it was.
 */

import type { Logger, Plugin } from '@quoin/overlay'
import { QuoinError } from '@quoin/primitives'
import {
  backupBeside,
  compareLayouts,
  hasKeys,
  type Layouts,
  layoutsOf,
  openStore,
  parseFilesUrl,
  recordedLayouts,
  replaceLayouts,
  replaceStore,
  type Store,
  type UpgradeOptions,
  upgradeRows,
  upgradingPath
} from '@quoin/store'
import { nodeStore, storeKeyspaces } from '../../keyspaces.ts'
import { withStoredChain } from '../ingest.ts'
import type { Config } from '../settings.ts'
import type { Migration } from './migration.ts'
import { identifyLayouts, includesLayouts, MIGRATIONS, migrated, overlaid } from './migrations.ts'
import { type Rebuild, rebuildStore } from './rebuild.ts'

export interface StoreUpgradeOptions extends UpgradeOptions {
  /** The node that a rebuild submits transactions to: its topics, its index, its plug-ins. */
  readonly config: Config
  /** Plug-ins beside the ones that the configuration names. */
  readonly plugins?: readonly Plugin[]
  /** Whether the chain is that of the configuration; otherwise it is the one that the store has. */
  readonly isChainGiven: boolean
  /** A new store for the result; the store stays as it is. */
  readonly to?: string | undefined
  /** Changes a store on a server in place: its operator has a backup. */
  readonly inPlace?: boolean
  /** Rebuilds the store even where migrations would do. */
  readonly rebuild?: boolean
  readonly logger: Logger
}

export interface StoreUpgrade {
  /** The store that has the present layouts. */
  readonly store: string
  /** Steps that were done, in order; none when the store was up to date. */
  readonly steps: readonly string[]
  /** Where the store as it was is, if anything was changed. */
  readonly before: string | undefined
  readonly rebuild: Rebuild | undefined
}

export const upgradeStore = async (url: string, options: StoreUpgradeOptions): Promise<StoreUpgrade> => {
  const work = new Upgrade(url, options)
  await work.convertRows()
  await work.migrate()
  return work.result
}

class Upgrade {
  readonly #options: StoreUpgradeOptions
  readonly #steps: string[] = []
  /** The store that is worked on. */
  #url: string
  /** Whether changing it in place loses nothing. */
  #isCopy = false
  #before: string | undefined
  #rebuild: Rebuild | undefined

  constructor(url: string, options: StoreUpgradeOptions) {
    this.#url = url
    this.#options = options
  }

  get result(): StoreUpgrade {
    return { store: this.#url, steps: this.#steps, before: this.#before, rebuild: this.#rebuild }
  }

  async convertRows(): Promise<void> {
    const { to } = this.#options
    const files = parseFilesUrl(this.#url)
    const target = to === undefined ? undefined : parseFilesUrl(to)
    if (to !== undefined && files && target?.kind !== files.kind) {
      throw new QuoinError(
        'ERR_STORE_URL',
        `--to is a store of the same kind, ${files.kind}:PATH, not ${to}; quoin store restore converts between kinds`,
        { url: to }
      )
    }
    if (!files) return
    const converted = await upgradeRows(files, target?.path, this.#options)
    if (!converted) return
    this.#steps.push(
      converted.recovered > 0
        ? `recover ${converted.recovered} commits from the redo log`
        : 'add checksums to rows'
    )
    this.#before = converted.before
    this.#isCopy = true
    if (to !== undefined) this.#url = to
  }

  async migrate(): Promise<void> {
    let store = await openStore(this.#url, { create: false })
    try {
      const recorded = (await recordedLayouts(store)) ?? (await identified(store))
      const present = await presentLayouts(recorded)
      const steps = this.#options.rebuild ? undefined : migrationPath(recorded, present)
      if (steps?.length === 0) return await this.#record(store, present)
      if (!steps) return await this.#rebuildFrom(store, recorded)
      store = await this.#safeToChange(store)
      for (const step of steps) await this.#run(step, store)
      await this.#record(store, present)
    } finally {
      await store.close()
    }
  }

  /** The store itself where that is a copy already; otherwise after a backup, or a copy of it. */
  async #safeToChange(store: Store): Promise<Store> {
    const { to, inPlace, signal, onProgress } = this.#options
    const files = parseFilesUrl(this.#url)
    if (this.#isCopy) return store
    if (!files) {
      if (inPlace) return store
      throw new QuoinError(
        'ERR_USAGE',
        `${this.#url} is on a server, where an upgrade changes it in place. Make a backup with the means of the ` +
          'server, stop every node on it, then add --in-place',
        { url: this.#url }
      )
    }
    const progress = {
      signal,
      onProgress: (rows: number, doing: string) => onProgress?.(`backup: ${doing}`, rows, undefined)
    }
    if (to === undefined) {
      this.#before = await backupBeside(store, files.path, progress)
      this.#steps.push('back the store up')
      return store
    }
    await store.backup(parseFilesUrl(to)!.path, progress)
    await store.close()
    this.#before = files.path
    this.#url = to
    this.#steps.push('copy the store')
    return openStore(to, { create: false })
  }

  async #run(migration: Migration, store: Store): Promise<void> {
    const { name, from } = migration
    const { signal, onProgress } = this.#options
    await migration.run(store, { signal, onProgress: rows => onProgress?.(name, rows, undefined) })
    const before = await recordedLayouts(store)
    const after = migrated(before ?? overlaid(await identified(store), from), migration)
    if (!(await replaceLayouts(store, before, after))) throw changedMeanwhile()
    this.#steps.push(name)
  }

  async #record(store: Store, present: Layouts): Promise<void> {
    const recorded = await recordedLayouts(store)
    if (recorded && compareLayouts(recorded, present).state === 'same') return
    if (!(await replaceLayouts(store, recorded, { ...recorded, ...present }))) throw changedMeanwhile()
    this.#steps.push('record the key layouts')
  }

  async #rebuildFrom(store: Store, recorded: Layouts): Promise<void> {
    const { config, isChainGiven, plugins, logger, onProgress, signal, to } = this.#options
    const files = parseFilesUrl(this.#url)
    if (!files && to === undefined) {
      throw new QuoinError(
        'ERR_USAGE',
        `no migration leads from the layouts of ${this.#url} to those of this version. ` +
          'Add --to with a new store, and its transactions are submitted again there',
        { url: this.#url }
      )
    }
    const copy = to !== undefined && !this.#isCopy ? to : `${files!.kind}:${upgradingPath(files!.path)}`
    const chosen = isChainGiven ? config : await withStoredChain(config, store)
    this.#rebuild = await rebuildStore(store, {
      recorded,
      config: { ...chosen, store: copy },
      plugins,
      logger,
      signal,
      onProgress: (step, done, total) => onProgress?.(step, done, total)
    })
    this.#steps.push('rebuild the store from its transactions')
    await store.close()
    if (copy === to) {
      this.#before = this.#url
      this.#url = to
    } else {
      const before = await replaceStore(files!.path, parseFilesUrl(copy)!.path)
      this.#before ??= before
    }
  }
}

/** Of a store without a record: the layouts of version 0.1, of the keyspaces that it has keys of. */
const identified = async (store: Store): Promise<Layouts> => {
  const layouts = await identifyLayouts(store)
  const used = await Promise.all(
    (await storeKeyspaces()).map(async space => ((await hasKeys(store, space)) ? [space.name] : []))
  )
  const names = new Set([...used.flat(), ...nodeStore().members.map(({ name }) => name)])
  return Object.fromEntries(Object.entries(layouts).filter(([name]) => names.has(name)))
}

/** The present layouts of the keyspaces that a store has. */
const presentLayouts = async (recorded: Layouts): Promise<Layouts> =>
  layoutsOf((await storeKeyspaces()).filter(({ name }) => Object.hasOwn(recorded, name)))

/** The migrations that lead to the present layouts; undefined when none do. */
const migrationPath = (recorded: Layouts, present: Layouts): readonly Migration[] | undefined => {
  const path: Migration[] = []
  let layouts = recorded
  while (compareLayouts(layouts, present).state === 'different') {
    const next = MIGRATIONS.find(({ from }) => includesLayouts(layouts, from))
    if (!next || path.includes(next)) return undefined
    path.push(next)
    layouts = migrated(layouts, next)
  }
  return path
}

const changedMeanwhile = (): QuoinError =>
  new QuoinError(
    'ERR_STORE_BUSY',
    'another process changed the store during the upgrade. Stop it, then upgrade again'
  )
