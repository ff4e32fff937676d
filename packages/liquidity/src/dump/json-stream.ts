/**
 * Streams parts of a JSON document of any size: for each value the caller decides to take it whole, to enter it or to
 * skip it. Memory holds one taken value at a time.
 */
import { QuoinError } from '@quoin/primitives'

export type Decision = 'take' | 'enter' | 'skip'

export interface Taken {
  /** Keys on the way to it; `*` stands for any element of an array. */
  readonly path: readonly string[]
  readonly value: unknown
}

/** The limit on the bytes of a taken value or of a key. */
const MAX_TAKEN = 16 * 1024 * 1024
const MAX_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** The tokens that may come next in an entered container. */
type Expects = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing'

interface Container {
  readonly isArray: boolean
  readonly path: readonly string[]
  /** The decision for all elements of an array. */
  readonly decision: Decision | undefined
}

export async function* takeJson(
  source: AsyncIterable<Uint8Array>,
  decide: (path: readonly string[]) => Decision
): AsyncGenerator<Taken> {
  const scanner = new Scanner(decide)
  for await (const chunk of source) yield* scanner.scan(chunk)
  yield* scanner.end()
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

class Scanner {
  readonly #decide: (path: readonly string[]) => Decision
  readonly #containers: Container[] = []
  #expects: Expects = 'value'
  /** The path of the next value. */
  #path: readonly string[] = []
  #decision: Decision
  /** The bytes before this chunk, for positions in errors. */
  #passed = 0

  /** The value or key that is being read: its use, and its progress. */
  #inside: 'key' | 'take' | 'skip' | undefined
  #held: Uint8Array[] = []
  #heldBytes = 0
  #depth = 0
  #inString = false
  #isEscaped = false
  #isScalar = false

  constructor(decide: (path: readonly string[]) => Decision) {
    this.#decide = decide
    this.#decision = decide([])
  }

  *scan(chunk: Uint8Array): Generator<Taken> {
    let at = 0
    while (at < chunk.length) {
      if (this.#inside) {
        const end = this.#passOver(chunk, at)
        if (this.#inside !== 'skip') this.#hold(chunk.subarray(at, end ?? chunk.length))
        if (end === undefined) break
        at = end
        yield* this.#leave(at)
      } else {
        const byte = chunk[at]!
        if (isSpace(byte)) at++
        else if (this.#step(byte, at)) at++
      }
    }
    this.#passed += chunk.length
  }

  *end(): Generator<Taken> {
    // A number at the very end of the document has no delimiter.
    if (this.#inside && this.#isScalar) yield* this.#leave(0)
    if (this.#expects !== 'nothing' || this.#inside) throw this.#error('the document is cut off', 0)
  }

  #error(message: string, at: number): QuoinError {
    return new QuoinError('ERR_LIQUIDITY_IMPORT', `JSON: ${message}`, {
      offset: this.#passed + at,
      path: this.#path.join('.')
    })
  }

  /** Handles a byte outside of values and keys; returns whether it was consumed. */
  #step(byte: number, at: number): boolean {
    const expects = this.#expects
    if (expects === 'comma or end' && byte === COMMA) {
      const { isArray, path, decision } = this.#containers.at(-1)!
      this.#expects = isArray ? 'value' : 'key'
      if (isArray) this.#next([...path, '*'], decision!)
      return true
    }
    if (expects.endsWith('or end') && (byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) {
      if (this.#containers.pop()!.isArray !== (byte === CLOSE_BRACKET))
        throw this.#error('the wrong bracket', at)
      this.#expects = this.#containers.length > 0 ? 'comma or end' : 'nothing'
      return true
    }
    if (expects === 'colon' && byte === COLON) {
      this.#expects = 'value'
      return true
    }
    if (expects.startsWith('key') && byte === QUOTE) {
      this.#begin('key', byte)
      return false
    }
    if (!expects.startsWith('value')) throw this.#error(`there must be ${expects} here`, at)
    const isOpening = byte === OPEN_BRACE || byte === OPEN_BRACKET
    if (this.#decision === 'enter' && isOpening) {
      this.#enter(byte === OPEN_BRACKET, at)
      return true
    }
    if (byte === COMMA || byte === COLON || byte === CLOSE_BRACE || byte === CLOSE_BRACKET)
      throw this.#error('there must be a value here', at)
    this.#begin(this.#decision === 'skip' ? 'skip' : 'take', byte)
    return false
  }

  #next(path: readonly string[], decision: Decision): void {
    this.#path = path
    this.#decision = decision
  }

  #enter(isArray: boolean, at: number): void {
    if (this.#containers.length >= MAX_DEPTH) throw this.#error('nested too deep', at)
    const path = this.#path
    const decision = isArray ? this.#decide([...path, '*']) : undefined
    this.#containers.push({ isArray, path, decision })
    if (isArray) this.#next([...path, '*'], decision!)
    this.#expects = isArray ? 'value or end' : 'key or end'
  }

  #begin(inside: 'key' | 'take' | 'skip', first: number): void {
    this.#inside = inside
    this.#depth = 0
    this.#inString = false
    this.#isEscaped = false
    this.#isScalar = first !== QUOTE && first !== OPEN_BRACE && first !== OPEN_BRACKET
  }

  /** The end of the value or key that is being read, or undefined when it is not in this chunk. */
  #passOver(chunk: Uint8Array, from: number): number | undefined {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) {
          this.#inString = false
          if (this.#depth === 0) return at + 1
        }
      } else if (this.#isScalar) {
        if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte)) return at
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
      else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --this.#depth === 0) return at + 1
    }
    return undefined
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes.slice())
    this.#heldBytes += bytes.length
    if (this.#heldBytes > MAX_TAKEN) throw this.#error(`a value of more than ${MAX_TAKEN} bytes`, 0)
  }

  *#leave(at: number): Generator<Taken> {
    const inside = this.#inside
    this.#inside = undefined
    const value = inside === 'skip' ? undefined : this.#parse(at)
    if (inside === 'key') {
      const path = [...this.#containers.at(-1)!.path, value as string]
      this.#next(path, this.#decide(path))
      this.#expects = 'colon'
      return
    }
    this.#expects = this.#containers.length > 0 ? 'comma or end' : 'nothing'
    // A scalar in place of a container to enter yields nothing.
    if (this.#decision === 'take') yield { path: this.#path, value }
  }

  #parse(at: number): unknown {
    const bytes = this.#held.length === 1 ? this.#held[0]! : concat(this.#held, this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    try {
      return JSON.parse(utf8.decode(bytes))
    } catch {
      throw this.#error('invalid value', at)
    }
  }
}

const concat = (parts: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
