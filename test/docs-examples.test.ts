/** The `@example` blocks of doc comments compile, run, and give the values that they state. */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { WalletInterface } from '@bsv/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KvNode, startKvNode } from '../packages/kvstore-client/src/node.testing.ts'
import { startChain, type TestChain } from '../packages/kvstore-client/src/wallet.testing.ts'
import { docExamples, isPrinted, moduleOf } from './docs-examples.testing.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SCRATCH = join(ROOT, 'dist/doc-examples')
/** The compiler reads all packages. */
const COMPILER_MS = 180_000

type Run = (
  check: (value: unknown, expected: string) => void,
  throwsCode: (work: () => unknown, code: string) => Promise<void>,
  wallet: WalletInterface | undefined
) => Promise<void>

const examples = docExamples()
const exportsOf = new Map(
  await Promise.all(
    [...new Set(examples.map(example => example.package))].map(
      async (name): Promise<[string, string[]]> => [name, Object.keys(await import(name))]
    )
  )
)
let chain: TestChain
let node: KvNode
let wallet: WalletInterface
const modules = examples.map((example, i) => ({ ...example, path: join(SCRATCH, `example-${i}.ts`) }))
beforeAll(async () => {
  chain = await startChain()
  wallet = await chain.wallet()
  node = await startKvNode(chain)
  rmSync(SCRATCH, { recursive: true, force: true })
  mkdirSync(SCRATCH, { recursive: true })
  for (const { path, ...example } of modules) {
    const source = moduleOf(example, exportsOf.get(example.package)!)
    // Where clients look for a node on this machine.
    writeFileSync(path, source.replaceAll('http://localhost:8080', node.url))
  }
})
afterAll(async () => {
  await node.close()
  await chain.close()
  rmSync(SCRATCH, { recursive: true })
})

it('compile', { timeout: COMPILER_MS }, async () => {
  const project = {
    extends: '../../tsconfig.json',
    compilerOptions: { noUnusedLocals: false },
    include: ['*.ts']
  }
  writeFileSync(join(SCRATCH, 'tsconfig.json'), JSON.stringify(project))
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', SCRATCH]).catch(
    error => error
  )
  expect(stdout).toBe('')
})

describe('run', () => {
  it.each(modules)('$title', async ({ path }) => {
    const { default: run }: { default: Run } = await import(path)
    const check = (value: unknown, expected: string): void => {
      if (!isPrinted(value, expected)) expect(value).toBe(expected)
    }
    await run(
      check,
      async (work, expected) => {
        await expect((async () => work())()).rejects.toMatchObject({ code: expected })
      },
      wallet
    )
  })
})

it('say something of each package', () => {
  const names = new Set(examples.map(example => example.package))
  expect(names.size).toBeGreaterThanOrEqual(13)
})
