import { readFileSync } from 'node:fs'
import { formatHash, parseHash } from '@quoin/chain'
import { describe, expect, it } from 'vitest'
import { rootOf, tacAfter, ZERO_HASH } from './tree.ts'

interface Root {
  readonly txids: readonly string[]
  readonly root: string
}
interface Anchor {
  readonly blockHeight: number
  readonly blockHash: string
  readonly admitted?: readonly { readonly txid: string }[]
  readonly basmRoot: string
  readonly tac: string
}

const vectors = JSON.parse(
  readFileSync(new URL('fixtures/brc136-vectors.json', import.meta.url), 'utf8')
) as {
  readonly ownRoots: readonly Root[]
  readonly ownChain: { readonly anchors: readonly Anchor[] }
  readonly ownChainAfterReorg: { readonly anchors: readonly Anchor[] }
  readonly alsoPublished: {
    readonly roots: readonly Root[]
    readonly tacChains: readonly { readonly name: string; readonly anchors: readonly Anchor[] }[]
  }
}

const roots = [...vectors.ownRoots, ...vectors.alsoPublished.roots]

describe('roots of BRC-136', () => {
  it.each(roots.map(({ txids, root }) => [txids.length, root, txids] as const))(
    '%i txids: %s',
    (_, root, txids) => {
      expect(formatHash(rootOf(txids.map(txid => parseHash(txid))))).toBe(root)
    }
  )
})

const expectChain = (anchors: readonly Anchor[], before: Uint8Array = ZERO_HASH): void => {
  let tac = before
  for (const { blockHash, admitted, basmRoot, tac: expected } of anchors) {
    if (admitted) expect(formatHash(rootOf(admitted.map(({ txid }) => parseHash(txid))))).toBe(basmRoot)
    tac = tacAfter(tac, parseHash(blockHash), parseHash(basmRoot))
    expect(formatHash(tac)).toBe(expected)
  }
}

describe('chains of BRC-136', () => {
  it.each(vectors.alsoPublished.tacChains.map(({ name, anchors }) => [name, anchors] as const))(
    '%s',
    (_, anchors) => expectChain(anchors)
  )

  it('a chain from its start, and after a reorg', () => {
    const { anchors } = vectors.ownChain
    expectChain(anchors)
    const [first] = vectors.ownChainAfterReorg.anchors
    const below = anchors.find(({ blockHeight }) => blockHeight === first!.blockHeight - 1)!
    expectChain(vectors.ownChainAfterReorg.anchors, parseHash(below.tac))
  })
})
