/** Logs: one JSON object for each event, on a line of its own. */

import { toJson } from '@quoin/http'
import type { Logger } from '@quoin/overlay'

export const LEVELS = ['info', 'warn', 'error', 'silent'] as const
export type Level = (typeof LEVELS)[number]

export interface LogOptions {
  /** The least that is written, `info` unless given. */
  readonly level?: Level
  /** Where lines go, the standard error unless given. */
  readonly write?: (line: string) => void
}

export const jsonLogger = ({ level = 'info', write = toStandardError }: LogOptions = {}): Logger => {
  const least = LEVELS.indexOf(level)
  const at = (name: Level): Logger['info'] => {
    if (LEVELS.indexOf(name) < least) return () => undefined
    return (event, fields) => {
      write(`${toJson({ time: new Date().toISOString(), level: name, event, ...fields })}\n`)
    }
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

const toStandardError = (line: string): void => {
  process.stderr.write(line)
}
