/** A node with the demo's data, and beside it entries, tokens and pools, for tests in a browser and for pictures. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Node, startNode } from 'quoin'
import { Author, type Message } from '../../../packages/node/src/cli/node/author.ts'
import { hello } from '../../../packages/node/src/cli/node/hello.ts'
import { type Entries, writeEntries } from './entries.testing.ts'
import { writePools } from './pools.testing.ts'
import { type TokenData, writeTokens } from './tokens.testing.ts'

export const TOKEN = 'the-operator-of-this-node'

export interface DemoNode {
  readonly node: Node
  readonly url: string
  readonly author: Author
  /** What is live, the last of them in the place of one that is spent. */
  readonly messages: readonly Message[]
  readonly replaced: Message
  readonly entries: Entries
  readonly tokens: TokenData
  close(): Promise<void>
}

export const startDemo = async (options: Readonly<Record<string, unknown>> = {}): Promise<DemoNode> => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-explorer-'))
  const { config } = loadConfig({
    options: {
      store: `lmdb:${join(folder, 'store')}`,
      chain: 'dev',
      port: '0',
      logLevel: 'error',
      blockTime: '0',
      adminToken: TOKEN,
      backups: join(folder, 'backups'),
      'bsv21.activation': 'all',
      ...options
    }
  })
  const node = await startNode(config, { plugins: [hello] })
  const author = new Author(node.url)
  await author.fund(10_000)
  const messages = [
    await author.say('Hello, world'),
    await author.say('Hello, Quoin'),
    await author.say('A typo, to be corected')
  ]
  const entries = await writeEntries(node)
  const tokens = await writeTokens(node)
  await author.mine()
  const replaced = messages.pop()!
  messages.push(await author.replace(replaced, 'A typo, corrected'))
  await author.mine()
  await writePools(node)
  return {
    node,
    url: node.url,
    author,
    messages,
    replaced,
    entries,
    tokens,
    async close() {
      await node.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
