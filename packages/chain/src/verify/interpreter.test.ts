import { buildScript, OP, writeScriptNumber } from '@quoin/primitives'
import { afterAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../transaction.ts'
import { build, SCRIPTS, TEMPLATES } from './cases.testing.ts'
import { Interpreter, type Job, sharedInterpreter } from './interpreter.ts'
import { ALL, makeKey, payTo, spend, TestChain, withScript } from './test-chain.testing.ts'

const interpreter = new Interpreter()
afterAll(() => interpreter.close())

/** All inputs of a child, which spends this parent. */
const jobOf = ([parent, child]: readonly Transaction[]): Job => ({
  raw: child!.raw,
  spends: child!.inputs.map(({ vout }, input) => ({ input, ...parent!.outputs[vout]! }))
})

const spending = (...locks: Uint8Array[]): Job => {
  const parent = new TestChain().fund(locks.map(script => ({ satoshis: 1, script })))
  const inputs = locks.map((_, vout) => ({ from: parent, vout, unlock: withScript() }))
  return jobOf([
    parent,
    spend({ inputs, outputs: [{ satoshis: 1, script: payTo(makeKey('to')) }], version: 2 })
  ])
}

describe('the interpreter', () => {
  test.each([...SCRIPTS, ...TEMPLATES])('runs $name', async form => {
    const good = build({ form, version: 1, type: ALL, other: 'before' })
    expect(await interpreter.run(jobOf(good.transactions), 5000)).not.toHaveProperty('failed')
  })

  test('names the first input that fails, and why, in one line', async () => {
    const job = spending(buildScript([OP.TRUE]), buildScript([OP.TRUE, OP.FALSE]), buildScript([OP.VERIFY]))
    expect((await interpreter.run(job, 5000)).failed).toEqual({
      input: 1,
      reason: 'The top stack element must be truthy after script evaluation.'
    })
  })

  test('ends a script that takes too long, and goes on', async () => {
    // Ten bytes: an array of a thousand million numbers, filled one by one where nothing can interrupt it.
    const job = spending(buildScript([OP.N5, writeScriptNumber(1_000_000_000), OP.NUM2BIN]))
    const { failed, milliseconds } = await interpreter.run(job, 1000)
    expect(failed).toEqual({ reason: 'took too long' })
    expect(milliseconds).toBeLessThan(5000)
    expect(await interpreter.run(spending(buildScript([OP.TRUE])), 5000)).not.toHaveProperty('failed')
  })

  test('has the memory for what the SDK allows: 32 MB on each stack, and not a byte more', async () => {
    const four = [OP.N5, writeScriptNumber(8_000_000), OP.NUM2BIN, OP.DUP, OP.DUP, OP.DUP]
    const aside = [OP.TOALTSTACK, OP.TOALTSTACK, OP.TOALTSTACK, OP.TOALTSTACK]
    const full = buildScript([...four, ...aside, ...four])
    expect(await interpreter.run(spending(full), 20_000)).not.toHaveProperty('failed')
    const over = buildScript([...four, ...aside, ...four, OP.TRUE])
    expect(await interpreter.run(spending(over), 20_000)).toHaveProperty('failed')
  })

  test('is one for all who bring none of their own', () => {
    expect(sharedInterpreter()).toBe(sharedInterpreter())
  })
})
