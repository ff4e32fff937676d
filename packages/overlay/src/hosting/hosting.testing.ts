/** Hosts of fixtures, and a logger that records. */
import { fileURLToPath } from 'node:url'
import type { Logger } from '../logger.ts'
import type { HostedTopic } from '../types.ts'
import { hostPlugins, type PluginHost } from './host.ts'
import type { HostOptions, ModuleSpec } from './module-spec.ts'

export const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url))

export const fixture = (file: string, rest: Partial<ModuleSpec> = {}): ModuleSpec => ({
  module: `${FIXTURES}/${file}`,
  directory: FIXTURES,
  ...rest
})

export interface LogLine {
  readonly level: keyof Logger
  readonly event: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

const recordingLogger = (): { readonly logger: Logger; readonly lines: LogLine[] } => {
  const lines: LogLine[] = []
  const at =
    (level: keyof Logger): Logger['info'] =>
    (event, fields) => {
      lines.push({ level, event, fields })
    }
  return { logger: { info: at('info'), warn: at('warn'), error: at('error') }, lines }
}

const hosts: PluginHost[] = []

export const hostOf = async (
  specs: readonly ModuleSpec[],
  options: Partial<HostOptions> = {}
): Promise<{ readonly host: PluginHost; readonly lines: LogLine[] }> => {
  const { logger, lines } = recordingLogger()
  const host = await hostPlugins(specs, {
    logger,
    topicTimeout: 20_000,
    lookupTimeout: 20_000,
    memoryMb: 512,
    ...options
  })
  hosts.push(host)
  return { host, lines }
}

/** For `afterEach`. */
export const closeHosts = async (): Promise<void> => {
  await Promise.all(hosts.splice(0).map(host => host.close()))
}

/** Asks the topic of `misbehaving.mjs` to do something. */
export const tell = (topic: HostedTopic, behaviour: string, rest: object = {}) =>
  topic.identifyAdmissibleOutputs(
    Uint8Array.of(1, 2, 3),
    [],
    Buffer.from(JSON.stringify({ behaviour, ...rest })),
    'current-tx'
  )

/** Resolves when a condition holds. */
export const until = async (holds: () => boolean, seconds = 30): Promise<void> => {
  for (const end = Date.now() + seconds * 1000; !holds(); ) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${holds}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
