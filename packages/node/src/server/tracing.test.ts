/** Spans of a node, as an SDK of OpenTelemetry that is registered with its API gets them. */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  type ContextManager,
  context,
  createTraceState,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace
} from '@opentelemetry/api'
import { SILENT } from '@quoin/overlay'
import { toHex, traced } from '@quoin/primitives'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { payTo } from '../../../chain/src/verify/test-chain.testing.ts'
import { loadConfig } from './config.ts'
import { key } from './node.testing.ts'
import { startNode } from './node.ts'

interface RecordedSpan {
  readonly name: string
  readonly id: string
  readonly parent: string | undefined
  readonly traceId: string
  readonly attributes: Record<string, unknown>
  failed: boolean
  ended: boolean
}

const spans: RecordedSpan[] = []
const TRACE = '0af7651916cd43dd8448eb211c80319c'
let count = 0

const start = (name: string, { attributes = {} }: SpanOptions, from: Context): Span => {
  const parent = trace.getSpanContext(from)
  const id = (++count).toString(16).padStart(16, '0')
  const traceId = parent?.traceId ?? id.padStart(32, 'f')
  const recorded: RecordedSpan = {
    name,
    id,
    parent: parent?.spanId,
    traceId,
    attributes: { ...attributes },
    failed: false,
    ended: false
  }
  spans.push(recorded)
  const span = {
    spanContext: () => ({ traceId, spanId: id, traceFlags: 1, traceState: createTraceState() }),
    setAttribute: (attribute: string, value: unknown) => {
      recorded.attributes[attribute] = value
      return span
    },
    setStatus: ({ code }: { code: SpanStatusCode }) => {
      recorded.failed ||= code === SpanStatusCode.ERROR
      return span
    },
    recordException: () => undefined,
    end: () => {
      recorded.ended = true
    }
  } as unknown as Span
  return span
}

const tracer = {
  startSpan: (name: string, options: SpanOptions = {}, from: Context = context.active()) =>
    start(name, options, from),
  startActiveSpan: (name: string, ...rest: unknown[]) => {
    const work = rest.pop() as (span: Span) => unknown
    const [options = {}, from = context.active()] = rest as [SpanOptions?, Context?]
    const span = start(name, options, from)
    return context.with(trace.setSpan(from, span), () => work(span))
  }
} as Tracer

const storage = new AsyncLocalStorage<Context>()
const manager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active: Context, work: (...args: unknown[]) => unknown, that: unknown, ...args: unknown[]) =>
    storage.run(active, () => work.apply(that, args)),
  bind: (_: Context, target: unknown) => target,
  enable: () => manager,
  disable: () => manager
} as unknown as ContextManager

/** W3C Trace Context. */
const propagator: TextMapPropagator = {
  inject: () => undefined,
  fields: () => ['traceparent'],
  extract: (from, carrier) => {
    const [, traceId, spanId] =
      /^00-(\w{32})-(\w{16})-01$/.exec((carrier as { traceparent?: string }).traceparent ?? '') ?? []
    return traceId && spanId
      ? trace.setSpanContext(from, { traceId, spanId, traceFlags: 1, isRemote: true })
      : from
  }
}

beforeAll(() => {
  trace.setGlobalTracerProvider({ getTracer: () => tracer })
  context.setGlobalContextManager(manager)
  propagation.setGlobalPropagator(propagator)
})
afterAll(() => {
  trace.disable()
  context.disable()
  propagation.disable()
})
afterEach(() => {
  spans.length = 0
})

const options = { store: 'memory:', port: '0', blockTime: '0' }
const funded = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/dev/fund`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ script: toHex(payTo(key)), satoshis: 1000 })
  })
const named = (name: string): RecordedSpan | undefined => spans.find(span => span.name === name)

it('spans of a submission are within that of its request, and end with their status', async () => {
  const node = await startNode(loadConfig({ options: { ...options, tracing: 'true' } }).config, {
    logger: SILENT
  })
  try {
    const { beef } = (await (await funded(node.url)).json()) as { beef: string }
    spans.length = 0
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
    const submit = (headers: Readonly<Record<string, string>>, bytes: Uint8Array) =>
      fetch(`${node.url}/submit`, {
        method: 'POST',
        headers: {
          'content-type': 'application/octet-stream',
          'x-topics': '["tm_kvstore"]',
          traceparent,
          ...headers
        },
        body: Buffer.from(bytes)
      })
    expect((await submit({}, Buffer.from(beef, 'hex'))).status).toBe(200)
    const request = named('POST /submit')!
    expect(request).toMatchObject({
      traceId: TRACE,
      parent: '00f067aa0ba902b7',
      ended: true,
      failed: false,
      attributes: { 'http.request.method': 'POST', 'http.route': '/submit', 'http.response.status_code': 200 }
    })
    const submission = named('submission')!
    expect(submission).toMatchObject({
      parent: request.id,
      ended: true,
      attributes: { topics: 'tm_kvstore' }
    })
    expect(named('commit')).toMatchObject({ traceId: TRACE, ended: true })
    // A refused one, and a stranger behind a proxy that is not trusted.
    expect((await submit({ 'x-forwarded-for': '9.9.9.9' }, new Uint8Array([1]))).status).toBe(400)
    const stranger = spans.findLast(({ name }) => name === 'POST /submit')!
    expect(stranger.parent).toBeUndefined()
    expect(stranger.attributes['http.response.status_code']).toBe(400)
    expect(() =>
      traced(
        'broken',
        () => ({}),
        () => {
          throw new Error('no luck')
        }
      )
    ).toThrow('no luck')
    expect(named('broken')).toMatchObject({ failed: true, ended: true })
    await expect
      .poll(() => spans.some(({ name }) => name.startsWith('task ')), { timeout: 30_000 })
      .toBe(true)
  } finally {
    await node.close()
  }
  spans.length = 0
  traced(
    'after',
    () => ({}),
    () => undefined
  )
  expect(spans).toEqual([])
})

it('there are none unless the setting says so', async () => {
  const node = await startNode(loadConfig({ options }).config, { logger: SILENT })
  await funded(node.url)
  await node.close()
  expect(spans).toEqual([])
})
