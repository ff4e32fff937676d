import { Reader, type Txid, varintLength, Writer } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../hash.ts'
import { Bump } from './bump.ts'
import { COPY, MerkleBranch } from './merkle-branch.ts'

const txidOf = (number: number): Txid => sha256(Uint8Array.of(number & 0xff, number >> 8)) as Txid
const txids = (count: number): Txid[] => Array.from({ length: count }, (_, i) => txidOf(i))
const wayOf = (bytes: Uint8Array, height: number): MerkleBranch | undefined =>
  MerkleBranch.at(bytes, varintLength(height))

/** The same with the two leaves in the other order, which is as good and is read as a tree. */
const turned = (bytes: Uint8Array): Uint8Array => {
  const reader = new Reader(bytes, 'ERR_BEEF_FORMAT')
  const node = (): Uint8Array => {
    const start = reader.offset
    reader.varint()
    if (reader.u8() !== COPY) reader.skip(32)
    return reader.since(start)
  }
  const writer = Writer.ofAnySize()
  reader.varint()
  reader.skip(2)
  writer.bytes(reader.since(0))
  const leaves = [node(), node()]
  for (const leaf of leaves.reverse()) writer.bytes(leaf)
  writer.bytes(bytes.subarray(reader.offset))
  return writer.finish()
}

/** All that a bump says, or why it says nothing. */
const told = (read: () => Bump) => {
  try {
    const bump = read()
    const [txid] = bump.txids as [Txid]
    const { height, depth, size, root } = bump
    const beside = Array.from({ length: 2 }, (_, i) => bump.offsetOf(txidOf(i)))
    return {
      ...{ height, depth, size, root, txids: bump.txids.map(each => each.slice()) },
      ...{ proves: bump.proves(txid), offset: bump.offsetOf(txid), rootOf: bump.rootOf(txid), beside },
      bytes: bump.trimmedTo(txid).toBytes()
    }
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return { code, message }
  }
}

const blocks = fc.integer({ min: 2, max: 300 }).chain(count =>
  fc.record({
    count: fc.constant(count),
    which: fc.integer({ min: 0, max: count - 1 }),
    height: fc.constantFrom(0, 252, 253, 65_535, 65_536, 900_000)
  })
)

describe('the way of one leaf', () => {
  it('is read from the bytes of every proof of one transaction', () => {
    fc.assert(
      fc.property(blocks, ({ count, which, height }) => {
        const block = Bump.ofBlock(height, txids(count))
        const bytes = block.trimmedTo(txidOf(which)).toBytes()
        const way = wayOf(bytes, height)!
        expect(way.txid).toEqual(txidOf(which))
        expect({ ...way }).toMatchObject({ offset: which, end: bytes.length, depth: block.depth })
        expect(way.root).toStrictEqual(block.root)
      })
    )
  })

  it('says what the tree says that could be made of it', () => {
    fc.assert(
      fc.property(blocks, ({ count, which, height }) => {
        const bytes = Bump.ofBlock(height, txids(count), [txidOf(which)]).toBytes()
        const other = turned(bytes)
        expect(wayOf(other, height)).toBeUndefined()
        expect(told(() => Bump.parse(bytes))).toStrictEqual(told(() => Bump.parse(other)))
        expect(told(() => Bump.written(bytes, txidOf(which)))).toStrictEqual(told(() => Bump.parse(other)))
      })
    )
  })

  it('is refused, when it is wrong, for what the tree is refused for', () => {
    let ways = 0
    fc.assert(
      fc.property(
        blocks,
        fc.nat(),
        fc.constantFrom(1, 2, 3, 0x80, 0xff),
        ({ count, which, height }, at, change) => {
          const bytes = Bump.ofBlock(height, txids(count), [txidOf(which)]).toBytes()
          bytes[varintLength(height) + (at % (bytes.length - varintLength(height)))]! ^= change
          if (!wayOf(bytes, height)) return
          ways++
          expect(told(() => Bump.parse(bytes))).toStrictEqual(told(() => Bump.parse(turned(bytes))))
        }
      )
    )
    expect(ways).toBeGreaterThan(10)
  })

  it('is none when bytes are missing', () => {
    const bytes = Bump.ofBlock(7, txids(100), [txidOf(60)]).toBytes()
    expect(wayOf(bytes, 7)).toBeDefined()
    for (let length = 1; length < bytes.length; length++) {
      expect(wayOf(bytes.subarray(0, length), 7)).toBeUndefined()
    }
  })

  it('is none where a block has one transaction, or several are proved', () => {
    expect(wayOf(Bump.ofBlock(7, txids(1)).toBytes(), 7)).toBeUndefined()
    expect(wayOf(Bump.ofBlock(7, txids(9), [txidOf(0), txidOf(1)]).toBytes(), 7)).toBeUndefined()
    expect(wayOf(Bump.ofBlock(7, txids(9), [txidOf(0), txidOf(5)]).toBytes(), 7)).toBeUndefined()
    const alone = Bump.written(Bump.ofBlock(7, txids(1)).toBytes(), txidOf(0))
    expect(told(() => alone)).toMatchObject({ offset: 0, size: 1, proves: true, root: txidOf(0) })
  })

  it('counts against the limit of nodes', () => {
    const bytes = Bump.ofBlock(7, txids(100), [txidOf(60)]).toBytes()
    const read = (limit: number) => Bump.read(new Reader(bytes, 'ERR_BEEF_FORMAT'), limit)
    expect(read(8).size).toBe(8)
    expect(() => read(7)).toThrow(expect.objectContaining({ code: 'ERR_BEEF_LIMIT' }))
  })
})
