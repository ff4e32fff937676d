/** The messages of live lookups (BRC-193, a draft) in the representation of BRC-192: parsed requests, batches and errors. */
import { createHash } from 'node:crypto'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

const U32 = Type.Integer({ minimum: 0, maximum: 0xffffffff })
const Limits = Type.Object(
  { maxBytes: U32, maxObservations: U32, waitMs: U32 },
  { additionalProperties: false }
)
const Opaque = Type.String({ minLength: 1, maxLength: 1024 })

export const Open = Type.Object(
  {
    version: Type.Integer(),
    requestId: Type.String({ pattern: '^[A-Za-z0-9_-]{16,128}$' }),
    service: Opaque,
    query: Type.Unknown(),
    requiredRulesDigest: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    limits: Limits,
    extensions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    critical: Type.Optional(Type.Array(Type.String()))
  },
  { additionalProperties: false }
)
export const Read = Type.Object(
  { version: Type.Integer(), session: Opaque, cursor: Opaque, limits: Limits },
  { additionalProperties: false }
)
export const Close = Type.Object(
  { version: Type.Integer(), session: Opaque },
  { additionalProperties: false }
)

export type OpenRequest = Static<typeof Open>
export type ReadLimits = Static<typeof Limits>

/** Maxima of the profile. */
export const MAXIMA: ReadLimits = { maxBytes: 4 * 1024 * 1024, maxObservations: 1024, waitMs: 25_000 }
const MAX_REQUEST = 1024 * 1024
export const VERSION = 1

const STATUS = {
  invalid: 400,
  'not-found': 404,
  conflict: 409,
  'reset-required': 409,
  expired: 410,
  limited: 413,
  unsupported: 422,
  unavailable: 503
} as const
type LiveErrorCode = keyof typeof STATUS

interface LiveErrorDetails {
  readonly retryable?: boolean
  readonly retryAfterMs?: number
  readonly limit?: {
    readonly kind: 'envelope' | 'group' | 'permanent-group'
    readonly minimumBytes?: number
    readonly minimumObservations?: number
  }
}

/** An error of the protocol. */
export class LiveError extends Error {
  readonly code: LiveErrorCode
  readonly details: LiveErrorDetails

  constructor(code: LiveErrorCode, message: string, details: LiveErrorDetails = {}) {
    super(message)
    this.code = code
    this.details = details
  }

  get status(): number {
    return STATUS[this.code]
  }

  get body(): object {
    const { retryable = false, ...rest } = this.details
    return { version: VERSION, error: { code: this.code, message: this.message, retryable, ...rest } }
  }
}

/** Parses the body of a request; undeclared properties and other versions are refused. */
export const parserOf = <T extends TSchema>(schema: T): ((body: Uint8Array) => Static<T>) => {
  const check = TypeCompiler.Compile(schema)
  return body => {
    if (body.length > MAX_REQUEST)
      throw new LiveError('invalid', `the request has more than ${MAX_REQUEST} bytes`)
    let value: unknown
    try {
      value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    } catch {
      throw new LiveError('invalid', 'the body is not JSON')
    }
    const { version } = Object(value) as { version?: unknown }
    if (Number.isSafeInteger(version) && version !== VERSION)
      throw new LiveError('unsupported', `version ${version}; expected ${VERSION}`)
    if (check.Check(value)) return value
    const problem = check.Errors(value).First()
    throw new LiveError(
      'invalid',
      `${problem?.path || 'the body'}: ${problem?.message ?? 'is not as expected'}`
    )
  }
}

/** The limits of a batch: the lesser of the request's and the profile's. */
export const clamped = ({ maxBytes, maxObservations, waitMs }: ReadLimits): ReadLimits => {
  if (maxBytes === 0 || maxObservations === 0)
    throw new LiveError('invalid', 'maxBytes and maxObservations are positive')
  return {
    maxBytes: Math.min(maxBytes, MAXIMA.maxBytes),
    maxObservations: Math.min(maxObservations, MAXIMA.maxObservations),
    waitMs: Math.min(waitMs, MAXIMA.waitMs)
  }
}

/** JSON in the canonical form of RFC 8785, of values that came from JSON. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`)
  return `{${members.join(',')}}`
}

/** The digest of a packet of a type (BRC-192 §1). */
export const packetDigest = (type: string, body: unknown): string =>
  createHash('sha256')
    .update(`BRC-OUTPUT/1/${type}\0${canonicalJson(body)}`)
    .digest('hex')
