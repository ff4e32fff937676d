/**
 * The changes of topics at a Quoin node, from its live stream. The stream is not believed: an event says that there may be
 * changes, and the sync lists and verifies them from its own position in the log of the topic.
 */
import { eventsOf } from '@quoin/primitives'

export interface ChangesOptions {
  /** Milliseconds without a byte after which the stream counts as lost; 60,000 unless given. */
  readonly silence?: number | undefined
  readonly signal: AbortSignal
}

/** The node sends a sign of life every 15 seconds. */
const SILENCE_MS = 60_000

/**
 * Topics with changes, as the node commits them. All topics come first, for changes from before the stream. Throws when the
 * stream cannot be opened, and when it ends.
 */
export async function* changesOf(
  url: string,
  topics: readonly string[],
  { silence = SILENCE_MS, signal }: ChangesOptions
): AsyncGenerator<readonly string[], void, undefined> {
  const query = topics.map(topic => `topics=${encodeURIComponent(topic)}`).join('&')
  let isFirst = true
  for await (const events of eventsOf(`${url}/live?${query}`, { silence, signal })) {
    const told = events.filter(({ data }) => data !== '')
    if (isFirst) yield topics
    else if (told.length > 0) {
      const changed = new Set(told.flatMap(({ data }) => changedTopics(data, topics)))
      yield [...changed]
    } else yield []
    isFirst = false
  }
}

/** The topics that a change names; all of them if it is of another form. */
const changedTopics = (data: string, topics: readonly string[]): readonly string[] => {
  const found = topics.filter(topic => data.includes(`"${topic}"`))
  return found.length > 0 ? found : topics
}
