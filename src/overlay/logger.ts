/** Where the engine says what happened: one line of fields for each event. */
export interface Logger {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}

const nothing = (): void => undefined
export const SILENT: Logger = { info: nothing, warn: nothing, error: nothing }
