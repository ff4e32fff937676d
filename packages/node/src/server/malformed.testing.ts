/** Requests made from the description of the server that are nearly right, or not at all. From a seed, so that each can be repeated. */
import { toHex } from '@quoin/primitives'
import type { OpenApi, Operation, Parameter } from './openapi.ts'

export interface MalformedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

interface Schema {
  readonly type?: string
  readonly pattern?: string
  readonly anyOf?: readonly Schema[]
  readonly const?: unknown
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

/** What is really in the node, so that some requests get further than the door. */
export interface RealValues {
  readonly txids: readonly string[]
  readonly texts: readonly string[]
  readonly beefs: readonly Uint8Array[]
}

const STRANGE = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  'NaN',
  'null',
  'true',
  '\u0000',
  '\u{1f4a9}',
  '../..',
  '%',
  '%zz',
  '{}',
  '[',
  '"',
  '__proto__',
  "';--",
  '\ud800',
  '9'.repeat(40),
  'a'.repeat(3000)
]
const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS']

export class Generator {
  readonly #real: RealValues
  #state: number

  constructor(seed: number, real: RealValues) {
    this.#state = seed
    this.#real = real
  }

  /** One of an operation; `token` is sent most of the time, where one is asked for. */
  request(path: string, method: string, operation: Operation, token: string): MalformedRequest {
    const { parameters, requestBody, security } = operation
    const at = (place: Parameter['in']) => parameters.filter(each => each.in === place)
    let url = path
    for (const { name, schema } of at('path')) {
      url = url.replace(`{${name}}`, encodeURIComponent(wellFormed(this.#text(schema as Schema))))
    }
    // What is JSON in a query has no schema of its own place.
    const query = at('query').flatMap(({ name, schema = {}, required }) => {
      if (!this.#chance(required ? 0.9 : 0.4)) return []
      const count = this.#chance(0.2) ? this.#upTo(4) : 1
      return Array.from({ length: count }, () => `${name}=${this.#escaped(this.#text(schema as Schema))}`)
    })
    const headers: Record<string, string> = {}
    for (const { name, schema, content } of at('header')) {
      if (!this.#chance(0.8)) continue
      const value = content
        ? JSON.stringify(this.#value(content['application/json']!.schema as Schema))
        : undefined
      headers[name] = headerText(value && this.#chance(0.8) ? value : this.#text((schema ?? {}) as Schema))
    }
    if (security && this.#chance(0.9))
      headers['authorization'] = `Bearer ${this.#chance(0.95) ? token : this.#one(['', 'x'])}`
    const content = Object.entries(requestBody?.content ?? {})[0]
    return {
      method: this.#chance(0.95) ? method.toUpperCase() : this.#one(METHODS),
      path: query.length > 0 ? `${url}?${query.join('&')}` : url,
      headers,
      body: content && this.#chance(0.95) ? this.#body(content[0], content[1].schema as Schema) : undefined
    }
  }

  #body(type: string, schema: Schema): Uint8Array {
    if (type !== 'application/json') return this.#mangled(this.#one(this.#real.beefs))
    const text = JSON.stringify(this.#value(schema)) ?? 'null'
    if (this.#chance(0.05)) return Buffer.from('['.repeat(this.#upTo(5000)))
    return this.#chance(0.7) ? Buffer.from(text) : this.#mangled(Buffer.from(text))
  }

  /** A few bytes changed, some cut off, or some added. */
  #mangled(bytes: Uint8Array): Uint8Array {
    const changed = Uint8Array.from(
      bytes.subarray(0, this.#chance(0.3) ? this.#upTo(bytes.length) : bytes.length)
    )
    for (let i = this.#upTo(4); i > 0 && changed.length > 0; i--)
      changed[this.#upTo(changed.length)] = this.#upTo(256)
    return this.#chance(0.1) ? Buffer.concat([changed, bytes]) : changed
  }

  #value(schema: Schema = {}): unknown {
    if (this.#chance(0.1))
      return this.#one([null, 1, -1, 1.5, 2 ** 60, '', 'x', [], {}, [[]], true, { __proto__: 1 }])
    if (schema.const !== undefined) return schema.const
    if (schema.anyOf) return this.#value(this.#one(schema.anyOf))
    switch (schema.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
            this.#chance(schema.required?.includes(name) ? 0.95 : 0.5) ? [[name, this.#value(each)]] : []
          )
        )
      case 'array':
        return Array.from({ length: this.#upTo(this.#chance(0.05) ? 300 : 4) }, () =>
          this.#value(schema.items)
        )
      case 'integer':
      case 'number':
        return this.#one([
          schema.minimum ?? 0,
          1,
          2,
          100,
          schema.maximum ?? 1e9,
          (schema.maximum ?? 1e15) + 1,
          -1
        ])
      case 'boolean':
        return this.#chance(0.5)
      case 'string':
        return this.#text(schema)
      default:
        return this.#one([
          {},
          [],
          null,
          { history: this.#upTo(5) },
          { txid: this.#one(this.#real.txids) },
          'text',
          5
        ])
    }
  }

  /** What a parameter may be, or nothing of the kind. */
  #text(schema: Schema): string {
    if (this.#chance(0.25)) return this.#one(STRANGE)
    if (schema.anyOf) return String(this.#value(schema))
    if (schema.type === 'array') return this.#text(schema.items ?? {})
    if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean')
      return String(this.#value(schema))
    const txid = this.#chance(0.7)
      ? this.#one(this.#real.txids)
      : toHex(Uint8Array.from({ length: 32 }, () => this.#upTo(256)))
    if (schema.pattern?.includes('{64}$')) return txid
    if (schema.pattern?.includes('{64}'))
      return `${txid}${this.#one([...'._:i-'])}${this.#one(['0', '1', '7', '01', '4294967296'])}`
    if (schema.pattern?.includes('{2}'))
      return toHex(Uint8Array.from({ length: this.#upTo(60) }, () => this.#upTo(256)))
    return this.#one(this.#real.texts)
  }

  /** As it should be, or as it is. */
  #escaped(text: string): string {
    if (this.#chance(0.9)) return encodeURIComponent(wellFormed(text))
    return [...text].filter(char => char > ' ' && char < '\u007f' && char !== '#').join('')
  }

  #one<T>(from: readonly T[]): T {
    return from[this.#upTo(from.length)]!
  }

  #chance(of: number): boolean {
    return this.#random() < of
  }

  /** A whole number below it. */
  #upTo(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const wellFormed = (text: string): string => text.replaceAll(/[\ud800-\udfff]/gu, '?')
/** What may stand in a header at all. */
const headerText = (text: string): string => text.replaceAll(/[^\t\x20-\x7e]/g, '?')

export interface DescribedOperation {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The operations by tag. */
export const operationsByTag = ({ paths }: OpenApi): ReadonlyMap<string, readonly DescribedOperation[]> => {
  const found = new Map<string, DescribedOperation[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0]!
      found.set(tag, [...(found.get(tag) ?? []), { path, method, operation }])
    }
  }
  return found
}
