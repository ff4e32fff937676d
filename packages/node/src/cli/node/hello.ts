/** The overlay of `quoin demo`: a topic admits messages, PushDrop outputs with one field; a lookup finds them by text. */
import { escaped } from '@quoin/keyspace'
import { definePlugin } from '@quoin/overlay'
import { decodePushDrop, event } from '@quoin/txo'

const about = {
  getDocumentation: async () => '`{ message?, limit? }`',
  getMetaData: async () => ({ name: 'Hello', shortDescription: 'Messages of up to 64 bytes.' })
}
const messageOf = (script: Uint8Array): string | undefined => {
  const fields = decodePushDrop(script)?.fields ?? []
  return fields.length === 1 && fields[0]!.length <= 64 ? Buffer.from(fields[0]!).toString() : undefined
}
export const hello = definePlugin({
  name: 'hello',
  setup: ({ outputs, events }) => {
    const { said } = events({ said: event('said', 'Messages by what they say.', escaped('message')) })
    return {
      topics: {
        tm_hello: {
          ...about,
          admit: ({ transaction }) => ({
            outputs: transaction.outputs.flatMap(({ script }, vout) => (messageOf(script) ? [vout] : []))
          })
        }
      },
      lookups: {
        ls_hello: {
          ...about,
          topics: ['tm_hello'],
          index: ({ output }) => ({ events: [said.text(messageOf(output.script)!)] }),
          lookup: async (query: unknown) => {
            const { message, limit = 100 } = (query ?? {}) as { message?: string; limit?: number }
            const key = message === undefined ? 'tp:tm_hello' : said.text(message)
            return (await outputs.search({ keys: [key], limit, filterSpent: true })).rows
          }
        }
      }
    }
  }
})
