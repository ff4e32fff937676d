/** Merkle paths: those of the SDK, byte for byte, for any block; and nothing that would prove more than one thing. */
import { readFileSync } from 'node:fs'
import { MerklePath } from '@bsv/sdk'
import {
  compareBytes,
  formatTxid,
  fromHex,
  hasCode,
  parseTxid,
  QuoinError,
  type Txid,
  toHex,
  Writer
} from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filler } from '../beef.testing.ts'
import { sha256d } from '../hash.ts'
import { Bump } from './bump.ts'

const BRC_74 = readFileSync(new URL('../fixtures/brc74.bump.hex', import.meta.url), 'utf8')

const join = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256d(Uint8Array.of(...left, ...right))

/** The rows of a merkle tree, as the white paper draws them. */
const rowsOf = (txids: readonly Uint8Array[]): Uint8Array[][] => {
  const rows = [[...txids]]
  for (let row = rows[0]!; row.length > 1; rows.push(row)) {
    const below = row
    row = []
    for (let i = 0; i < below.length; i += 2) row.push(join(below[i]!, below[i + 1] ?? below[i]!))
  }
  return rows
}
const rootOf = (txids: readonly Uint8Array[]): string => toHex(rowsOf(txids).at(-1)![0]!)

/** The SDK’s path with all txids of a block, of which it makes paths for some. */
const sdkBlock = (height: number, txids: readonly Txid[]): MerklePath =>
  new MerklePath(height, [txids.map((txid, offset) => ({ offset, hash: formatTxid(txid) }))])

const block = (size: number): Txid[] => Array.from({ length: size }, (_, i) => filler(i))
const blocks = fc
  .tuple(
    fc.integer({ min: 1, max: 70 }),
    fc.nat(900_000),
    fc.array(fc.nat(), { minLength: 1, maxLength: 12 })
  )
  .map(([size, height, picks]) => {
    const txids = block(size)
    return { height, txids, which: [...new Set(picks.map(pick => pick % size))].map(i => txids[i]!) }
  })
const compounds = blocks.map(({ height, txids, which }) => Bump.ofBlock(height, txids, which))

type Node = readonly [offset: number, flags: number, hash?: Uint8Array]

/** Bytes of a bump with whatever is wrong with it. */
const raw = (levels: readonly (readonly Node[])[], height = 5, depth = levels.length): Uint8Array => {
  const writer = new Writer()
  writer.varint(height)
  writer.u8(depth)
  for (const level of levels) {
    writer.varint(level.length)
    for (const [offset, flags, hash] of level) {
      writer.varint(offset)
      writer.u8(flags)
      if (hash) writer.bytes(hash)
    }
  }
  return writer.finish()
}

/** What the bytes of a bump say, by another reader of them. */
const levelsOf = (bump: Bump): Node[][] =>
  MerklePath.fromBinary([...bump.toBytes()]).path.map(level =>
    level.map(
      ({ offset, hash, txid, duplicate }): Node =>
        duplicate ? [offset, 1] : [offset, txid ? 2 : 0, parseTxid(hash!)]
    )
  )

const refusal = (bytes: Uint8Array): QuoinError | undefined => {
  try {
    void Bump.parse(bytes).root
    return undefined
  } catch (error) {
    if (hasCode(error, 'ERR_BEEF_FORMAT')) return error
    throw error
  }
}

describe('a bump of a block', () => {
  it('leads from each of its txids to the root of the block', () => {
    for (let size = 1; size <= 33; size++) {
      const txids = block(size)
      const all = Bump.ofBlock(7, txids)
      expect(all.txids).toStrictEqual(txids)
      for (const [offset, txid] of txids.entries()) {
        const one = all.trimmedTo(txid)
        expect(one.height).toBe(7)
        expect(one.txids).toStrictEqual([txid])
        expect(one.offsetOf(txid)).toBe(offset)
        for (const bump of [all, one]) expect(toHex(bump.rootOf(txid)!)).toBe(rootOf(txids))
      }
    }
  })

  it('is the txid itself, if the block has no other', () => {
    const [txid] = block(1) as [Txid]
    const bump = Bump.ofBlock(7, [txid])
    expect(bump.root).toStrictEqual(txid)
    const sdk = MerklePath.fromCoinbaseTxidAndHeight(formatTxid(txid), 7)
    expect(toHex(bump.toBytes())).toBe(sdk.toHex())
    expect(Bump.parse(bump.toBytes()).offsetOf(txid)).toBe(0)
  })

  it('knows nothing of a txid that is not in it', () => {
    const bump = Bump.ofBlock(7, block(9), [filler(4)])
    expect(bump.rootOf(filler(9))).toBeUndefined()
    expect(bump.offsetOf(filler(9))).toBeUndefined()
    expect(bump.proves(filler(0))).toBe(false)
    expect(() => bump.trimmedTo(filler(0))).toThrow(expect.objectContaining({ code: 'ERR_BEEF_FORMAT' }))
  })

  it('proves the neighbour of what it is for, too', () => {
    const bump = Bump.ofBlock(7, block(9), [filler(4)])
    expect(bump.txids).toStrictEqual([filler(4)])
    expect(toHex(bump.rootOf(filler(5))!)).toBe(rootOf(block(9)))
    expect(bump.trimmedTo(filler(5)).toBytes()).toStrictEqual(
      Bump.ofBlock(7, block(9), [filler(5)]).toBytes()
    )
  })

  it('needs transactions, and something to prove', () => {
    expect(() => Bump.ofBlock(7, [])).toThrow(QuoinError)
    expect(() => Bump.ofBlock(7, block(3), [])).toThrow(QuoinError)
  })

  it('proves thousands of txids', () => {
    const txids = block(5000)
    const which = txids.filter((_, i) => i % 3 === 0)
    const bump = Bump.parse(Bump.ofBlock(7, txids, which).toBytes())
    const root = rootOf(txids)
    for (const txid of which) if (toHex(bump.rootOf(txid)!) !== root) expect.fail(formatTxid(txid))
  })
})

describe('the SDK', () => {
  it('reads every bump, writes it in the same bytes and finds the same root', () => {
    fc.assert(
      fc.property(blocks, ({ height, txids, which }) => {
        const bump = Bump.ofBlock(height, txids, which)
        const sdk = MerklePath.fromBinary([...bump.toBytes()])
        expect(sdk.blockHeight).toBe(height)
        expect(sdk.toHex()).toBe(toHex(bump.toBytes()))
        for (const txid of which) {
          expect(sdk.computeRoot(formatTxid(txid))).toBe(formatTxid(bump.rootOf(txid) as Txid))
          const leaf = sdk.path[0]!.find(({ hash }) => hash === formatTxid(txid))
          expect(leaf!.offset).toBe(bump.offsetOf(txid))
        }
      })
    )
  })

  it('extracts the same bytes from a block', () => {
    fc.assert(
      fc.property(
        blocks.filter(({ txids }) => txids.length > 1),
        ({ height, txids, which }) => {
          const theirs = sdkBlock(height, txids)
          // It misses this copy when it extracts the last txid of an odd number of them.
          if (txids.length % 2) theirs.path[0]!.push({ offset: txids.length, duplicate: true })
          const extracted = theirs.extract(which.map(formatTxid))
          expect(toHex(Bump.ofBlock(height, txids, which).toBytes())).toBe(extracted.toHex())
        }
      ),
      { numRuns: 40 }
    )
  })

  it('combines paths to the same bytes', () => {
    fc.assert(
      fc.property(
        blocks.filter(({ txids }) => txids.length > 1),
        ({ height, txids, which }) => {
          const whole = Bump.ofBlock(height, txids)
          const parts = which.map(txid => whole.trimmedTo(txid))
          const [sdk, ...others] = parts.map(part => MerklePath.fromBinary([...part.toBytes()]))
          for (const other of others) sdk!.combine(other)
          const merged = Bump.merge(parts)
          expect(toHex(merged.toBytes())).toBe(sdk!.toHex())
          expect(toHex(merged.root)).toBe(rootOf(txids))
        }
      ),
      { numRuns: 40 }
    )
  })

  it('writes a whole block as leaves alone, which is read', () => {
    for (const size of [3, 4, 5, 9, 13, 32]) {
      const txids = block(size)
      const bump = Bump.parse(Uint8Array.from(sdkBlock(7, txids).toBinary()))
      expect(toHex(bump.root)).toBe(rootOf(txids))
      expect(bump.txids).toStrictEqual([])
      expect(bump.provingOnly(txids).toBytes()).toStrictEqual(Bump.ofBlock(7, txids).toBytes())
    }
  })

  it('agrees on the example of BRC-74', () => {
    const bump = Bump.parse(fromHex(BRC_74))
    expect(bump.height).toBe(813706)
    expect(toHex(bump.toBytes())).toBe(BRC_74)
    const root = parseTxid('57aab6e6fb1b697174ffb64e062c4728f2ffd33ddcfa02a43b64d8cd29b483b4')
    const third = parseTxid('98c9c5dd79a18f40837061d5e0395ffb52e700a2689e641d19f053fc9619445e')
    expect(bump.rootOf(third)).toStrictEqual(root)
    expect(bump.offsetOf(third)).toBe(3050)
    expect(bump.trimmedTo(third).root).toStrictEqual(root)
    expect(bump.txids.length).toBe(2)
  })
})

describe('reading', () => {
  it('gives back what was written, in whatever order its nodes are', () => {
    fc.assert(
      fc.property(compounds, fc.infiniteStream(fc.nat()), (bump, stream) => {
        const levels = levelsOf(bump)
        const order = new Map(levels.flat().map(node => [node, stream.next().value as number]))
        for (const level of levels) level.sort((a, b) => order.get(a)! - order.get(b)!)
        expect(Bump.parse(raw(levels, bump.height)).toBytes()).toStrictEqual(bump.toBytes())
      })
    )
  })

  it('refuses bytes wherever they break off, and any that are left over', () => {
    fc.assert(
      fc.property(compounds, bump => {
        const bytes = bump.toBytes()
        for (let end = 0; end < bytes.length; end++) {
          if (!refusal(bytes.subarray(0, end))) expect.fail(`read ${end} bytes`)
        }
        expect(refusal(Uint8Array.of(...bytes, 0))).toMatchObject({ message: '1 bytes too many' })
      }),
      { numRuns: 20 }
    )
  })

  it('refuses any bytes in its own way, or reads them the same way twice', () => {
    const near = fc.tuple(compounds, fc.nat(), fc.nat(255)).map(([bump, at, byte]) => {
      const bytes = bump.toBytes()
      bytes[at % bytes.length] = byte
      return bytes
    })
    fc.assert(
      fc.property(fc.oneof(near, fc.uint8Array({ maxLength: 100 })), bytes => {
        if (refusal(bytes)) return
        const bump = Bump.parse(bytes)
        const again = Bump.parse(bump.toBytes())
        expect(again.toBytes()).toStrictEqual(bump.toBytes())
        expect(again.root).toStrictEqual(bump.root)
      }),
      { numRuns: 1000 }
    )
  })

  it('finds another root if a hash is another', () => {
    fc.assert(
      fc.property(compounds, fc.nat(), fc.integer({ min: 32, max: 255 }), (bump, which, bit) => {
        const levels = levelsOf(bump)
        const hashes = levels.flat().flatMap(([, , hash]) => hash ?? [])
        hashes[which % hashes.length]![bit >> 3]! ^= 1 << (bit & 7)
        expect(compareBytes(Bump.parse(raw(levels, bump.height)).root, bump.root)).not.toBe(0)
      })
    )
  })
})

describe('a bump is refused', () => {
  const [a, b, c, d] = block(4) as [Txid, Txid, Txid, Txid]
  const ab = join(a, b)
  const cd = join(c, d)
  const deep = (levels: number): Node[][] => Array.from({ length: levels }, () => [])

  it('never when it is in order', () => {
    expect(
      toHex(
        Bump.parse(
          raw([
            [
              [0, 2, a],
              [1, 0, b]
            ],
            [[1, 0, cd]]
          ])
        ).root
      )
    ).toBe(toHex(join(ab, cd)))
  })

  it.each<[string, Uint8Array, string]>([
    ['of no level', raw([]), 'invalid depth of a merkle tree: expected 1 to 64 levels'],
    ['of 65 levels', raw(deep(65)), 'invalid depth of a merkle tree: expected 1 to 64 levels'],
    ['of empty levels', raw(deep(64)), 'merkle path without a root'],
    ['of a height of 33 bits', raw([[[0, 2, a]]], 2 ** 32), 'invalid block height'],
    ['with flags that are unknown', raw([[[0, 4, a]]]), 'unknown flags of a merkle node'],
    [
      'with a txid that is a copy',
      raw([
        [
          [0, 0, a],
          [1, 3]
        ]
      ]),
      'unknown flags of a merkle node'
    ],
    [
      'with two nodes at one place',
      raw([
        [
          [0, 2, a],
          [1, 0, b],
          [1, 0, c]
        ]
      ]),
      'two merkle nodes at one offset'
    ],
    [
      'with a node outside',
      raw([
        [
          [0, 2, a],
          [4, 0, b]
        ],
        [[1, 0, cd]]
      ]),
      'merkle node outside of its tree'
    ],
    ['with a lone leaf that is not the first', raw([[[2, 2, a]]]), 'merkle node outside of its tree'],
    ['without the neighbour', raw([[[0, 2, a]], [[1, 0, cd]]]), 'merkle path without a root'],
    [
      'without a node on the way',
      raw([
        [
          [0, 2, a],
          [1, 0, b]
        ],
        []
      ]),
      'merkle path without a root'
    ],
    [
      'with one complete path and one that is not',
      raw([
        [
          [0, 2, a],
          [1, 0, b],
          [2, 2, c]
        ],
        [[1, 0, cd]]
      ]),
      'incomplete merkle path'
    ],
    [
      'without a leaf',
      raw([
        [],
        [
          [0, 0, ab],
          [1, 0, cd]
        ]
      ]),
      'merkle path without a leaf'
    ],
    [
      'with a node that does not follow from those below',
      raw([
        [
          [0, 2, a],
          [1, 2, b]
        ],
        [
          [0, 0, cd],
          [1, 0, cd]
        ]
      ]),
      'contradictory merkle paths'
    ],
    [
      'with a copy where a node follows from those below',
      raw([
        [
          [0, 2, a],
          [1, 2, b],
          [2, 2, c],
          [3, 2, d]
        ],
        [[1, 1]]
      ]),
      'contradictory merkle paths'
    ],
    [
      'with a copy on the left',
      raw([
        [
          [0, 1],
          [1, 2, b]
        ]
      ]),
      'duplicate flag within a level of a merkle tree'
    ],
    [
      'with a copy before another node',
      raw([
        [
          [0, 2, a],
          [1, 1],
          [2, 0, c],
          [3, 0, d]
        ],
        [[1, 0, cd]]
      ]),
      'duplicate flag within a level of a merkle tree'
    ],
    [
      'with two copies in a level',
      raw([
        [
          [0, 2, a],
          [1, 1],
          [3, 1]
        ],
        [[1, 0, cd]]
      ]),
      'duplicate flag within a level of a merkle tree'
    ],
    [
      'with a txid at two places',
      raw([
        [
          [0, 2, a],
          [1, 0, b],
          [2, 0, a],
          [3, 0, d]
        ],
        []
      ]),
      'txid at two offsets of a block'
    ],
    [
      'with a txid in the place of its copy',
      raw([
        [
          [0, 0, a],
          [1, 2, a]
        ]
      ]),
      'txid at two offsets of a block'
    ],
    [
      'with a path through the copy of a node',
      raw([
        [
          [2, 2, a],
          [3, 0, b]
        ],
        [[0, 0, ab]]
      ]),
      'merkle path through a duplicated node'
    ],
    ['with more nodes than bytes', fromHex('0501feffffff00'), '16777215 merkle nodes do not fit']
  ])('%s', (_, bytes, message) => {
    expect(refusal(bytes)).toMatchObject({ code: 'ERR_BEEF_FORMAT', message })
  })

  it('but not with a copy that is written out', () => {
    const marked = Bump.parse(
      raw([
        [
          [2, 2, c],
          [3, 1]
        ],
        [[0, 0, ab]]
      ])
    )
    const written = Bump.parse(
      raw([
        [
          [2, 2, c],
          [3, 0, c]
        ],
        [[0, 0, ab]]
      ])
    )
    expect(written.offsetOf(c)).toBe(2)
    expect(written.root).toStrictEqual(marked.root)
    expect(Bump.merge([written, marked]).root).toStrictEqual(marked.root)
  })

  it('but not with a node that follows from others, or is of no use', () => {
    const bump = Bump.parse(
      raw([
        [
          [0, 2, a],
          [1, 2, b],
          [3, 0, d]
        ],
        [
          [0, 0, ab],
          [1, 0, cd]
        ]
      ])
    )
    expect(toHex(bump.rootOf(b)!)).toBe(toHex(join(ab, cd)))
    expect(bump.offsetOf(d)).toBe(3)
    expect(bump.rootOf(d)).toBeUndefined()
    expect(bump.trimmedTo(a).toBytes()).toStrictEqual(
      raw([
        [
          [0, 2, a],
          [1, 0, b]
        ],
        [[1, 0, cd]]
      ])
    )
  })
})

describe('merging', () => {
  it('loses nothing and keeps nothing that is not needed, however the txids are spread', () => {
    fc.assert(
      fc.property(
        blocks,
        fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
        ({ height, txids, which }, spread) => {
          const whole = Bump.ofBlock(height, txids)
          const groups = [0, 1, 2, 3]
            .map(group => which.filter((_, i) => spread[i] === group))
            .filter(group => group.length > 0)
          const merged = Bump.merge(groups.map(group => whole.provingOnly(group)))
          expect(merged.toBytes()).toStrictEqual(whole.provingOnly(which).toBytes())
        }
      )
    )
  })

  it('is for bumps of one block', () => {
    const one = Bump.ofBlock(7, block(9), [filler(1)])
    for (const other of [
      Bump.ofBlock(8, block(9), [filler(2)]),
      Bump.ofBlock(7, block(8), [filler(2)]),
      Bump.ofBlock(7, block(10), [filler(2)]),
      Bump.ofBlock(7, block(40), [filler(2)]),
      Bump.ofBlock(7, [filler(50), ...block(8)], [filler(2)])
    ]) {
      for (const bumps of [
        [one, other],
        [other, one]
      ]) {
        expect(() => Bump.merge(bumps)).toThrow(expect.objectContaining({ code: 'ERR_BEEF_FORMAT' }))
      }
    }
    expect(() => Bump.merge([])).toThrow(QuoinError)
  })
})
