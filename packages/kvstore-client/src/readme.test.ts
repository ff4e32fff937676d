/** The examples of the clients in the README run with a real wallet and a real node, and print what stands below them. */
import { readFileSync } from 'node:fs'
import { format } from 'node:util'
import type { WalletInterface } from '@bsv/sdk'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GlobalKV, LocalKV } from './index.ts'
import { type KvNode, startKvNode } from './node.testing.ts'
import { startChain, type TestChain } from './wallet.testing.ts'

const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/^```typescript\n(.*?)^```\n\n```text\n(.*?)^```$/gms)]

describe('the README', () => {
  let chain: TestChain
  let wallet: WalletInterface
  let node: KvNode

  beforeAll(async () => {
    chain = await startChain()
    wallet = await chain.wallet()
    node = await startKvNode(chain)
  })
  afterAll(async () => {
    await node.close()
    await chain.close()
  })

  it('has an example of each store', () => {
    expect(examples).toHaveLength(2)
  })

  it.each(examples.map(([, code = '', output = ''], i) => [i + 1, code, output] as const))(
    'prints what it says for example %i',
    async (_, code, output) => {
      const printed: string[] = []
      const body = code.replace(/^import .*\n/gm, '').replaceAll('http://localhost:8080', node.url)
      const script = await transform(`async () => {\n${body}\n}`, { loader: 'ts' })
      const run = new Function(
        'GlobalKV',
        'LocalKV',
        'wallet',
        'console',
        `return (${script.code.trim().replace(/;$/, '')})()`
      )
      await run(GlobalKV, LocalKV, wallet, {
        log: (...said: unknown[]) => printed.push(`${format(...said)}\n`)
      })
      expect(printed.join('')).toBe(output)
    }
  )
})
