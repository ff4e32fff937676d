/** Every page of the explorer with something to see on it, for what is checked on all of them. */
import type { DemoNode } from './node.testing.ts'

export interface View {
  readonly name: string
  readonly path: string
  /** A text that is there when the page has what it shows. */
  readonly wait: string | RegExp
}

export const viewsOf = ({ messages, replaced, author, tokens, entries }: DemoNode): readonly View[] => [
  { name: 'home', path: '/', wait: 'hello:said:' },
  {
    name: 'transaction',
    path: `/explore/tx/${messages.at(-1)!.outpoint.slice(0, 64)}`,
    wait: 'unlocked with'
  },
  { name: 'output', path: `/explore/output/${replaced.outpoint}`, wait: 'removed it' },
  { name: 'address', path: `/explore/address/${author.address}?list=history`, wait: 'unspent' },
  { name: 'topic', path: '/explore/find?key=tp:tm_hello', wait: 'PushDrop' },
  { name: 'search', path: '/explore/search?q=nothing%20like%20it', wait: 'Unknown name' },
  { name: 'tokens', path: '/explore/tokens', wait: 'minted on demand' },
  { name: 'token', path: `/explore/token/${tokens.gold}`, wait: '51.24 %' },
  { name: 'listings', path: `/explore/token/${tokens.gold}?list=listings`, wait: 'sold by' },
  { name: 'holder', path: `/explore/address/${tokens.holder.address}`, wait: '105,048.85' },
  { name: 'entries', path: '/explore/kv', wait: 'Charles' },
  { name: 'entry', path: `/explore/kv/entry?controller=${entries.controller}&key=profile`, wait: 'Ockham' },
  { name: 'ambiguous', path: `/explore/kv/entry?controller=${entries.other}&key=motto`, wait: 'Ambiguous' },
  { name: 'pools', path: '/explore/pools', wait: 'Pool 1' },
  { name: 'pool', path: '/explore/pool/1', wait: 'liquidity begins' },
  { name: 'keyspaces', path: '/explore/keyspaces', wait: 'The output store.' },
  { name: 'explain', path: '/explore/explain/7a3a74703a746d5f68656c6c6f', wait: 'topicOutputs' },
  { name: 'playground', path: '/explore/playground', wait: 'every promised scan is exact' },
  { name: 'operator', path: '/explore/operator', wait: 'again:judge' }
]
