import type { Health } from '@quoin/primitives'

/** The log of the engine: one event with fields per line. */
export interface Logger {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}

const nothing = (): void => undefined
export const SILENT: Logger = { info: nothing, warn: nothing, error: nothing }

/** Logs each change of a health once. */
export const healthLog =
  (logger: Logger, name: string, fields: Readonly<Record<string, unknown>>) =>
  ({ state, lastError, lastSuccess }: Health): void => {
    if (state === 'working') logger.info(`${name} works again`, fields)
    else logger.warn(`${name} is ${state}`, { ...fields, reason: lastError, lastSuccess })
  }
