/**
 * Traces by the API of OpenTelemetry, which hands spans to the SDK that the process has registered, and to nobody
 * without one. The trace of a caller is continued where a trusted proxy, or this machine, sent the request: a stranger
 * does not write into the traces of the operator.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type * as OpenTelemetry from '@opentelemetry/api'
import { importPackage } from '@quoin/overlay'
import { installTracer, type SpanAttributes, type Tracer } from '@quoin/primitives'
import { version } from '../package-files.ts'

export interface RequestTracer {
  /** Runs the answer to a request in a span of its own kind, within the trace of the caller. */
  request(
    headers: IncomingHttpHeaders | undefined,
    method: string,
    route: string,
    work: () => Promise<Response>
  ): Promise<Response>
}

export interface NodeTracer extends RequestTracer {
  close(): void
}

/** Installs the tracer of the process. The package is the operator's, beside the SDK, else that of Quoin. */
export const openTracing = async (directory = process.cwd()): Promise<NodeTracer> => {
  const api = (await importPackage(
    '@opentelemetry/api',
    directory,
    'tracing'
  )) as unknown as typeof OpenTelemetry
  const tracer = api.trace.getTracer('quoin', version)

  const failed = (span: OpenTelemetry.Span, error: unknown): void => {
    span.recordException(error instanceof Error ? error : String(error))
    span.setStatus({ code: api.SpanStatusCode.ERROR })
    span.end()
  }
  const within = <T>(span: OpenTelemetry.Span, work: () => T, onResult?: (result: Awaited<T>) => void): T => {
    const ended = (result: Awaited<T>): Awaited<T> => {
      onResult?.(result)
      span.end()
      return result
    }
    try {
      const result = work()
      if (!(result instanceof Promise)) return ended(result as Awaited<T>) as T
      return result.then(ended, error => {
        failed(span, error)
        throw error
      }) as T
    } catch (error) {
      failed(span, error)
      throw error
    }
  }
  const spans: Tracer = {
    span: <T>(name: string, attributes: SpanAttributes, work: () => T): T =>
      tracer.startActiveSpan(name, { attributes }, span => within(span, work))
  }
  installTracer(spans)
  return {
    request: (headers, method, route, work) => {
      const attributes = { 'http.request.method': method, 'http.route': route }
      const options = { kind: api.SpanKind.SERVER, attributes }
      const active = api.context.active()
      const caller = headers ? api.propagation.extract(active, headers) : active
      return tracer.startActiveSpan(`${method} ${route}`, options, caller, span =>
        within(span, work, ({ status }) => {
          span.setAttribute('http.response.status_code', status)
          if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
        })
      )
    },
    close: () => installTracer(undefined)
  }
}
