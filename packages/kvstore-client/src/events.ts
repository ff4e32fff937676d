/** Server-sent events over `fetch`, since Node 20 has no `EventSource`. */
import { withTimeout } from '@quoin/primitives'

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
      const chunk = await withTimeout(reader.read(), silence, () => undefined).catch(() => undefined)
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
