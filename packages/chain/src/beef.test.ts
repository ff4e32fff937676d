/** BEEF: what is written is what the SDK reads, what the SDK writes is read, and nothing else is. */
import { readFileSync } from 'node:fs'
import { BEEF_V2, MerklePath, Beef as SdkBeef, Transaction as SdkTransaction } from '@bsv/sdk'
import { formatTxid, fromHex, QuoinError, type Txid, toHex, Writer } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blockOf,
  chainOf,
  coin,
  families,
  filler,
  founding,
  minedAt,
  spending,
  unproven
} from './beef.testing.ts'
import { Beef, type BeefLimits, type BeefTransaction, writeBeef } from './beef.ts'
import { Bump } from './merkle/bump.ts'

const VERSIONS = [1, 2] as const
const HEADS = ['0100beef', '0200beef', '01010101'].map(fromHex)
const BRC_62 = readFileSync(new URL('./fixtures/brc62.beef.hex', import.meta.url), 'utf8')

const refusal = (bytes: Uint8Array, limits?: Partial<BeefLimits>): QuoinError | undefined => {
  try {
    Beef.parse(bytes, limits)
    return undefined
  } catch (error) {
    if (error instanceof QuoinError && /^ERR_BEEF_(FORMAT|LIMIT)$/.test(error.code)) return error
    throw error
  }
}

const shown = (entries: readonly BeefTransaction[]): string[][] =>
  entries.map(({ txid, transaction, bump }) => [
    formatTxid(txid),
    transaction ? toHex(transaction.raw) : 'txid only',
    bump ? `${bump.height} ${bump.offsetOf(txid)} ${toHex(bump.rootOf(txid)!)}` : 'unproven'
  ])

/** A transaction of the SDK from what ours are made of, with its parents and proofs attached. */
const sdkFamily = (entries: readonly BeefTransaction[]): SdkTransaction[] => {
  const made = new Map<string, SdkTransaction>()
  for (const { txid, transaction, bump } of entries) {
    const sdk = SdkTransaction.fromBinary([...transaction!.raw])
    for (const input of sdk.inputs) {
      const parent = made.get(input.sourceTXID!)
      if (parent) input.sourceTransaction = parent
    }
    if (bump) sdk.merklePath = MerklePath.fromBinary([...bump.toBytes()])
    made.set(formatTxid(txid), sdk)
  }
  return [...made.values()]
}

const written = (version: 1 | 2, entries: readonly BeefTransaction[], atomic?: Txid): Uint8Array =>
  writeBeef(atomic ? { version, transactions: entries, atomic } : { version, transactions: entries })

/** Some place, bit by bit, of some bytes. */
const flipped = (bytes: Uint8Array, at: number, bit: number): Uint8Array => {
  const changed = Uint8Array.from(bytes)
  changed[at % bytes.length]! ^= 1 << bit
  return changed
}

const chain = (length: number): BeefTransaction[] => {
  const [founder] = minedAt(1, [founding(0, 1)])
  const entries = [founder!]
  for (let i = 1; i < length; i++) {
    entries.push(unproven(spending([coin(entries.at(-1)!.transaction!, 0)], 1)))
  }
  return entries
}

/** Each spends both outputs of the one before. */
const diamonds = (depth: number): BeefTransaction[] => {
  const entries = minedAt(1, [founding(0)])
  for (let i = 0; i < depth; i++) {
    const parent = entries.at(-1)!.transaction!
    entries.push(unproven(spending([coin(parent, 0), coin(parent, 1)])))
  }
  return entries
}

describe('writeBeef and Beef.parse', () => {
  it('are each other’s inverse, in both versions, atomic or not', () => {
    fc.assert(
      fc.property(families, fc.constantFrom(...VERSIONS), fc.boolean(), (entries, version, atomic) => {
        const subject = entries.at(-1)!.txid
        const beef = Beef.parse(written(version, entries, atomic ? subject : undefined))
        expect(shown(beef.transactions)).toStrictEqual(shown(entries))
        expect(beef.version).toBe(version)
        expect(beef.atomic).toBe(atomic)
        expect(beef.subject).toStrictEqual(subject)
        for (const entry of beef.transactions) expect(beef.find(entry.txid)).toBe(entry)
        expect(beef.find(filler(77))).toBeUndefined()
        const again = written(version, beef.transactions, atomic ? subject : undefined)
        expect(again).toStrictEqual(written(version, entries, atomic ? subject : undefined))
      })
    )
  })

  it('put parents first, in whatever order they are given', () => {
    fc.assert(
      fc.property(
        families.chain(entries =>
          fc.tuple(
            fc.constant(entries),
            fc.shuffledSubarray(entries, { minLength: entries.length, maxLength: entries.length })
          )
        ),
        ([entries, shuffled]) => {
          const { transactions } = Beef.parse(written(1, shuffled, entries.at(-1)!.txid))
          expect(transactions.at(-1)!.txid).toStrictEqual(entries.at(-1)!.txid)
          expect(shown(transactions).sort()).toStrictEqual(shown(entries).sort())
          const before = new Set<string>()
          const present = new Set(entries.map(({ txid }) => formatTxid(txid)))
          for (const { txid, transaction } of transactions) {
            for (const parent of transaction!.spentTxids()) {
              expect(before.has(formatTxid(parent)) || !present.has(formatTxid(parent))).toBe(true)
            }
            before.add(formatTxid(txid))
          }
        }
      )
    )
  })

  it('do without bytes beyond those that were given', () => {
    const bytes = Buffer.from(written(2, chain(3)))
    const beef = Beef.parse(bytes)
    expect(beef.transactions[2]!.transaction!.raw.buffer).toBe(bytes.buffer)
    expect(beef.transactions[2]!.transaction!.raw.constructor).toBe(Uint8Array)
    expect(beef.subject.constructor).toBe(Uint8Array)
  })
})

describe('Beef.of', () => {
  it('is what is read from what is written of the same', () => {
    fc.assert(
      fc.property(families, entries => {
        const made = Beef.of(entries)
        const read = Beef.parse(written(1, entries))
        expect(shown(made.transactions)).toEqual(shown(read.transactions))
        expect(formatTxid(made.subject)).toBe(formatTxid(entries.at(-1)!.txid))
        expect(toHex(made.bytes)).toBe(toHex(written(1, entries)))
        for (const { txid } of entries) expect(shown([made.find(txid)!])).toEqual(shown([read.find(txid)!]))
      })
    )
  })

  it('has no transaction twice', () => {
    const one = unproven(founding(1))
    expect(() => Beef.of([one, one])).toThrow(expect.objectContaining({ code: 'ERR_BEEF_FORMAT' }))
  })
})

describe('the SDK', () => {
  it('reads and verifies what is written', async () => {
    await fc.assert(
      fc.asyncProperty(families, fc.constantFrom(...VERSIONS), async (entries, version) => {
        const tracker = chainOf(entries)
        const subject = entries.at(-1)!.txid
        const plain = [...written(version, entries)]
        const atomic = [...written(version, entries, subject)]
        expect(await SdkBeef.fromBinary(plain).verify(tracker)).toBe(true)
        expect(await SdkBeef.fromBinary(atomic).verify(tracker)).toBe(true)
        for (const sdk of [SdkTransaction.fromBEEF(plain), SdkTransaction.fromAtomicBEEF(atomic)]) {
          expect(sdk.id('hex')).toBe(formatTxid(subject))
          expect(await sdk.verify(tracker)).toBe(true)
        }
      }),
      { numRuns: 40 }
    )
  })

  it('writes what is read', () => {
    fc.assert(
      fc.property(families, entries => {
        const sdk = sdkFamily(entries).at(-1)!
        const subject = entries.at(-1)!.txid
        const second = new SdkBeef(BEEF_V2)
        second.mergeTransaction(sdk)
        for (const [version, bytes] of [
          [1, sdk.toBEEF()],
          [1, sdk.toAtomicBEEF()],
          [2, second.toBinary()],
          [2, second.toBinaryAtomic(formatTxid(subject))]
        ] as const) {
          const beef = Beef.parse(Uint8Array.from(bytes))
          expect(beef.version).toBe(version)
          expect(beef.subject).toStrictEqual(subject)
          const theirs = shown(beef.transactions)
          expect(shown(entries)).toEqual(expect.arrayContaining(theirs))
          expect(theirs.at(-1)).toStrictEqual(shown(entries).at(-1))
        }
      }),
      { numRuns: 60 }
    )
  })

  it('writes what is read, with txids only', () => {
    const entries = chain(4)
    const beef = new SdkBeef(BEEF_V2)
    beef.mergeTransaction(sdkFamily(entries).at(-1)!)
    beef.makeTxidOnly(formatTxid(entries[1]!.txid))
    const read = Beef.parse(Uint8Array.from(beef.toBinary()))
    expect(read.version).toBe(2)
    expect(read.find(entries[1]!.txid)).toStrictEqual({
      txid: entries[1]!.txid,
      transaction: undefined,
      bump: undefined
    })
    expect(read.subject).toStrictEqual(entries[3]!.txid)
  })

  it('reads txids only as they are written', () => {
    const entries = chain(3).map((entry, i) => (i === 1 ? { ...entry, transaction: undefined } : entry))
    const beef = SdkBeef.fromBinary([...written(2, entries)])
    expect(beef.txs.map(({ txid, isTxidOnly }) => [txid, isTxidOnly])).toStrictEqual(
      entries.map(({ txid, transaction }) => [formatTxid(txid), transaction === undefined])
    )
  })

  it('may put a proved child before its proved parent, which are put in order', () => {
    const parent = founding(0)
    const child = spending([coin(parent, 0)])
    const last = spending([coin(parent, 1), coin(child, 0)])
    const entries = [...minedAt(1, [parent]), ...minedAt(2, [child]), unproven(last)]
    const sdk = sdkFamily(entries).at(-1)!
    const bytes = Uint8Array.from(sdk.toAtomicBEEF())
    const sent = SdkBeef.fromBinary([...bytes]).txs.map(({ txid }) => txid)
    expect(sent).toStrictEqual([child, parent, last].map(({ txid }) => formatTxid(txid)))
    expect(shown(Beef.parse(bytes).transactions)).toStrictEqual(shown(entries))
  })

  it('agrees on the example of BRC-62', () => {
    const beef = Beef.parse(fromHex(BRC_62))
    const sdk = SdkTransaction.fromHexBEEF(BRC_62)
    expect(formatTxid(beef.subject)).toBe(sdk.id('hex'))
    const [parent, child] = beef.transactions
    expect(parent!.bump!.height).toBe(814435)
    expect(formatTxid(parent!.bump!.root as Txid)).toBe(
      'bb6f640cc4ee56bf38eb5a1969ac0c16caa2d3d202b22bf3735d10eec0ca6e00'
    )
    expect(child!.bump).toBeUndefined()
    expect(toHex(written(1, beef.transactions))).toBe(BRC_62)
  })
})

/** A BEEF written by hand, with whatever is wrong with it. */
const raw = (
  version: 1 | 2,
  bumps: readonly Bump[],
  entries: readonly { entry: BeefTransaction; format?: number; index?: number }[],
  atomic?: Txid
): Uint8Array => {
  const writer = new Writer()
  if (atomic) {
    writer.bytes(HEADS[2]!)
    writer.bytes(atomic)
  }
  writer.bytes(HEADS[version - 1]!)
  writer.varint(bumps.length)
  for (const bump of bumps) bump.write(writer)
  writer.varint(entries.length)
  for (const { entry, index, format = index === undefined ? 0 : 1 } of entries) {
    if (version === 1) writer.bytes(entry.transaction!.raw)
    writer.u8(format)
    if (index !== undefined) writer.varint(index)
    if (version === 2) writer.bytes(format === 2 ? entry.txid : entry.transaction!.raw)
  }
  return writer.finish()
}

describe('a BEEF is refused', () => {
  const [founder, other] = minedAt(1, [founding(0), founding(1)]) as [BeefTransaction, BeefTransaction]
  const child = unproven(spending([coin(founder.transaction!, 0)]))
  const bump = founder.bump!
  const proved = { entry: founder, index: 0 }

  it.each(VERSIONS)('never when it is in order: V%d', version => {
    expect(refusal(raw(version, [bump], [proved, { entry: child }]))).toBeUndefined()
    expect(refusal(raw(version, [bump], [proved, { entry: child }], child.txid))).toBeUndefined()
  })

  it.each([
    ['of no transaction', raw(2, [], []), 'BEEF without a transaction'],
    ['with a transaction twice', raw(1, [bump], [proved, proved]), 'duplicate transaction'],
    [
      'with a transaction and its txid',
      raw(2, [bump], [proved, { entry: founder, format: 2 }]),
      'duplicate transaction'
    ],
    ['with a bump that is not there', raw(1, [bump], [{ entry: founder, index: 1 }]), 'invalid bump index'],
    [
      'with the bump of another transaction',
      raw(2, [other.bump!], [proved]),
      'bump that does not prove its transaction'
    ],
    [
      'with a child before its parent',
      raw(2, [bump], [{ entry: child }, proved]),
      'transaction before its parent'
    ],
    [
      'with a child before the txid of its parent',
      raw(2, [], [{ entry: child }, { entry: founder, format: 2 }]),
      'transaction before its parent'
    ],
    [
      'with an unknown format, V1',
      raw(1, [bump], [{ entry: founder, format: 2 }]),
      'unknown transaction format'
    ],
    [
      'with an unknown format, V2',
      raw(2, [bump], [{ entry: founder, format: 3 }]),
      'unknown transaction format'
    ],
    [
      'that is atomic and has no subject',
      raw(1, [bump], [proved], child.txid),
      'Atomic BEEF without its subject'
    ],
    [
      'that is atomic and has the txid of its subject only',
      raw(2, [], [{ entry: child, format: 2 }], child.txid),
      'Atomic BEEF without its subject'
    ],
    [
      'that is atomic and has a descendant of its subject',
      raw(1, [bump], [proved, { entry: child }], founder.txid),
      'Atomic BEEF with a transaction that is not an ancestor of its subject'
    ],
    [
      'that is atomic and has a stranger to its subject',
      raw(2, [bump], [proved, { entry: other, format: 2 }, { entry: child }], child.txid),
      'Atomic BEEF with a transaction that is not an ancestor of its subject'
    ],
    ['of another version', fromHex('0300beef0000'), 'invalid BEEF: unknown version'],
    [
      'that is atomic twice',
      Uint8Array.of(...HEADS[2]!, ...child.txid, ...HEADS[2]!),
      'invalid BEEF: unknown version'
    ]
  ])('%s', (_, bytes, message) => {
    expect(refusal(bytes)).toMatchObject({ code: 'ERR_BEEF_FORMAT', message })
  })

  it('with bytes left over', () => {
    fc.assert(
      fc.property(families, fc.uint8Array({ minLength: 1, maxLength: 40 }), (entries, more) => {
        const error = refusal(Uint8Array.of(...written(2, entries), ...more))
        expect(error).toMatchObject({ code: 'ERR_BEEF_FORMAT', message: `${more.length} bytes too many` })
      })
    )
  })

  it('wherever it breaks off', () => {
    fc.assert(
      fc.property(families, fc.constantFrom(...VERSIONS), fc.boolean(), (entries, version, atomic) => {
        const bytes = written(version, entries, atomic ? entries.at(-1)!.txid : undefined)
        for (let end = 0; end < bytes.length; end++) {
          if (refusal(bytes.subarray(0, end))?.code !== 'ERR_BEEF_FORMAT') expect.fail(`read ${end} bytes`)
        }
      }),
      { numRuns: 15 }
    )
  })

  it('or read, but never fails in another way, with any bit wrong', () => {
    const entries = [...minedAt(1, [founding(0), founding(1)]), ...minedAt(2, [founding(2)])]
    entries.push(unproven(spending(entries.map(({ transaction }) => coin(transaction!, 0)))))
    for (const version of VERSIONS) {
      const bytes = written(version, entries, entries.at(-1)!.txid)
      for (let at = 0; at < bytes.length; at++) {
        for (let bit = 0; bit < 8; bit++) refusal(flipped(bytes, at, bit))
      }
    }
  })

  it('or read, but never fails in another way, whatever the bytes are', () => {
    const pieces = fc.oneof(
      fc.constantFrom(...HEADS, fromHex('ffffffffffffffffff'), fromHex('feffffffff'), fromHex('01')),
      fc.uint8Array({ maxLength: 40 }),
      families.map(entries => written(1, entries).subarray(4)),
      families.map(entries => written(2, entries).subarray(4))
    )
    fc.assert(
      fc.property(fc.constantFrom(...HEADS), fc.array(pieces, { maxLength: 4 }), (head, rest) => {
        refusal(Uint8Array.from([head, ...rest].flatMap(piece => [...piece])))
      }),
      { numRuns: 500 }
    )
  })
})

describe('limits', () => {
  const entries = [
    ...minedAt(1, [founding(0)]),
    ...minedAt(2, [founding(1)]),
    ...minedAt(3, [founding(2), founding(3)])
  ]
  entries.push(unproven(spending(entries.map(({ transaction }) => coin(transaction!, 0)))))
  const bytes = written(2, entries)
  const nodes = Beef.parse(bytes).bumps.reduce((sum, { size }) => sum + size, 0)

  it.each([
    ['bytes', bytes.length],
    ['transactions', 5],
    ['bumps', 3],
    ['merkleNodes', nodes],
    ['inputs', 8]
  ] as const)('on %s are kept', (name, exact) => {
    expect(refusal(bytes, { [name]: exact })).toBeUndefined()
    expect(refusal(bytes, { [name]: exact - 1 })).toMatchObject({ code: 'ERR_BEEF_LIMIT' })
  })

  it('are those of the documentation unless others are given', () => {
    expect(refusal(new Uint8Array(32 * 1024 * 1024 + 1))).toMatchObject({
      code: 'ERR_BEEF_LIMIT',
      details: { limit: 'bytes', most: 33_554_432, given: 33_554_433 }
    })
    const many = new Writer()
    many.bytes(HEADS[1]!)
    many.varint(0)
    many.varint(100_001)
    many.bytes(new Uint8Array(100_001 * 11))
    expect(refusal(many.finish())).toMatchObject({ code: 'ERR_BEEF_LIMIT' })
  })

  it('are not needed for a count that the bytes cannot hold', () => {
    for (const rest of [
      'ffffffffffffffff1f00',
      '00ffffffffffffffff1f00',
      '00feffffffff',
      'ffffffffffffffffff'
    ]) {
      expect(refusal(fromHex(`0200beef${rest}`))).toMatchObject({ code: 'ERR_BEEF_FORMAT' })
    }
  })
})

describe('bumps in a BEEF', () => {
  it('are merged to one for each block', () => {
    const entries = [...minedAt(7, [founding(0), founding(1), founding(2)]), ...minedAt(8, [founding(3)])]
    const { bumps, transactions } = Beef.parse(written(1, entries))
    expect(bumps.map(({ height, txids }) => [height, txids.length])).toStrictEqual([
      [7, 3],
      [8, 1]
    ])
    expect(transactions.map(({ bump }) => bumps.indexOf(bump!))).toStrictEqual([0, 0, 0, 1])
  })

  it('stay apart for two blocks of one height', () => {
    const [a] = minedAt(7, [founding(0)])
    const b = founding(1)
    const bump = Bump.ofBlock(7, [filler(1), b.txid], [b.txid])
    const { bumps } = Beef.parse(written(1, [a!, { txid: b.txid, transaction: b, bump }]))
    expect(bumps.map(({ root }) => toHex(root))).toStrictEqual([toHex(a!.bump!.root), toHex(bump.root)])
  })

  it('prove what was given with one, and nothing else that they could', () => {
    const [a, b] = [founding(0), founding(1)]
    const block = Bump.ofBlock(7, blockOf(7, [a.txid, b.txid]))
    const { bumps, transactions } = Beef.parse(
      written(2, [{ txid: a.txid, transaction: a, bump: block }, unproven(b)])
    )
    expect(bumps[0]!.txids).toStrictEqual([a.txid])
    expect(bumps[0]!.toBytes()).toStrictEqual(block.trimmedTo(a.txid).toBytes())
    expect(transactions[1]!.bump).toBeUndefined()
  })

  it('are left out with a transaction of which only the txid is written', () => {
    const [entry] = minedAt(7, [founding(0)])
    const { bumps } = Beef.parse(written(2, [{ ...entry!, transaction: undefined }]))
    expect(bumps).toStrictEqual([])
  })
})

describe('writeBeef', () => {
  const [founder, other] = minedAt(1, [founding(0), founding(1)]) as [BeefTransaction, BeefTransaction]
  const only = { txid: founder.txid, transaction: undefined, bump: undefined }

  it.each([
    [
      'a txid only in V1',
      () => written(1, [only]),
      'BEEF V1 cannot hold a txid alone: expected the transaction, or V2'
    ],
    ['duplicate transaction', () => written(2, [founder, only]), 'duplicate transaction'],
    [
      'a bump that proves something else',
      () => written(2, [{ ...founder, bump: other.bump }]),
      'the bump does not prove the txid'
    ],
    [
      'Atomic BEEF without its subject',
      () => written(1, [founder], other.txid),
      'Atomic BEEF without its subject'
    ],
    [
      'an Atomic BEEF with strangers',
      () => written(1, [founder, other], founder.txid),
      'Atomic BEEF with a transaction that is not an ancestor of its subject'
    ]
  ])('refuses %s', (_, write, message) => {
    expect(write).toThrow(expect.objectContaining({ code: 'ERR_BEEF_FORMAT', message }))
  })

  it('refuses transactions that claim to be ancestors of one another', () => {
    const parent = spending([{ txid: filler(1), vout: 0, satoshis: 5 }])
    const child = spending([{ txid: filler(2), vout: 0, satoshis: 5 }])
    const entries = [
      { txid: filler(2), transaction: parent, bump: undefined },
      { txid: filler(1), transaction: child, bump: undefined }
    ]
    expect(() => written(1, entries)).toThrow(
      expect.objectContaining({
        code: 'ERR_BEEF_FORMAT',
        message: 'cycle of transactions'
      })
    )
  })

  it('writes nothing, for an answer of nothing', () => {
    expect(toHex(written(2, []))).toBe('0200beef0000')
  })
})

describe('long ancestries', () => {
  it('of 100,000 are written and read', () => {
    const entries = chain(100_000)
    const bytes = written(1, entries.toReversed(), entries.at(-1)!.txid)
    const beef = Beef.parse(bytes)
    expect(beef.transactions.length).toBe(100_000)
    expect(beef.subject).toStrictEqual(entries.at(-1)!.txid)
    expect(beef.transactions[0]!.txid).toStrictEqual(entries[0]!.txid)
  })

  it('that fork and join a thousand times are walked once', () => {
    const entries = diamonds(1000)
    const beef = Beef.parse(written(2, entries, entries.at(-1)!.txid))
    expect(shown(beef.transactions)).toStrictEqual(shown(entries))
  })
})
