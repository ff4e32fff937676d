/** `quoin dev`: a node whose plug-ins are loaded again when their files change. The store stays. */
import { isAbsolute, relative, resolve } from 'node:path'
import type { Logger, PluginHost, ReloadReport } from '@quoin/overlay'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, milliseconds, paint, print } from '@quoin/primitives/command'
import { configFile, projectFile } from './deployment.ts'
import { FileWatch } from './file-watch.ts'
import { localImports } from './import-graph.ts'
import { printNode, type ServeOptions } from './serve.ts'
import { configOf, server } from './settings.ts'
import { signals, untilEnded } from './shutdown-signals.ts'

export const dev = async (file: string | undefined, options: ServeOptions): Promise<number> => {
  const ending = signals()
  const { config: settings, deployment } = configFile(
    projectFile(file),
    options['config'] as string | undefined
  )
  const loaded = await configOf({ ...options, config: settings }, {}, deployment)
  if (loaded.config.plugins.length === 0) {
    throw new QuoinError(
      'ERR_USAGE',
      'no plug-ins to develop: expected deployment-info.json in this directory, a file as argument, or --plugins',
      {}
    )
  }
  const { moduleSpecs, startNode } = await server()
  // Packages are installed, not edited.
  const modules = new Set(
    moduleSpecs(loaded.config.plugins).flatMap(({ module }) => (isAbsolute(module) ? [module] : []))
  )
  const settingsFiles = [deployment, settings].flatMap(each => (each === undefined ? [] : [resolve(each)]))
  // From before the node loads them: a change meanwhile is not missed.
  const reloader = new Reloader([...modules], settingsFiles)
  try {
    const node = await startNode(loaded.config, { logger: terminalLogger() })
    reloader.start(node.plugins!)
    await printNode(node, loaded, false)
    print('Changed plug-ins are loaded again. Ctrl-C ends it.')
    await untilEnded(node, ending)
  } finally {
    reloader.close()
  }
  return EXIT.ok
}

/** Loads the modules whose files changed again, one change after the other. */
class Reloader {
  #host: PluginHost | undefined
  readonly #settings: ReadonlySet<string>
  /** The files of each module. */
  readonly #files = new Map<string, ReadonlySet<string>>()
  /** Modules whose last load failed: a file that they lack may have come. */
  readonly #broken = new Set<string>()
  readonly #watch: FileWatch
  /** Changes in their order, the first after the start of the node. */
  #work: Promise<void>
  #begin: () => void = () => undefined

  constructor(modules: readonly string[], settings: readonly string[]) {
    this.#settings = new Set(settings)
    this.#work = new Promise(resolve => {
      this.#begin = resolve
    })
    this.#watch = new FileWatch(
      files => {
        this.#work = this.#work.then(() => this.#changed(files))
      },
      (directory, reason) => print(`${paint('yellow', 'not watched')}: ${shown(directory)}: ${reason}`)
    )
    this.#watch.add(settings)
    for (const module of modules) this.#trace(module)
  }

  start(host: PluginHost): void {
    this.#host = host
    this.#begin()
  }

  close(): void {
    this.#watch.close()
  }

  #trace(module: string): void {
    const files = localImports(module)
    this.#files.set(module, files)
    this.#watch.add(files)
  }

  async #changed(files: ReadonlySet<string>): Promise<void> {
    for (const file of files) {
      if (this.#settings.has(file)) print(`${shown(file)} changed: restart quoin dev to apply it`)
    }
    const host = this.#host!
    const inProcess = new Set(host.inProcess.map(({ spec }) => spec.module))
    for (const [module, known] of this.#files) {
      const [changed] = [...files].filter(file => known.has(file) || this.#broken.has(module))
      if (changed === undefined || this.#settings.has(changed)) continue
      if (inProcess.has(module))
        print(`${shown(changed)} changed: ${shown(module)} runs in the node, restart quoin dev to apply it`)
      else await this.#reload(host, module, changed)
    }
  }

  async #reload(host: PluginHost, module: string, changed: string): Promise<void> {
    const began = performance.now()
    const cause = changed === module ? '' : `, ${shown(changed)} changed`
    try {
      const report = await host.reload(module)
      this.#broken.delete(module)
      const took = milliseconds(performance.now() - began)
      const names = host.states().flatMap(each => (each.module === module ? each.names : []))
      print(
        `${paint('green', 'reloaded')} ${shown(module)}: ${names.join(', ')}, in ${took}${cause}${details(report)}`
      )
    } catch (error) {
      this.#broken.add(module)
      const reason = reasonOf(error).replaceAll(/\s*\n\s*/g, ' ')
      print(`${paint('red', 'not reloaded')} ${shown(module)}: ${reason}; the loaded one keeps serving`)
    }
    this.#trace(module)
  }
}

/** The difference that a reload made beyond the code of topics and lookups. */
const details = ({ added, removed, changed, migrations }: ReloadReport): string => {
  const restart = 'restart quoin dev to apply it'
  const notes = [
    ...added.map(name => `${name} is added: ${restart}`),
    ...removed.map(name => `${name} is removed: ${restart}`),
    ...changed.flatMap(({ name, field, after }) =>
      field === 'documentation' ? [] : [`${field} of ${name} is ${toText(after)}`]
    ),
    ...migrations.map(name => `migration ${name} ran`)
  ]
  return notes.map(note => `; ${note}`).join('')
}

const toText = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 100 ? `${text.slice(0, 97)}…` : text
}

/** Relative to the working directory where that is shorter. */
const shown = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') || short === '' ? path : short
}

const toLine = (fields: object): string =>
  JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))

/** Events of the start and of requests, which are not about a plug-in. */
const QUIET = new Set(['request', 'listening', 'closed'])

/** The log for a person: output of plug-ins, warnings and errors, one line each. */
const terminalLogger = (): Logger => {
  const at = (mark: string): Logger['info'] => {
    return (event, fields = {}) => {
      if (QUIET.has(event)) return
      const { plugin, ...more } = fields
      const name = typeof plugin === 'string' ? `${plugin}: ` : ''
      const details = Object.keys(more).length > 0 ? ` ${paint('dim', toLine(more))}` : ''
      process.stderr.write(`${mark}${name}${event}${details}\n`)
    }
  }
  return {
    info: at(''),
    warn: at(`${paint('yellow', 'warning')} `),
    error: at(`${paint('red', 'error')} `)
  }
}
