/** Vectors of the rules over inputs and outputs: what is covered, what is authorised, in both forms. */
import type { TokenId } from '@quoin/primitives'
import * as t from '../tokens.testing.ts'
import { ALICE, BOB, type VectorCase } from './vector-case.testing.ts'

const MAX = 2n ** 64n - 1n
const HALF = 2n ** 63n

const COVER = 'BRC-161, transfer and burn: admitted only when I >= O_t + O_b, all of them or none'
const AUTH = 'BRC-161, mint and auth: at least one valid authority input of the same token'
const EXACT = `${COVER}; sums are exact beyond 64 bits (BRC-162, amounts)`
const moves = (
  name: string,
  supply: bigint,
  outputs: (id: TokenId) => readonly ReturnType<typeof t.transfer>[],
  admitted: readonly number[],
  more: { readonly why?: string; readonly differs?: NonNullable<VectorCase['differs']> } = {}
): VectorCase => ({
  group: 'cover',
  name,
  why: more.why ?? COVER,
  ...(more.differs && { differs: more.differs }),
  build: history => {
    const { id, deployed } = history.fixed(supply)
    history.make([[deployed, 0]], outputs(id))
    return { admitted: { [id]: admitted } }
  }
})

const BY_OUTPUT = { indexer: 'admits the first outputs, as far as the inputs reach' }
const WRAPS = { '1sat-2026': 'admits neither: the sum does not fit 64 bits' }

const cover: readonly VectorCase[] = [
  moves('exactly what comes in', 10n, id => [t.transfer(id, 4n, BOB), t.transfer(id, 6n, BOB)], [0, 1]),
  moves('less than comes in: the rest is burned', 10n, id => [t.transfer(id, 4n, BOB)], [0]),
  moves('more than comes in', 10n, id => [t.transfer(id, 11n, BOB)], []),
  moves(
    'more than comes in, in two outputs',
    10n,
    id => [t.transfer(id, 6n, BOB), t.transfer(id, 5n, BOB)],
    [],
    { differs: BY_OUTPUT }
  ),
  moves('a transfer and a burn, exactly', 10n, id => [t.transfer(id, 4n, BOB), t.burn(id, 6n)], [0, 1]),
  moves('a transfer that a burn makes too much', 10n, id => [t.transfer(id, 10n, BOB), t.burn(id, 1n)], []),
  moves('a burn of all', 10n, id => [t.burn(id, 10n)], [0]),
  moves('a burn of more than all', 10n, id => [t.burn(id, 11n)], []),
  moves('no outputs of the token: all is burned', 10n, () => [{ satoshis: 1, script: BOB }], []),
  moves(
    'another output between them',
    10n,
    id => [t.transfer(id, 4n, BOB), { satoshis: 1, script: BOB }, t.transfer(id, 6n, BOB)],
    [0, 2]
  ),
  moves(
    'two halves of 2^64 that nothing covers',
    10n,
    id => [t.transfer(id, HALF, BOB), t.transfer(id, HALF, BOB)],
    [],
    { why: EXACT, differs: { '1sat-2025': 'adds in 64 bits to 0, and admits both' } }
  ),
  moves('all that fits, and one', MAX, id => [t.transfer(id, MAX, BOB), t.transfer(id, 1n, BOB)], [], {
    why: EXACT,
    differs: { '1sat-2025': 'adds in 64 bits to 0, and admits both' }
  }),
  moves('the largest amount', MAX, id => [t.transfer(id, MAX, BOB)], [0]),
  moves('a refused mint beside a transfer', 10n, id => [t.transfer(id, 10n, BOB), t.mint(id, 5n, BOB)], [0], {
    differs: { '1sat-2025': 'counts the mint as moved, and admits neither' }
  }),
  moves(
    'a refused authority beside a transfer',
    10n,
    id => [t.auth(id, BOB), t.transfer(id, 10n, BOB)],
    [1],
    { differs: { '1sat-2025': 'admits the authority' } }
  ),
  moves(
    'a deployment beside a transfer',
    10n,
    id => [t.transfer(id, 10n, BOB), t.deployMint(ALICE, 5n)],
    [0]
  ),
  {
    group: 'cover',
    name: 'two inputs and one output',
    why: COVER,
    build: history => {
      const { id, deployed } = history.fixed(10n)
      const split = history.make([[deployed, 0]], [t.transfer(id, 4n, BOB), t.transfer(id, 6n, BOB)])
      history.make(
        [
          [split, 0],
          [split, 1]
        ],
        [t.transfer(id, 10n, BOB)]
      )
      return { admitted: { [id]: [0] } }
    }
  },
  {
    group: 'cover',
    name: 'inputs of more than 2^64 and outputs of as much',
    why: EXACT,
    differs: WRAPS,
    build: history => {
      const { id, minted } = history.minted(MAX)
      const more = history.make([[minted, 1]], [t.mint(id, MAX, BOB)])
      history.make(
        [
          [minted, 0],
          [more, 0]
        ],
        [t.transfer(id, MAX, BOB), t.transfer(id, MAX, BOB)]
      )
      return { admitted: { [id]: [0, 1] } }
    }
  },
  {
    group: 'cover',
    name: 'an input that was never valid',
    why: `${COVER}; only valid outputs of earlier transactions count`,
    differs: { '1sat-2025': 'admits it: every input counts as a known coin' },
    build: history => {
      const { id } = history.fixed(10n)
      const forged = history.make([], [t.transfer(id, 1000n, BOB)])
      history.make([[forged, 0]], [t.transfer(id, 1000n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'cover',
    name: 'an input out of outputs that were refused: what came into them is burned for good',
    why: 'BRC-161: if O_t + O_b > I, the outputs are invalid and the input tokens are burned',
    build: history => {
      const { id, deployed } = history.fixed(10n)
      const refused = history.make([[deployed, 0]], [t.transfer(id, 11n, BOB)])
      history.make([[refused, 0]], [t.transfer(id, 1n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'cover',
    name: 'an input that is a burn',
    why: 'BRC-161: burn inputs contribute nothing to I',
    differs: { '1sat-2025': 'counts the burn as an amount, and admits the transfer' },
    build: history => {
      const { id, deployed } = history.fixed(10n)
      const burned = history.make([[deployed, 0]], [t.burn(id, 10n)])
      history.make([[burned, 0]], [t.transfer(id, 10n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'cover',
    name: 'two tokens, of which one is covered',
    why: 'BRC-161: validation is per token id within a transaction',
    build: history => {
      const { id: gold, deployed } = history.fixed(10n)
      const { id: tin, deployed: other } = history.fixed(7n)
      history.make(
        [
          [deployed, 0],
          [other, 0]
        ],
        [t.transfer(gold, 10n, BOB), t.transfer(tin, 8n, BOB), t.transfer(gold, 0n, BOB)]
      )
      return { admitted: { [gold]: [0], [tin]: [] } }
    }
  },
  {
    group: 'cover',
    name: 'the inputs of another token',
    why: 'BRC-161: validation is per token id within a transaction',
    build: history => {
      const { id } = history.fixed(10n)
      const { id: other, deployed } = history.fixed(70n)
      history.make([[deployed, 0]], [t.transfer(id, 5n, BOB), t.transfer(other, 70n, BOB)])
      return { admitted: { [id]: [], [other]: [1] } }
    }
  },
  {
    group: 'cover',
    name: 'a token that nobody deployed',
    why: COVER,
    build: history => {
      const id = `${'ab'.repeat(32)}_0`
      history.make([], [t.transfer(id, 1n, BOB)])
      return { admitted: { [id]: [] } }
    }
  }
]

const UNAUTHORISED = { '1sat-2025': 'admits authorities always, and mints only as transfers' }
const authority: readonly VectorCase[] = [
  {
    group: 'authority',
    name: 'three deployments in one transaction',
    why: 'BRC-161: deploys are always valid as genesis, and the id is the outpoint of each',
    build: history => {
      const made = history.make([], [t.deployMint(ALICE, 7n), t.deployAuth(ALICE), t.deployMint(ALICE, 9n)])
      return { admitted: Object.fromEntries([0, 1, 2].map(vout => [t.tokenIdOf(made, vout), [vout]])) }
    }
  },
  ...(['5', '0', null] as const).map(
    (amt): VectorCase => ({
      group: 'authority',
      name: `deploy+auth with the amount ${JSON.stringify(amt)}`,
      why: 'BRC-161: amt must not be present on deploy+auth',
      build: history => {
        const made = history.make([], [t.tokenOutput({ op: 'deploy+auth', amt }, BOB)])
        return { admitted: { [t.tokenIdOf(made)]: [] } }
      }
    })
  ),
  ...(
    [
      [
        'mints as often as wanted',
        id => [t.mint(id, MAX, BOB), t.mint(id, MAX, BOB), t.mint(id, 1n, BOB)],
        [0, 1, 2]
      ],
      ['goes on', id => [t.auth(id, BOB)], [0]],
      ['is split', id => [t.auth(id, BOB), t.auth(id, BOB), t.auth(id, BOB)], [0, 1, 2]],
      ['mints and goes on', id => [t.mint(id, 5n, BOB), t.auth(id, BOB)], [0, 1]],
      ['ends', () => [{ satoshis: 1, script: BOB }], []],
      [
        'with an amount is no claim, and the mint beside it valid',
        id => [t.tokenOutput({ op: 'auth', id, amt: '1' }, BOB), t.mint(id, 5n, BOB)],
        [1]
      ],
      ['pays for no transfer', id => [t.transfer(id, 1n, BOB)], []],
      ['pays for no burn', id => [t.burn(id, 1n)], []],
      [
        'mints, and the mint pays for no transfer beside it',
        id => [t.mint(id, 5n, BOB), t.transfer(id, 5n, BOB)],
        [0]
      ],
      ['mints 0, which is no claim', id => [t.mint(id, 0n, BOB), t.auth(id, BOB)], [1]]
    ] as const satisfies readonly (readonly [
      string,
      (id: TokenId) => readonly ReturnType<typeof t.auth>[],
      readonly number[]
    ])[]
  ).map(
    ([name, outputs, admitted]): VectorCase => ({
      group: 'authority',
      name: `an authority ${name}`,
      why: name.includes('pays')
        ? `${AUTH}; authority inputs do not relax the balance checks of transfers`
        : AUTH,
      ...(name.includes('mint') && { differs: UNAUTHORISED }),
      build: history => {
        const { id, deployed } = history.authority()
        history.make([[deployed, 0]], outputs(id))
        return { admitted: { [id]: admitted } }
      }
    })
  ),
  {
    group: 'authority',
    name: 'a mint without an authority',
    why: AUTH,
    build: history => {
      const { id } = history.authority()
      history.make([], [t.mint(id, 5n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'authority',
    name: 'an authority without an authority',
    why: AUTH,
    differs: UNAUTHORISED,
    build: history => {
      const { id } = history.authority()
      history.make([], [t.auth(id, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'authority',
    name: 'a mint by an authority that was refused',
    why: AUTH,
    build: history => {
      const { id } = history.authority()
      const forged = history.make([], [t.auth(id, BOB)])
      history.make([[forged, 0]], [t.mint(id, 5n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'authority',
    name: 'a mint by the authority of another token',
    why: AUTH,
    build: history => {
      const { id } = history.authority()
      const { deployed } = history.authority()
      history.make([[deployed, 0]], [t.mint(id, 5n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'authority',
    name: 'a mint of a token of fixed supply',
    why: AUTH,
    differs: { '1sat-2025': 'admits the mint as a transfer of the 10' },
    build: history => {
      const { id, deployed } = history.fixed(10n)
      history.make([[deployed, 0]], [t.mint(id, 5n, BOB)])
      return { admitted: { [id]: [] } }
    }
  },
  {
    group: 'authority',
    name: 'an authority and an amount: each group by itself',
    why: 'BRC-207: the groups of an encoding are apart, and a refused transfer does not invalidate an authorised mint',
    build: history => {
      const { id, minted } = history.minted(10n)
      history.make(
        [
          [minted, 0],
          [minted, 1]
        ],
        [t.transfer(id, 11n, BOB), t.mint(id, 5n, BOB), t.auth(id, BOB)]
      )
      return { admitted: { [id]: [1, 2] } }
    }
  },
  {
    group: 'authority',
    name: 'minted amounts are moved by the next transaction',
    why: COVER,
    build: history => {
      const { id, minted } = history.minted(10n)
      history.make([[minted, 0]], [t.transfer(id, 10n, BOB)])
      return { admitted: { [id]: [0] } }
    }
  }
]

export const accountingCases: readonly VectorCase[] = [...cover, ...authority]
