/** Server-sent events over `fetch`, since Node 20 has no `EventSource`. */

/** A host sends a heartbeat every 15 seconds; a connection silent for longer than this is dead. */
const SILENCE_MS = 60_000
/** Longer than any event of a node. */
const MAX_LINE = 16 << 20

/** The data of each event. Ends when the host closes the stream, is silent, or the connection breaks. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silence = SILENCE_MS
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  try {
    for (;;) {
      const chunk = await within(reader.read(), silence).catch(() => undefined)
      if (!chunk || chunk.done) return
      const lines = (rest + decoder.decode(chunk.value, { stream: true })).split(/\r\n|\n|\r/)
      rest = lines.pop()!
      if (rest.length > MAX_LINE) return
      for (const line of lines) {
        if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
        else if (line === '' && data.length > 0) {
          yield data.join('\n')
          data = []
        }
      }
    }
  } finally {
    // Cancelling a broken connection fails, and there is nothing to release.
    await reader.cancel().catch(() => undefined)
  }
}

/** What a promise resolves to if it does so in time. */
const within = async <T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await Promise.race([
      promise,
      new Promise<undefined>(resolve => {
        timer = setTimeout(() => resolve(undefined), milliseconds)
      })
    ])
  } finally {
    clearTimeout(timer)
  }
}
