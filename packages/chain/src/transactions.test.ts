/** Transactions and proofs, stored apart, and put together as BEEF. */
import { Transaction as SdkTransaction } from '@bsv/sdk'
import { formatTxid, type Txid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainOf, coin, families, founding, minedAt, spending, unproven } from './beef.testing.ts'
import { Beef, type BeefTransaction } from './beef.ts'
import { Bump } from './merkle/bump.ts'
import { TransactionStore } from './transactions.ts'

const stored = async (entries: readonly BeefTransaction[]): Promise<TransactionStore> => {
  const store = await openStore('memory:')
  const transactions = new TransactionStore(store)
  const batch = store.batch()
  for (const { txid, transaction, bump } of entries) {
    if (transaction) transactions.saveIn(batch, transaction, { verified: true })
    if (bump) transactions.saveProofIn(batch, txid, bump)
  }
  await batch.commit()
  return transactions
}
const names = (beef: Uint8Array): string[] =>
  Beef.parse(beef).transactions.map(({ txid }) => formatTxid(txid))

describe('a store of transactions', () => {
  it('gives back what was saved, and nothing for what was not', async () => {
    const transaction = founding(1)
    const transactions = await stored([unproven(transaction)])
    expect((await transactions.get(transaction.txid))?.raw).toEqual(transaction.raw)
    expect(await transactions.proof(transaction.txid)).toBeUndefined()
    expect(await transactions.get(founding(2).txid)).toBeUndefined()
  })

  it('keeps of a proof what proves the one transaction', async () => {
    const block = [founding(1), founding(2), founding(3)]
    const [first] = minedAt(7, block)
    const all = Bump.merge(minedAt(7, block).map(({ bump }) => bump!))
    const transactions = await stored([{ ...first!, bump: all }])
    const proof = await transactions.proof(first!.txid)
    expect(proof!.txids.map(formatTxid)).toEqual([formatTxid(first!.txid)])
    expect(proof!.root).toEqual(all.root)
    expect(await transactions.minedBetween(7, 7)).toEqual([first!.txid])
    expect(await transactions.minedBetween(8)).toEqual([])
  })

  it('refuses a proof of another transaction', async () => {
    const [mined] = minedAt(7, [founding(1)])
    await expect(stored([{ ...unproven(founding(2)), bump: mined!.bump }])).rejects.toMatchObject({
      code: 'ERR_PROOF_INVALID'
    })
  })

  it('knows what was verified, and how high it is', async () => {
    const [mined] = minedAt(7, [founding(1)])
    const child = spending([coin(mined!.transaction!, 0)])
    const transactions = await stored([mined!, unproven(child)])
    const [first, second, third] = await transactions.known([mined!.txid, child.txid, founding(9).txid])
    expect([first?.height, second?.height, third]).toEqual([7, undefined, undefined])
    expect(second?.transaction.txid).toEqual(child.txid)
  })
})

describe('BEEF on demand', () => {
  it('of any family is what an SDK client needs, and no more', async () => {
    await fc.assert(
      fc.asyncProperty(families, fc.constantFrom<1 | 2>(1, 2), async (family, version) => {
        const transactions = await stored(family)
        const subject = family.at(-1)!.txid
        const beef = await transactions.beef(subject, { version, atomic: version === 2 })
        const parsed =
          version === 2 ? SdkTransaction.fromAtomicBEEF([...beef]) : SdkTransaction.fromBEEF([...beef])
        expect(parsed.id('hex')).toBe(formatTxid(subject))
        expect(await parsed.verify(chainOf(family))).toBe(true)
        for (const { transaction, bump, txid } of Beef.parse(beef).transactions) {
          const isNeeded = family.some(
            each =>
              !each.bump &&
              each.transaction!.inputs.some(input => formatTxid(input.txid) === formatTxid(txid))
          )
          expect(isNeeded || formatTxid(txid) === formatTxid(subject)).toBe(true)
          expect(transaction !== undefined && (bump !== undefined || transaction.inputs.length > 0)).toBe(
            true
          )
        }
      }),
      { numRuns: 40 }
    )
  })

  it('stops at proofs, unless a transaction is to be opened: then a client walks through it', async () => {
    const [funding] = minedAt(1, [founding(1)])
    const steps: BeefTransaction[] = []
    let last = funding!.transaction!
    for (let height = 2; height <= 5; height++) {
      last = spending([coin(last, 0)], 1)
      steps.push(...minedAt(height, [last]))
    }
    const family = [funding!, ...steps]
    const transactions = await stored(family)
    expect(names(await transactions.beef(last.txid))).toEqual([formatTxid(last.txid)])
    const chain = new Set(steps.map(({ txid }) => formatTxid(txid)))
    const beef = await transactions.beef(last.txid, { open: (txid: Txid) => chain.has(formatTxid(txid)) })
    let walked = SdkTransaction.fromBEEF([...beef])
    expect(await walked.verify(chainOf(family))).toBe(true)
    for (let depth = 0; depth < 4; depth++) walked = walked.inputs[0]!.sourceTransaction!
    expect(walked.id('hex')).toBe(formatTxid(funding!.txid))
  })

  it('opens nothing whose parents are not stored', async () => {
    const parent = founding(1)
    const child = spending([coin(parent, 0)])
    const [mined] = minedAt(3, [child])
    const transactions = await stored([mined!])
    expect(names(await transactions.beef(child.txid, { open: () => true }))).toEqual([formatTxid(child.txid)])
  })

  it('says what is missing', async () => {
    const parent = founding(1)
    const child = spending([coin(parent, 0)])
    const transactions = await stored([unproven(child)])
    await expect(transactions.beef(child.txid)).rejects.toMatchObject({
      code: 'ERR_TX_UNKNOWN',
      details: { txid: formatTxid(parent.txid) }
    })
  })
})
