/** BSV21 as a plug-in: topics, the family of tokens, and the lookup. The ledger is the output store's. */
import { definePlugin, type Installed, type Plugin } from '@quoin/overlay'
import type { OutputStore } from '@quoin/txo'
import type { Activation } from './activation.ts'
import { tokenLookup } from './lookup.ts'
import { DISCOVERY } from './topic-names.ts'
import { discoveryTopic, tokenTopics } from './topics.ts'

/** Topics of tokens that are not active take no transactions. */
export const tokenOverlay = (outputs: OutputStore, activation: Activation): Omit<Installed, 'delivery'> => ({
  topics: { [DISCOVERY]: discoveryTopic },
  families: [{ find: tokenTopics, open: topic => activation.open(topic) }],
  lookups: { ls_bsv21: tokenLookup(outputs) }
})

export const tokenPlugin = (activation: Activation): Plugin =>
  definePlugin({ name: 'bsv21', setup: ({ outputs }) => tokenOverlay(outputs, activation) })
