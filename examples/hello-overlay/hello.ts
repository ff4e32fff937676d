/** An overlay in one file: a topic admits greetings, outputs with `OP_FALSE OP_RETURN <text>`; a lookup finds them by text. */
import { escaped } from '@quoin/keyspace'
import { definePlugin } from '@quoin/overlay'
import { chunksOf, OP } from '@quoin/primitives'
import { event } from '@quoin/txo'

const greetingOf = (script: Uint8Array): string | undefined => {
  const [first, second, text] = chunksOf(script).chunks
  const isData = first?.op === OP.FALSE && second?.op === OP.RETURN
  return isData && text?.data ? Buffer.from(text.data).toString() : undefined
}

const about = {
  getDocumentation: async () => 'Greetings. Query: `{ "text": "…" }`.',
  getMetaData: async () => ({ name: 'Hello', shortDescription: 'Greetings by their text.' })
}

export default definePlugin({
  name: 'greetings',
  setup: ({ events, outputs }) => {
    const { greeting } = events({ greeting: event('greeting', 'Greetings by their text.', escaped('text')) })
    return {
      topics: {
        tm_greetings: {
          ...about,
          admit: ({ transaction }) => ({
            outputs: transaction.outputs.flatMap(({ script }, vout) => (greetingOf(script) ? [vout] : []))
          })
        }
      },
      lookups: {
        ls_greetings: {
          ...about,
          topics: ['tm_greetings'],
          index: ({ output }) => ({ events: [greeting.text(greetingOf(output.script)!)] }),
          lookup: async (query: unknown) => {
            const { text } = query as { text: string }
            return (await outputs.search({ keys: [greeting.text(text)], filterSpent: true })).rows
          }
        }
      }
    }
  }
})
