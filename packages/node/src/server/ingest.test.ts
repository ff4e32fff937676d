/** Imports wait for a busy interpreter, and go on after faults of single transactions. */

import { Beef } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import { type ErrorCode, QuoinError } from '@quoin/primitives'
import { expect, it } from 'vitest'
import { loadConfig } from './config.ts'
import { isAboutTheTransaction, withTokens } from './ingest.ts'
import { openNode } from './node.ts'

it('a transaction that the interpreter is too busy for is taken later, and another failure is passed on', async () => {
  const { config } = loadConfig({
    options: { store: 'memory:', chain: 'scripts-only', 'bsv21.enabled': 'false', logLevel: 'silent' }
  })
  const node = await openNode(config)
  const failures = [
    new QuoinError('ERR_INTERPRETER_BUSY', 'the queue is full', { seconds: 0.01 }),
    new QuoinError('ERR_INTERPRETER_BUSY', 'the queue is full', { seconds: 0.01 })
  ]
  const chain = new DevChain({ seed: 'intake' })
  const beef = Beef.parse(chain.beef(chain.fund(new Uint8Array(25), 1).txid))
  let taken = 0
  const take = withTokens(node, async () => {
    const failure = failures.shift()
    if (failure) throw failure
    taken++
  })
  await take(beef)
  expect([taken, failures.length]).toEqual([1, 0])
  failures.push(new QuoinError('ERR_TX_INVALID', 'the script does not hold'))
  await expect(take(beef)).rejects.toMatchObject({ code: 'ERR_TX_INVALID' })
  await node.close()
})

it.each<[ErrorCode, boolean]>([
  ['ERR_TX_UNKNOWN', true],
  ['ERR_STALE_READ', true],
  ['ERR_TXO_CONFLICT', true],
  ['ERR_STORE_FULL', false],
  ['ERR_INTERPRETER', false]
])('%s is a fault of one transaction: %s', (code, expected) => {
  expect(isAboutTheTransaction(new QuoinError(code, 'failed'))).toBe(expected)
})
