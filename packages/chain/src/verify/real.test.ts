/** Transactions that are in the chain, and so hold. */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { parseTransaction, type Transaction } from '../transaction.ts'
import { Interpreter } from './interpreter.ts'
import { withInputScript } from './mutations.testing.ts'
import { Sighash } from './sighash.ts'
import { evaluateFully } from './template-verdict.testing.ts'

const read = (txid: string): Transaction => {
  const hex = readFileSync(new URL(`./fixtures/${txid}.hex`, import.meta.url), 'utf8').trim()
  return parseTransaction(Buffer.from(hex, 'hex'))
}

const interpreter = new Interpreter()
afterAll(() => interpreter.close())

interface Spend {
  readonly name: string
  readonly child: string
  readonly parent: string
  /** Whether the fast path knows it. */
  readonly isTemplate: boolean
}

const SPENDS: readonly Spend[] = [
  {
    name: 'BSV21 tokens in inscriptions, and change',
    child: 'f7ca34a9c0319bfb837a56ee7375e8246229f5fefbdaaaf9fdec97493d428bee',
    parent: 'ae59f3b898ec61acbdb6cc7a245fabeded0c094bf046f35206a3aec60ef88127',
    isTemplate: true
  },
  {
    name: 'an inscription of 14 KB',
    child: '690b213114926cd5a6f0785cb3e289afe9cde195972c1d344569c90530b8cbd1',
    parent: '34adf92c766e11a656d3ff3508df7b1a31405821bf734bc9bef9fb43fcf701f9',
    isTemplate: true
  },
  {
    name: 'a contract of 6 KB',
    child: '935e2a477bda8709874c548fda2d504d490891ccfa5f8443705a8b6a3f403fda',
    parent: '58b7558ea379f24266c7e2f5fe321992ad9a724fd7a87423ba412677179ccb25',
    isTemplate: false
  }
]

describe('real spends', () => {
  test.each(SPENDS)('$name', async ({ child: childId, parent: parentId, isTemplate }) => {
    const [child, parent] = [read(childId), read(parentId)]
    const key = Buffer.from(parent.txid).toString('hex')
    const inputs = [...child.inputs.keys()].filter(
      i => Buffer.from(child.inputs[i]!.txid).toString('hex') === key
    )
    expect(inputs.length).toBeGreaterThan(0)
    for (const input of inputs) {
      const spent = parent.outputs[child.inputs[input]!.vout]!
      const run = ({ raw }: Transaction) => interpreter.run({ raw, spends: [{ input, ...spent }] }, 10_000)
      expect(evaluateFully(new Sighash(child), input, spent)).toBe(isTemplate ? 'valid' : 'unknown')
      expect(await run(child)).not.toHaveProperty('failed')
      // One bit of the unlocking script, within the signature of a template.
      const script = child.inputs[input]!.script.slice()
      script[20]! ^= 1
      const spoiled = withInputScript(child, input, script)
      if (isTemplate) expect(evaluateFully(new Sighash(spoiled), input, spent)).toHaveProperty('reason')
      expect(await run(spoiled)).toHaveProperty('failed')
    }
  })
})
