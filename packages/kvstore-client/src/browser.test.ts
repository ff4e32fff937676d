/**
 * The clients where there is no Node: bundled, without Buffer and process, in a context that forbids making code from
 * text as a strict Content-Security-Policy does, with a real wallet and a real node outside of it.
 */
import { webcrypto } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { LocalKVStore, type WalletInterface } from '@bsv/sdk'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GlobalKV } from './global.ts'
import { type KvNode, startKvNode } from './node.testing.ts'
import { startChain, type TestChain } from './wallet.testing.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const bundle = async (): Promise<{ text: string; inputs: string[] }> => {
  const { outputFiles, warnings, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/kvstore-client/src/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'quoin',
    platform: 'browser',
    target: 'es2022'
  })
  expect(warnings).toEqual([])
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) }
}

describe('in a page with a strict policy', () => {
  let chain: TestChain
  let node: KvNode
  let wallet: WalletInterface
  let inputs: string[]
  const page: Record<string, unknown> = {
    TextEncoder,
    TextDecoder,
    URLSearchParams,
    AbortController,
    AbortSignal,
    crypto: webcrypto,
    fetch,
    setTimeout,
    clearTimeout
  }
  const run = (source: string): Promise<unknown> =>
    runInContext(`(async () => { ${source} })()`, page) as Promise<unknown>

  beforeAll(async () => {
    chain = await startChain()
    wallet = await chain.wallet()
    node = await startKvNode(chain)
    const bundled = await bundle()
    inputs = bundled.inputs
    Object.assign(page, { wallet, host: node.url, self: page })
    createContext(page, { codeGeneration: { strings: false, wasm: false } })
    runInContext(bundled.text, page)
  })
  afterAll(async () => {
    await node.close()
    await chain.close()
  })

  it('nothing of Node is there, and nothing of the layers of a node', async () => {
    expect(await run('return [typeof Buffer, typeof process, typeof require].join()')).toBe(
      'undefined,undefined,undefined'
    )
    const ours = inputs.filter(path => !path.startsWith('node_modules/@bsv/sdk/'))
    const packages = ours.map(path => path.split('/').slice(0, 2).join('/'))
    expect([...new Set(packages)].sort()).toEqual(['packages/kvstore-client', 'packages/primitives'])
  })

  it('the local store works, and its entries are those of other clients', async () => {
    const read = await run(`
      const kv = new quoin.LocalKV({ wallet, context: 'browser test' })
      await kv.set('key', 'first')
      await kv.set('key', 'from the page')
      return kv.get('key')
    `)
    expect(read).toBe('from the page')
    expect(await new LocalKVStore(wallet, 'browser test').get('key')).toBe('from the page')
  })

  it('the global store works, and its entries are those of other clients', async () => {
    const read = await run(`
      const kv = new quoin.GlobalKV({ wallet, host })
      await kv.set('page', 'first', { tags: ['t'] })
      await kv.set('page', 'second')
      const changes = kv.watch({ key: 'page' })
      const { value: change } = await changes.next()
      await changes.return()
      const history = await kv.history('page')
      return [history.map(({ value }) => value), change.entry.value].flat().join()
    `)
    expect(read).toBe('first,second,second')
    const kv = new GlobalKV({ wallet, host: node.url })
    expect(await kv.get('page')).toMatchObject({ value: 'second' })
  })

  it('errors have their codes', async () => {
    const code = await run(`
      const kv = new quoin.GlobalKV({ host: 'http://127.0.0.1:1' })
      return kv.get('key', { controller: '02' + '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' })
        .then(() => 'found', error => error.code)
    `)
    expect(code).toBe('ERR_KV_HOST')
  })
})
