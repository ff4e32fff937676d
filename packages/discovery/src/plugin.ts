/** SHIP and SLAP as a plug-in: the topics `tm_ship` and `tm_slap`, the lookup services `ls_ship` and `ls_slap`. */
import { isP2pkh } from '@quoin/chain'
import type { Admittance, Candidate, Plugin, QuoinLookup, QuoinTopic } from '@quoin/overlay'
import type { OutputStore } from '@quoin/txo'
import { type Advertisement, type Protocol, parseAdvertisement, readAdvertisement } from './advertisement.ts'
import { findAdvertisements } from './find.ts'
import { eventsOf } from './keys.ts'
import { parseQuery } from './query.ts'

const MANUAL: Readonly<Record<Protocol, string>> = {
  SHIP: `# Service Host Interconnect (BRC-23)

Advertisements of the hosts of topics: PushDrop tokens with \`SHIP\`, identity key, URI, topic and signature (BRC-88). A query
to \`ls_ship\` is \`"findAll"\`, or has \`domain\`, \`topics\` or \`identityKey\`; \`limit\`, \`skip\` and \`sortOrder\` (\`desc\`, the
newest first, or \`asc\`) page the answer.
`,
  SLAP: `# Service Lookup Availability (BRC-25)

Advertisements of the hosts of lookup services: PushDrop tokens with \`SLAP\`, identity key, URI, service and signature
(BRC-88). A query to \`ls_slap\` is \`"findAll"\`, or has \`domain\`, \`service\` or \`identityKey\`; \`limit\`, \`skip\` and
\`sortOrder\` (\`desc\`, the newest first, or \`asc\`) page the answer.
`
}

/** Refused outputs per transaction that are reported with a reason. */
const MAX_REASONS = 100

const documentation = (protocol: Protocol, shortDescription: string) => ({
  getDocumentation: async () => MANUAL[protocol],
  getMetaData: async () => ({ name: protocol, shortDescription })
})

const topicOf = (protocol: Protocol): QuoinTopic => ({
  ...documentation(protocol, `Admits ${protocol} advertisements.`),
  admit: ({ transaction }: Candidate): Admittance => {
    const outputs: number[] = []
    const refused: Record<number, string> = {}
    for (const [vout, { script }] of transaction.outputs.entries()) {
      // A payment is not reported as a malformed advertisement.
      if (isP2pkh(script)) continue
      const parsed = parseAdvertisement(script, protocol)
      if ('name' in parsed) outputs.push(vout)
      else if (Object.keys(refused).length < MAX_REASONS) refused[vout] = parsed.reason
    }
    return { outputs, ...(Object.keys(refused).length > 0 && { refused }) }
  }
})

const lookupOf = (protocol: Protocol, topic: string, outputs: OutputStore): QuoinLookup => ({
  ...documentation(protocol, `Finds ${protocol} advertisements.`),
  topics: [topic],
  index: ({ output }) => {
    const advertisement: Advertisement | undefined = readAdvertisement(output.script, protocol)
    return advertisement && { events: eventsOf(advertisement) }
  },
  lookup: async query =>
    (await findAdvertisements(outputs, protocol, parseQuery(protocol, query))).map(outpoint => ({ outpoint }))
})

/**
 * The topics and lookup services of SHIP and SLAP.
 *
 * @example
 * import { installPlugins } from '@quoin/overlay'
 * import { openStore } from '@quoin/store'
 * import { EventRegistry, OutputStore } from '@quoin/txo'
 * const outputs = new OutputStore(await openStore('memory:'), { events: new EventRegistry(discoveryEvents) })
 * Object.keys((await installPlugins([discovery], { outputs })).topics) // [ 'tm_ship', 'tm_slap' ]
 */
export const discovery: Plugin = {
  name: 'discovery',
  setup: ({ outputs }) => ({
    topics: { tm_ship: topicOf('SHIP'), tm_slap: topicOf('SLAP') },
    lookups: {
      ls_ship: lookupOf('SHIP', 'tm_ship', outputs),
      ls_slap: lookupOf('SLAP', 'tm_slap', outputs)
    }
  })
}
