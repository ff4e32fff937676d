/** The global profile of BRC-35 as a plug-in: the topic `tm_kvstore` and the lookup service `ls_kvstore` (§3.1). */

import type { Plugin, Remark } from '@quoin/overlay'
import { formatOutpoint, type Outpoint } from '@quoin/primitives'
import type { OutputStore } from '@quoin/txo'
import { TOPIC } from './history.ts'
import { entryEventOf, eventOf, eventsOf, kvDeclarations } from './keys.ts'
import { lookUp } from './lookup.ts'
import { admitEntries, neededBy, TAG_LIMITS, type TagLimits } from './topic.ts'
import { readVerified } from './verify.ts'

const MANUAL = `# Key-value store (BRC-35)

Entries are PushDrop tokens, \`<lock key> OP_CHECKSIG <protocolID> <key> <value> <controller> [<tags>] <signature>\`. The lock
key is derived from the controller for counterparty "anyone", protocol and key, and signs the fields. A transaction that
spends an entry and creates one of the same protocol, key and controller updates it; a transaction that only spends it
deletes it.

A query to \`ls_kvstore\` has at least one of \`key\`, \`controller\`, \`protocolID\` and \`tags\`. \`tagQueryMode\` is \`all\`
(default) or \`any\`, \`limit\` at most 1000 (default 50), \`skip\` at most 9000, \`sortOrder\` \`desc\` (newest first, default) or
\`asc\`. Two extensions of the standard: \`cursor\` continues after a page, and \`history\` is \`true\` for the whole history of
each entry or \`false\` for none. The context of an output, if present, is JSON: \`ambiguous\`, the number of live tokens of the
tuple when there are several; \`history\`, when it is cut, with \`shown\`, the number of values that the answer shows, and \`rest\`,
the path of the others; and on the last output of a page \`cursor\`.
`

const documentation = (name: string) => ({
  getDocumentation: async () => MANUAL,
  getMetaData: async () => ({
    name,
    shortDescription: 'Entries by key, controller, protocol and tags (BRC-35).'
  })
})

/**
 * The topic `tm_kvstore` and the lookup service `ls_kvstore` (BRC-35), with limits of the operator.
 *
 * @example
 * kvstorePlugin({ tags: 50, tagBytes: 100 }).name // 'kv'
 */
export const kvstorePlugin = (limits: TagLimits = TAG_LIMITS): Plugin => ({
  name: 'kv',
  setup: ({ outputs, events }) => {
    // A node declares these events with its store, so that keys can be explained while the plug-in is off.
    if (!outputs.events.find(eventOf.key('any'))) events(kvDeclarations)
    return {
      topics: {
        [TOPIC]: {
          ...documentation('Key-value store'),
          admit: admitEntries(limits),
          needs: neededBy,
          explain: outpoint => explain(outputs, outpoint)
        }
      },
      lookups: {
        ls_kvstore: {
          ...documentation('Key-value store lookup'),
          topics: [TOPIC],
          index: ({ output: { script } }) => {
            const token = readVerified(script)
            return token && { events: eventsOf(token) }
          },
          lookup: (query: unknown) => lookUp(outputs, query)
        }
      }
    }
  }
})

/**
 * `kvstorePlugin` with its default limits.
 *
 * @example
 * import { installPlugins } from '@quoin/overlay'
 * import { openStore } from '@quoin/store'
 * import { OutputStore } from '@quoin/txo'
 * const outputs = new OutputStore(await openStore('memory:'))
 * const { topics, lookups } = await installPlugins([kvstore], { outputs })
 * [...Object.keys(topics), ...Object.keys(lookups)] // [ 'tm_kvstore', 'ls_kvstore' ]
 */
export const kvstore = kvstorePlugin()

/** Reports other live tokens of the tuple of a live entry (§3.4). */
const explain = async (outputs: OutputStore, outpoint: Outpoint): Promise<Remark[]> => {
  const loaded = await outputs.loadOutput(outpoint, { includeEvents: true, includeSpend: true })
  const entry = entryEventOf(loaded?.events ?? [])
  if (entry === undefined || loaded?.spend) return []
  const { rows } = await outputs.search({ keys: [entry], limit: MAX_OTHERS })
  const others = rows
    .map(({ outpoint: each }) => formatOutpoint(each))
    .filter(each => each !== formatOutpoint(outpoint))
  if (others.length === 0) return []
  return [
    {
      code: 'ambiguous',
      message: `The tuple is ambiguous: it has other live tokens, ${others.join(', ')}.`,
      details: { others }
    }
  ]
}

const MAX_OTHERS = 10
