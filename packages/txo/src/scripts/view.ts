/**
 * A script with memoized readings: parsers share the inscription of a script and the data behind its OP_RETURN. Most
 * scripts have neither.
 */

export type ScriptReader<T> = (view: ScriptView) => T

export class ScriptView {
  readonly script: Uint8Array
  #readings: Map<ScriptReader<unknown>, unknown> | undefined

  constructor(script: Uint8Array) {
    this.script = script
  }

  /** The result of a reader for this script, memoized by the reader. */
  once<T>(reading: ScriptReader<T>): T {
    this.#readings ??= new Map()
    const found = this.#readings.get(reading)
    if (found !== undefined || this.#readings.has(reading)) return found as T
    const made = reading(this)
    this.#readings.set(reading, made)
    return made
  }
}

export const viewOf = (script: Uint8Array | ScriptView): ScriptView =>
  script instanceof ScriptView ? script : new ScriptView(script)
