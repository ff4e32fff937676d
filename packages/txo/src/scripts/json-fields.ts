/**
 * Reads named text fields of a JSON object (RFC 8259) that a stranger wrote. One pass without a tree: nested brackets
 * and long arrays cost as much as any text of their length, which `JSON.parse` does not promise.
 *
 * Bytes that are not UTF-8 count as U+FFFD, and objects nest 10,000 deep at most, as in the `encoding/json` of other
 * indexers. Of two equal keys the last counts.
 */

const MAX_DEPTH = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The text of a field; undefined for a value of another type. A field that is absent has no entry. */
export type JsonFields = ReadonlyMap<string, string | undefined>

/** Undefined for bytes that are not a JSON object. */
export const readJsonFields = (bytes: Uint8Array, names: readonly string[]): JsonFields | undefined => {
  const { buffer, byteOffset, byteLength } = bytes
  const scan = new Scan(Buffer.from(buffer, byteOffset, byteLength).toString('utf8'))
  const fields = new Map<string, string | undefined>()
  if (!scan.accept(OPEN_OBJECT)) return undefined
  if (!scan.accept(CLOSE_OBJECT)) {
    do {
      const name = scan.string()
      if (name === undefined || !scan.accept(COLON)) return undefined
      const value = scan.value()
      if (!value) return undefined
      const wanted = name.length <= LONGEST_NAME ? (JSON.parse(name) as string) : ''
      if (names.includes(wanted)) fields.set(wanted, value.text && JSON.parse(value.text))
    } while (scan.accept(COMMA))
    if (!scan.accept(CLOSE_OBJECT)) return undefined
  }
  return scan.isAtEnd() ? fields : undefined
}

/** Of a name with its quotes, where each of a few characters may be an escape of six. */
const LONGEST_NAME = 64

/** Whether one more container, within the outermost object, is one too many. */
const isTooDeep = (open: readonly number[]): boolean => open.length + 2 > MAX_DEPTH

const WORDS = ['true', 'false', 'null'] as const

class Scan {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Moves behind a character, and the white space before it, if that comes next. */
  accept(character: number): boolean {
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) !== character) return false
    this.#at++
    return true
  }

  isAtEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length
  }

  /** A string as written, with its quotes. */
  string(): string | undefined {
    this.#skipSpace()
    const start = this.#at
    return this.#skipString() ? this.#text.slice(start, this.#at) : undefined
  }

  /** Any value; with its text as written if it is a string. */
  value(): { readonly text?: string } | undefined {
    this.#skipSpace()
    if (this.#text.charCodeAt(this.#at) === QUOTE) {
      const text = this.string()
      return text === undefined ? undefined : { text }
    }
    return this.#skipValue() ? {} : undefined
  }

  #skipValue(): boolean {
    /** The closing characters of the containers that are open. */
    const open: number[] = []
    for (;;) {
      if (this.accept(OPEN_LIST)) {
        if (isTooDeep(open)) return false
        if (!this.accept(CLOSE_LIST)) {
          open.push(CLOSE_LIST)
          continue
        }
      } else if (this.accept(OPEN_OBJECT)) {
        if (isTooDeep(open)) return false
        if (!this.accept(CLOSE_OBJECT)) {
          open.push(CLOSE_OBJECT)
          if (!this.#skipName()) return false
          continue
        }
      } else if (!this.#skipScalar()) {
        return false
      }
      while (open.length > 0 && this.accept(open.at(-1)!)) open.pop()
      if (open.length === 0) return true
      if (!this.accept(COMMA) || (open.at(-1) === CLOSE_OBJECT && !this.#skipName())) return false
    }
  }

  #skipName(): boolean {
    this.#skipSpace()
    return this.#skipString() && this.accept(COLON)
  }

  #skipScalar(): boolean {
    if (this.#text.charCodeAt(this.#at) === QUOTE) return this.#skipString()
    const word = WORDS.find(each => this.#text.startsWith(each, this.#at))
    if (word === undefined) return this.#skipNumber()
    this.#at += word.length
    return true
  }

  #skipNumber(): boolean {
    const text = this.#text
    if (text[this.#at] === '-') this.#at++
    if (text[this.#at] === '0') this.#at++
    else if (!this.#skipDigits()) return false
    if (text[this.#at] === '.') {
      this.#at++
      if (!this.#skipDigits()) return false
    }
    if (text[this.#at] === 'e' || text[this.#at] === 'E') {
      this.#at++
      if (text[this.#at] === '+' || text[this.#at] === '-') this.#at++
      if (!this.#skipDigits()) return false
    }
    return true
  }

  #skipDigits(): boolean {
    const start = this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (!(code >= 0x30 && code <= 0x39)) return this.#at > start
      this.#at++
    }
  }

  #skipString(): boolean {
    const text = this.#text
    if (text.charCodeAt(this.#at) !== QUOTE) return false
    for (;;) {
      const code = text.charCodeAt(++this.#at)
      if (code === QUOTE) {
        this.#at++
        return true
      }
      if (code === BACKSLASH) {
        const letter = text[++this.#at]
        if (letter === undefined) return false
        if (letter === 'u') {
          if (!/^[0-9a-fA-F]{4}$/.test(text.slice(this.#at + 1, this.#at + 5))) return false
          this.#at += 4
        } else if (!'"\\/bfnrt'.includes(letter)) return false
      } else if (!(code >= 0x20)) {
        // A control character, or NaN at the end of the text.
        return false
      }
    }
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }
}
