/** A bounded client of server-sent events (HTML standard §9.2). */

import { fetchReasonOf, QuoinError } from './error.ts'

export interface ServerEvent {
  /** `message` unless the server names another type. */
  readonly event: string
  /** The last event id, of this event or an earlier one. */
  readonly id: string
  /** Empty for an event with an id only. */
  readonly data: string
}

/** The longest event, in characters. */
const MAX_EVENT = 32 * 1024 * 1024

/** Parses the text of a stream into complete events. */
export class EventReader {
  /** The incomplete rest, in parts: repeated concatenation would be quadratic. */
  readonly #parts: string[] = []
  #length = 0
  #endsWithCr = false
  #id = ''
  #event = ''
  #data: string[] = []
  #isTold = false

  read(text: string): ServerEvent[] {
    const events: ServerEvent[] = []
    // A line feed after a carriage return at the end of the last part belongs to it.
    let start = this.#endsWithCr && text.startsWith('\n') ? 1 : 0
    this.#endsWithCr = text === '' ? this.#endsWithCr : text.endsWith('\r')
    const ends = /\r\n|\r|\n/g
    ends.lastIndex = start
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      this.#keep(text.slice(start, end.index))
      const line = this.#parts.splice(0).join('')
      start = end.index + end[0].length
      const event = this.#line(line)
      if (event) events.push(event)
    }
    this.#keep(text.slice(start))
    return events
  }

  #keep(part: string): void {
    this.#length += part.length
    if (this.#length > MAX_EVENT) {
      throw new QuoinError('ERR_SOURCE_FORMAT', `an event of more than ${MAX_EVENT} characters`)
    }
    if (part !== '') this.#parts.push(part)
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) {
      this.#id = value
      this.#isTold = true
    }
    return undefined
  }

  #end(): ServerEvent | undefined {
    const event = { event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') }
    const isThere = this.#data.length > 0 || this.#isTold
    this.#event = ''
    this.#data = []
    this.#isTold = false
    this.#length = 0
    return isThere ? event : undefined
  }
}

export interface EventsOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds without a byte after which the connection counts as lost. */
  readonly silence: number
  readonly signal: AbortSignal | undefined
}

/** The events of a URL, in the groups that arrive together. Throws an error of a source at the end. */
export async function* eventsOf(
  url: string,
  { headers = {}, silence, signal }: EventsOptions
): AsyncGenerator<ServerEvent[], void, undefined> {
  const quiet = new AbortController()
  let timer = setTimeout(() => quiet.abort(), silence)
  const name = new URL(url).host
  const lost = (reason: string, cause?: unknown): QuoinError =>
    new QuoinError('ERR_SOURCE_CONNECTION', `${name} ${reason}`, { source: name, reason, cause })
  try {
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: signal ? AbortSignal.any([signal, quiet.signal]) : quiet.signal
    })
    if (!response.ok || !response.body) {
      await response.body?.cancel()
      throw new QuoinError('ERR_SOURCE_REFUSED', `${name} answers with status ${response.status}`, {
        source: name,
        code: response.status
      })
    }
    const reader = new EventReader()
    const decoder = new TextDecoder()
    for await (const chunk of response.body) {
      clearTimeout(timer)
      const events = reader.read(decoder.decode(chunk, { stream: true }))
      // Time in which the consumer is busy does not count as silence.
      if (events.length > 0) yield events
      timer = setTimeout(() => quiet.abort(), silence)
    }
    throw lost('ended the stream')
  } catch (error) {
    if (error instanceof QuoinError || signal?.aborted) throw error
    const reason = quiet.signal.aborted
      ? `is silent for ${silence} ms`
      : `cannot be reached: ${fetchReasonOf(error)}`
    throw lost(reason, error)
  } finally {
    clearTimeout(timer)
  }
}
