/** Forged tokens: thousands, none of them admitted, and none that `@bsv/sdk` would refuse and we not. */

import { isRefusal } from '@quoin/kvstore-client/token'
import { why } from '@quoin/overlay'
import { makeOutpoint } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeKey, payTo, randomFrom, spend, withKeyHash } from '../../chain/src/verify/test-chain.testing.ts'
import { Author, KvNode, readToken } from './author.testing.ts'
import { FORGERIES, type Forgery, forgeries, withHighS } from './forgery.testing.ts'
import { sdkRead } from './sdk.testing.ts'
import { shows } from './shows.testing.ts'
import { verifyToken } from './verify.ts'

const KINDS = Object.keys(FORGERIES).length
const OF_EACH = Math.ceil(2000 / KINDS)
const random = randomFrom(35)
const key = makeKey('forger')
let node: KvNode
let forged: Forgery[]
beforeAll(async () => {
  node = await KvNode.open()
  forged = forgeries(OF_EACH, below => Math.floor(random() * below))
}, 60_000)
afterAll(() => node.close())

/** What the standard demands and the reader of the SDK does not look at (it reads, the overlay admits). */
const STRICTER = new Set([
  'the lock of somebody else',
  'the controller as the lock',
  'another opcode for OP_CHECKSIG',
  'other drops',
  'drops left out',
  'a bit of the script',
  'some bytes of the script',
  'a byte more',
  'a byte less',
  'the end cut off',
  'a bit of the signature'
])

describe('§A forged tokens', () => {
  it('§2.3 §3.3 §A none of 2,000 forged tokens is admitted, and why says why', async () => {
    expect(forged.length).toBeGreaterThanOrEqual(2000)
    const AT_ONCE = 100
    for (let first = 0; first < forged.length; first += AT_ONCE) {
      const some = forged.slice(first, first + AT_ONCE)
      const transaction = spend({
        inputs: [{ from: node.chain.fund(payTo(key), 1000), vout: 0, unlock: withKeyHash(key) }],
        outputs: some.map(({ script }) => ({ satoshis: 1, script }))
      })
      await node.chain.submit(transaction)
      const { tm_kvstore: answer } = await node.submit(transaction)
      shows(
        '2.3-4 3.3-2 3.3-7 5-4 A-3',
        answer!.outputsToAdmit.map(vout => some[vout]!.kind)
      ).toEqual([])
      const refused = (await node.engine.admissions(transaction.txid))!['tm_kvstore']!.refused!
      expect(Object.keys(refused)).toHaveLength(some.length)
      const { reasons } = await why(node.engine, makeOutpoint(transaction.txid, 0), 'tm_kvstore')
      expect(reasons.find(({ code }) => code === 'refused')?.message).toContain(refused[0])
    }
  }, 60_000)

  it('§3.3 §A what is refused here and not by the SDK is refused for what the SDK does not look at', async () => {
    const disagreements = new Set<string>()
    for (const { kind, script } of forged) {
      const ours = verifyToken(script)
      expect(isRefusal(ours)).toBe(true)
      const theirs = await sdkRead(script)
      if (!theirs) continue
      expect(STRICTER).toContain(kind)
      const { code } = ours as { code: string }
      expect(['shape', 'lock']).toContain(code)
      disagreements.add(kind)
    }
    for (const kind of ['the lock of somebody else', 'another opcode for OP_CHECKSIG', 'other drops']) {
      expect(disagreements).toContain(kind)
    }
  }, 120_000)

  it('§3.3 a signature with the greater s is the controller’s, here as there', async () => {
    const script = withHighS(readToken(new Author('ann').script()))
    expect(isRefusal(verifyToken(script))).toBe(false)
    expect(await sdkRead(script)).toBeDefined()
  })
})
