/** BSV21 as a plug-in: the discovery topic, the family of token topics, and the lookup. The output store has the ledger. */
import { definePlugin, type InstalledPlugins, type Plugin } from '@quoin/overlay'
import type { OutputStore } from '@quoin/txo'
import type { Activation } from './activation.ts'
import { tokenLookup } from './lookup.ts'
import { DISCOVERY } from './topic-names.ts'
import { discoveryTopic, tokenTopics } from './topics.ts'

/**
 * The BSV21 plug-in for an engine. The topics of inactive tokens accept no submissions.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * import { Engine } from '@quoin/overlay'
 * import { openStore } from '@quoin/store'
 * import { EventRegistry, OutputStore, outputEvents, scriptEvents } from '@quoin/txo'
 * const events = new EventRegistry(outputEvents, scriptEvents, bsv21Events)
 * const outputs = new OutputStore(await openStore('memory:'), { events, ledger: tokenLedger })
 * const overlay = tokenOverlay(outputs, new Activation(outputs))
 * const engine = new Engine({ outputs, tracker: new DevChain(), ...overlay })
 * [...engine.topics.keys()] // [ 'tm_bsv21' ]
 * await engine.close()
 */
export const tokenOverlay = (
  outputs: OutputStore,
  activation: Activation
): Omit<InstalledPlugins, 'delivery'> => ({
  topics: { [DISCOVERY]: discoveryTopic },
  families: [{ find: tokenTopics, open: topic => activation.open(topic) }],
  lookups: { ls_bsv21: tokenLookup(outputs) }
})

export const tokenPlugin = (activation: Activation): Plugin =>
  definePlugin({ name: 'bsv21', setup: ({ outputs }) => tokenOverlay(outputs, activation) })
