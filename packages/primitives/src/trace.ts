/** Spans of work, for a tracer that a process installs. Without one, work runs as it is. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracer {
  /** Runs work in a span within the active one. The span ends with the work, or with its promise, and has its error. */
  span<T>(name: string, attributes: SpanAttributes, work: () => T): T
}

let installed: Tracer | undefined

/** Of this process; undefined takes it away. */
export const installTracer = (tracer: Tracer | undefined): void => {
  installed = tracer
}

/**
 * Runs work in a span of the installed tracer.
 *
 * @example
 * traced('add', () => ({ terms: 2 }), () => 1 + 1) // 2
 */
export const traced = <T>(name: string, attributes: () => SpanAttributes, work: () => T): T =>
  installed ? installed.span(name, attributes(), work) : work()
