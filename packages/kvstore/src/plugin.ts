/** The global profile of BRC-35 as a plug-in: the topic `tm_kvstore` and the lookup service `ls_kvstore` (§3.1). */
import { formatOutpoint, type Outpoint } from '@quoin/keyspace'
import { isRefusal, parseToken } from '@quoin/kvstore-client/token'
import { definePlugin, type Remark } from '@quoin/overlay'
import type { OutputStore } from '@quoin/txo'
import { TOPIC } from './history.ts'
import { entryEventOf, eventOf, eventsOf, kvDeclarations } from './keys.ts'
import { lookUp } from './lookup.ts'
import { admitEntries, neededBy } from './topic.ts'

const MANUAL = `# Key-value store (BRC-35)

Entries are PushDrop tokens, \`<lock key> OP_CHECKSIG <protocolID> <key> <value> <controller> [<tags>] <signature>\`, signed
by their controller and locked by the key that the controller has with anyone for protocol and key. A transaction that
spends an entry and makes one of the same protocol, key and controller updates it; one that only spends it deletes it.

A question to \`ls_kvstore\` has at least one of \`key\`, \`controller\`, \`protocolID\` and \`tags\`; with \`tags\`, \`tagQueryMode\` is
\`all\` (unless given) or \`any\`. \`limit\` is 50 unless given and at most 1000, \`skip\` at most 9000, \`sortOrder\` is \`desc\`
(newest first, unless given) or \`asc\`. Beyond the standard, \`cursor\` goes on after a page, and \`history\` is \`true\` for all
that came before each entry or \`false\` for none of it. The context of an output, if it has one, is JSON: \`ambiguous\`, how
many live tokens the tuple has when it is more than one, and on the last output of a page \`cursor\`.
`

const about = (name: string) => ({
  getDocumentation: async () => MANUAL,
  getMetaData: async () => ({
    name,
    shortDescription: 'Entries by key, controller, protocol and tags (BRC-35).'
  })
})

export const kvstore = definePlugin({
  name: 'kv',
  setup: ({ outputs, events }) => {
    // The store of a node has declared them, plug-in or not: it has to tell what it holds.
    if (!outputs.events.find(eventOf.key('any'))) events(kvDeclarations)
    return {
      topics: {
        [TOPIC]: {
          ...about('Key-value store'),
          admit: admitEntries,
          needs: neededBy,
          explain: outpoint => explain(outputs, outpoint)
        }
      },
      lookups: {
        ls_kvstore: {
          ...about('Key-value store lookup'),
          topics: [TOPIC],
          index: ({ output: { script } }) => {
            const token = parseToken(script)
            return isRefusal(token) ? undefined : { events: eventsOf(token) }
          },
          lookup: (query: unknown) => lookUp(outputs, query)
        }
      }
    }
  }
})

/** Says of a live entry that there are others of its tuple (§3.4). */
const explain = async (outputs: OutputStore, outpoint: Outpoint): Promise<Remark[]> => {
  const loaded = await outputs.loadOutput(outpoint, { includeEvents: true, includeSpend: true })
  const entry = entryEventOf(loaded?.events ?? [])
  if (entry === undefined || loaded?.spend) return []
  const { rows } = await outputs.search({ keys: [entry], limit: MENTIONED })
  const others = rows
    .map(({ outpoint: each }) => formatOutpoint(each))
    .filter(each => each !== formatOutpoint(outpoint))
  if (others.length === 0) return []
  return [
    {
      code: 'ambiguous',
      message: `Its tuple is ambiguous, and has other live tokens: ${others.join(', ')}.`,
      details: { others }
    }
  ]
}

const MENTIONED = 10
