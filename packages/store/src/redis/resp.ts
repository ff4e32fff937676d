/**
 * RESP2, the protocol of Redis: commands to bytes, bytes to replies.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 *
 * A reply is parsed as its chunks come, each byte once, so the work is linear in its size. Anything but RESP2 is
 * refused with an error: the connection it came over cannot be trusted any more.
 */
import { QuoinError } from '@quoin/primitives'

/** Strings are ASCII: names of commands, numbers. Everything else is bytes. */
export type Argument = Uint8Array | string
export type Command = readonly Argument[]

/** An error reply: `WRONGTYPE Operation against…`. */
export class ReplyError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }

  /** The first word: `WRONGTYPE`. */
  get kind(): string {
    const space = this.message.indexOf(' ')
    return space < 0 ? this.message : this.message.slice(0, space)
  }
}

/** A bulk string is bytes, a simple string a string. */
export type Reply = Uint8Array | string | number | null | ReplyError | readonly Reply[]

const CR = 13
const LF = 10
const DOLLAR = 36
const STAR = 42

/** Arguments above this are sent from where they are; smaller ones are cheaper to copy. */
const COPY_LIMIT = 64 * 1024
const FIRST_BUFFER = 64 * 1024
/** A buffer that grew past this for one burst of commands is not kept for the next. */
const KEPT_BUFFER = 4 * 1024 * 1024

/** Collects commands until they are taken, as pieces to write in order. */
export class CommandWriter {
  readonly #free: Uint8Array[] = []
  #buffer: Uint8Array = new Uint8Array(FIRST_BUFFER)
  #at = 0
  /** Where the bytes begin that are in no piece. */
  #from = 0
  #pieces: Uint8Array[] = []

  get isEmpty(): boolean {
    return this.#at === this.#from && this.#pieces.length === 0
  }

  /** How many bytes are in its buffer, large arguments apart. */
  get length(): number {
    return this.#at
  }

  add(command: Command): void {
    this.#header(STAR, command.length)
    for (const argument of command) {
      const length = argument.length
      this.#header(DOLLAR, length)
      if (typeof argument === 'string') {
        this.#reserve(length + 2)
        for (let i = 0; i < length; i++) this.#buffer[this.#at++] = argument.charCodeAt(i)
      } else if (length > COPY_LIMIT) {
        this.#cut()
        this.#pieces.push(argument)
        this.#reserve(2)
      } else {
        this.#reserve(length + 2)
        this.#buffer.set(argument, this.#at)
        this.#at += length
      }
      this.#buffer[this.#at++] = CR
      this.#buffer[this.#at++] = LF
    }
  }

  /** The bytes that were added, and a callback after they were written: their memory is reused then. */
  take(): { pieces: readonly Uint8Array[]; written: () => void } {
    this.#cut()
    const pieces = this.#pieces
    const buffer = this.#buffer
    this.#pieces = []
    this.#at = 0
    this.#from = 0
    this.#buffer = this.#free.pop() ?? new Uint8Array(FIRST_BUFFER)
    return {
      pieces,
      written: () => {
        if (buffer.length <= KEPT_BUFFER && this.#free.length < 4) this.#free.push(buffer)
      }
    }
  }

  #header(kind: number, value: number): void {
    this.#reserve(16)
    const buffer = this.#buffer
    buffer[this.#at++] = kind
    let digits = 1
    for (let rest = value; rest >= 10; digits++) rest = Math.floor(rest / 10)
    for (let i = this.#at + digits - 1, rest = value; i >= this.#at; i--) {
      buffer[i] = 48 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    this.#at += digits
    buffer[this.#at++] = CR
    buffer[this.#at++] = LF
  }

  #cut(): void {
    if (this.#at > this.#from) this.#pieces.push(this.#buffer.subarray(this.#from, this.#at))
    this.#from = this.#at
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#buffer.length) return
    // Parsed pieces stay in the old buffer; the unparsed rest moves.
    const open = this.#buffer.subarray(this.#from, this.#at)
    const larger = new Uint8Array(Math.max(this.#buffer.length * 2, open.length + more))
    larger.set(open)
    this.#buffer = larger
    this.#at = open.length
    this.#from = 0
  }
}

/** The longest bulk string of a server with default settings, and the limits of the other types. */
const MAX_BULK = 512 * 1024 * 1024
const MAX_LINE = 64 * 1024
const MAX_ELEMENTS = 1024 * 1024 * 1024
const MAX_DEPTH = 64

/** The most memory that a retained bulk string keeps alive beside itself. */
const PIECE = 8192

const ascii = new TextDecoder('latin1')

interface OpenArray {
  readonly items: Reply[]
  readonly length: number
}

/** Turns chunks of bytes into replies. After an error it must not be used any more. */
export class ReplyParser {
  readonly #onReply: (reply: Reply) => void
  /** Arrays that lack elements, the innermost last. */
  readonly #open: OpenArray[] = []
  /** The beginning of a line whose end has not come yet. */
  #line: Uint8Array | undefined
  /** A bulk string that lacks bytes, or the CR LF after them. */
  #bulk: Uint8Array | undefined
  #filled = 0

  constructor(onReply: (reply: Reply) => void) {
    this.#onReply = onReply
  }

  /** The chunk is the parser's from then on: replies are views of it, or of copies of its parts. */
  push(given: Uint8Array): void {
    // `slice` of a Node Buffer would be no copy.
    const chunk =
      given.constructor === Uint8Array
        ? given
        : new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    let at = 0
    while (at < chunk.length) {
      if (this.#bulk) at = this.#fill(this.#bulk, chunk, at)
      else if (chunk.length <= PIECE) at = this.#parse(chunk, at)
      else at += this.#parse(chunk.slice(at, at + PIECE), 0)
    }
  }

  /** Goes on to the end, or to a bulk string that does not end before it. */
  #parse(chunk: Uint8Array, from: number): number {
    let at = from
    while (at < chunk.length && !this.#bulk) {
      let end = at
      while (end < chunk.length && chunk[end] !== LF) end++
      if (end - at + (this.#line?.length ?? 0) > MAX_LINE) throw malformed('a line without an end')
      if (end === chunk.length) {
        this.#line = joined(this.#line, chunk.subarray(at))
        return end
      }
      if (this.#line) {
        const line = joined(this.#line, chunk.subarray(at, end + 1))
        this.#line = undefined
        at = end + 1
        const used = this.#read(line, 0, line.length - 1, chunk, at)
        at = used
      } else at = this.#read(chunk, at, end, chunk, end + 1)
    }
    return at
  }

  /** A line from `start` to its LF at `end`; the rest is in `chunk` from `next`. Returns the offset to continue from. */
  #read(line: Uint8Array, start: number, end: number, chunk: Uint8Array, next: number): number {
    const stop = end - 1
    if (stop <= start || line[stop] !== CR) throw malformed('a line that does not end in CR LF')
    switch (line[start]) {
      case DOLLAR: {
        const length = integer(line, start + 1, stop)
        if (length === -1) this.#emit(null)
        else if (length < 0 || length > MAX_BULK) throw malformed(`a string of ${length} bytes`)
        else return this.#begin(length, chunk, next)
        return next
      }
      case STAR: {
        const length = integer(line, start + 1, stop)
        if (length === -1) this.#emit(null)
        else if (length < 0 || length > MAX_ELEMENTS) throw malformed(`an array of ${length} elements`)
        else if (length === 0) this.#emit([])
        else if (this.#open.length === MAX_DEPTH) throw malformed('arrays too deep in each other')
        else this.#open.push({ items: [], length })
        return next
      }
      case 58: // ':'
        this.#emit(integer(line, start + 1, stop))
        return next
      case 43: // '+'
        this.#emit(text(line, start + 1, stop))
        return next
      case 45: // '-'
        this.#emit(new ReplyError(text(line, start + 1, stop)))
        return next
      default:
        throw malformed(`a reply that begins with byte ${line[start]}`)
    }
  }

  #begin(length: number, chunk: Uint8Array, at: number): number {
    const end = at + length
    if (end + 2 <= chunk.length) {
      if (chunk[end] !== CR || chunk[end + 1] !== LF) throw malformed('a string that is longer than it says')
      this.#emit(new Uint8Array(chunk.buffer, chunk.byteOffset + at, length))
      return end + 2
    }
    this.#bulk = new Uint8Array(length)
    this.#filled = 0
    return at
  }

  #fill(bulk: Uint8Array, chunk: Uint8Array, from: number): number {
    let at = from
    if (this.#filled < bulk.length) {
      const part = chunk.subarray(at, at + bulk.length - this.#filled)
      bulk.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
    while (this.#filled >= bulk.length && at < chunk.length) {
      if (chunk[at] !== (this.#filled === bulk.length ? CR : LF)) {
        throw malformed('a string that is longer than it says')
      }
      at++
      if (this.#filled++ === bulk.length) continue
      this.#bulk = undefined
      this.#emit(bulk)
      break
    }
    return at
  }

  #emit(reply: Reply): void {
    let whole = reply
    for (;;) {
      const array = this.#open.at(-1)
      if (!array) {
        this.#onReply(whole)
        return
      }
      array.items.push(whole)
      if (array.items.length < array.length) return
      this.#open.pop()
      whole = array.items
    }
  }
}

const joined = (head: Uint8Array | undefined, tail: Uint8Array): Uint8Array => {
  const whole = new Uint8Array((head?.length ?? 0) + tail.length)
  if (head) whole.set(head)
  whole.set(tail, head?.length ?? 0)
  return whole
}

const text = (line: Uint8Array, start: number, end: number): string => {
  for (let i = start; i < end; i++) if (line[i] === CR) throw malformed('a CR inside a line')
  return ascii.decode(line.subarray(start, end))
}

const integer = (line: Uint8Array, start: number, end: number): number => {
  const negative = line[start] === 45
  const first = negative ? start + 1 : start
  if (first === end || end - first > 19) throw malformed('a number without digits, or with too many')
  let value = 0
  for (let i = first; i < end; i++) {
    const digit = line[i]! - 48
    if (digit < 0 || digit > 9) throw malformed('a number with something else than digits')
    value = value * 10 + digit
  }
  return negative ? -value : value
}

const malformed = (what: string): QuoinError =>
  new QuoinError('ERR_STORE_CONNECTION', `the server does not speak the protocol of Redis: it sent ${what}`)
