/**
 * A script, and what was read from it: each reading happens once, when somebody asks for it. Most parsers ask for the
 * inscription of a script or for what follows its OP_RETURN, and most scripts have neither.
 */

export type ScriptReader<T> = (view: ScriptView) => T

export class ScriptView {
  readonly script: Uint8Array
  #readings: Map<ScriptReader<unknown>, unknown> | undefined

  constructor(script: Uint8Array) {
    this.script = script
  }

  /** What the reading finds in this script. */
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
