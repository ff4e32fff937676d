/** Nodes with other outputs or spenders are told apart, and the first outputs that differ are named. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { formatOutpoint, makeOutpoint, type TokenId, type Txid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore, TxUpdate } from '@quoin/txo'
import { afterEach, describe, expect, it } from 'vitest'
import { bsv21Events } from '../keys.ts'
import { tokenLedger } from '../ledger.ts'
import { TOKEN_EVENTS } from '../node.testing.ts'
import { topicOf } from '../topic-names.ts'
import { type CompareOptions, compareTokens, type TokenComparison } from './compare-tokens.ts'
import { RemoteStates } from './remote-states.ts'
import { StoredStates } from './stored-states.ts'
import type { OutputRange, TokenStates } from './token-states.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const txidOf = (number: number, kind = 0): Txid => {
  const txid = new Uint8Array(32).fill(7) as Txid
  new DataView(txid.buffer).setUint32(28, number)
  txid[0] = kind
  return txid
}
const idOf = (number: number): TokenId => formatOutpoint(makeOutpoint(txidOf(number), 0), '_') as TokenId

/** An output of a token in a block, or unmined. */
const output = (id: TokenId, txid: Txid, height: number | null, amt = '5'): TxUpdate => {
  const data = { bsv21: { id, op: 'mint', amt } }
  const position = height === null ? null : { height, index: 1n }
  return new TxUpdate(txid, { position, vouts: 1 })
    .output(0, { satoshis: 1, events: [bsv21Events.types.id.text(id)], data })
    .admit(topicOf(id), 0)
}

class Node {
  readonly outputs: OutputStore
  readonly states: StoredStates

  constructor(outputs: OutputStore, name: string) {
    this.outputs = outputs
    this.states = new StoredStates(outputs, name)
  }

  static async open(name: string): Promise<Node> {
    const store = await openStore('memory:')
    closing.push(() => store.close())
    return new Node(new OutputStore(store, { events: TOKEN_EVENTS, ledger: tokenLedger }), name)
  }

  /** A token, with an output in each of so many blocks. */
  async token(number: number, blocks: number): Promise<TokenId> {
    const id = idOf(number)
    const updates = Array.from({ length: blocks }, (_, i) =>
      output(id, i === 0 ? txidOf(number) : txidOf(i, number), 100 + i)
    )
    while (updates.length > 0) await this.outputs.commit(...updates.splice(0, 500))
    return id
  }

  async output(...given: Parameters<typeof output>): Promise<void> {
    await this.outputs.commit(output(...given))
  }

  async spend(txid: Txid, spender: Txid): Promise<void> {
    await this.outputs.commit(new TxUpdate(spender, { vouts: 1 }).spend(makeOutpoint(txid, 0)))
  }
}

const compared = async (here: TokenStates, there: TokenStates, options: CompareOptions = {}) => {
  const found: TokenComparison[] = []
  for await (const each of compareTokens(here, there, { delay: 0, ...options })) found.push(each)
  return found
}

const pair = async (): Promise<[Node, Node]> => [await Node.open('one'), await Node.open('two')]

describe('two nodes', () => {
  it('with the same outputs are equal, at the cost of a page of digests', async () => {
    const [one, two] = await pair()
    for (const node of [one, two]) for (const number of [1, 2, 3]) await node.token(number, 4)
    let ranges = 0
    const counting: TokenStates = {
      name: 'two',
      page: (after, limit) => two.states.page(after, limit),
      token: id => two.states.token(id),
      range: (id, range) => {
        ranges++
        return two.states.range(id, range)
      }
    }
    expect((await compared(one.states, counting)).map(({ result }) => result)).toEqual(Array(3).fill('equal'))
    expect(ranges).toBe(0)
    expect(await compared(one.states, counting, { after: idOf(2) })).toHaveLength(1)
  })

  it('are told apart by a spender, which is named', async () => {
    const [one, two] = await pair()
    for (const node of [one, two]) await node.token(1, 3)
    await one.spend(txidOf(2, 1), txidOf(77))
    const [{ result, differences }] = (await compared(one.states, two.states)) as [TokenComparison]
    expect(result).toBe('different')
    expect(differences).toEqual([
      {
        kind: 'token-output',
        token: idOf(1),
        outpoint: formatOutpoint(makeOutpoint(txidOf(2, 1), 0), '_'),
        here: expect.stringMatching(/^spent by [0-9a-f]{64}$/),
        there: 'unspent'
      }
    ])
  })

  it('are told apart by an output in the middle of many, by ranges', async () => {
    const [one, two] = await pair()
    for (const node of [one, two]) await node.token(1, 2600)
    await two.output(idOf(1), txidOf(9, 9), 1350)
    const asked: OutputRange[] = []
    const counting: TokenStates = {
      name: 'two',
      page: (after, limit) => two.states.page(after, limit),
      token: id => two.states.token(id),
      range: (id, range) => {
        asked.push(range)
        return two.states.range(id, range)
      }
    }
    const [{ differences }] = (await compared(one.states, counting, { attempts: 1 })) as [TokenComparison]
    expect(differences).toMatchObject([
      { kind: 'token-output', outpoint: formatOutpoint(makeOutpoint(txidOf(9, 9), 0), '_'), there: 'unspent' }
    ])
    expect(asked.filter(({ isListed }) => isListed).length).toBeLessThan(6)
  })

  it('are told apart by unmined outputs, whatever their order', async () => {
    const [one, two] = await pair()
    for (const node of [one, two]) await node.token(1, 1)
    for (const number of [1, 2, 3]) await one.output(idOf(1), txidOf(number, 5), null)
    for (const number of [3, 2, 1]) await two.output(idOf(1), txidOf(number, 5), null)
    expect(await compared(one.states, two.states)).toMatchObject([{ result: 'equal' }])
    await two.output(idOf(1), txidOf(4, 5), null)
    expect(await compared(one.states, two.states)).toMatchObject([
      { differences: [{ here: 'not in the topic', there: 'unspent' }] }
    ])
  })

  it('are told apart by sums of equal outputs', async () => {
    const [one, two] = await pair()
    await one.token(1, 1)
    await two.output(idOf(1), txidOf(1), 100, '6')
    expect(await compared(one.states, two.states)).toMatchObject([{ differences: [{ kind: 'token-sums' }] }])
  })

  it('need not index the same tokens, and must know the same', async () => {
    const [one, two] = await pair()
    await one.token(1, 1)
    await two.outputs.commit(
      new TxUpdate(txidOf(1), { vouts: 1 }).output(0, { events: [bsv21Events.types.id.text(idOf(1))] })
    )
    await two.token(2, 1)
    expect(await compared(one.states, two.states)).toMatchObject([
      { result: 'unindexed', differences: [] },
      { result: 'different', differences: [{ kind: 'token-unknown', here: 'not known', there: '1 outputs' }] }
    ])
  })

  it('are compared again when a token changes meanwhile', async () => {
    const [one, two] = await pair()
    for (const node of [one, two]) await node.token(1, 2)
    await one.spend(txidOf(1, 1), txidOf(77))
    const late: TokenStates = {
      name: 'two',
      page: (after, limit) => two.states.page(after, limit),
      range: (id, range) => two.states.range(id, range),
      token: async id => {
        await two.spend(txidOf(1, 1), txidOf(77))
        return two.states.token(id)
      }
    }
    expect(await compared(one.states, late)).toMatchObject([{ result: 'equal' }])
  })
})

describe('a peer that', () => {
  const serve = async (
    answer: (request: IncomingMessage, response: ServerResponse) => void
  ): Promise<RemoteStates> => {
    const server: Server = createServer(answer)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => new Promise(resolve => server.close(resolve).closeAllConnections()))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return new RemoteStates(url, { timeout: 200, attempts: 2, backoff: 1 })
  }
  const json = (response: ServerResponse, value: unknown): void => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  }
  const digest = (id: TokenId) => ({
    id,
    minted: '5',
    supply: '5',
    listed: '0',
    holders: 0,
    outputs: 1,
    outputsDigest: 'ab'.repeat(32),
    holdersDigest: 'ab'.repeat(32),
    pending: false
  })

  it('has a version before digests is named', async () => {
    const there = await serve((_, response) => response.writeHead(404).end('{}'))
    const [one] = await pair()
    await expect(compared(one.states, there)).rejects.toMatchObject({
      code: 'ERR_SYNC_PEER',
      message: expect.stringContaining('upgrade it')
    })
  })

  it('fails once is asked again, and one that hangs is given up', async () => {
    let requests = 0
    const [one] = await pair()
    const flaky = await serve((_, response) => {
      if (requests++ === 0) response.writeHead(503).end()
      else json(response, { tokens: [], hasMore: false })
    })
    expect(await compared(one.states, flaky)).toEqual([])
    await expect(compared(one.states, await serve(() => undefined))).rejects.toMatchObject({
      code: 'ERR_CHAIN_SOURCE',
      message: expect.stringContaining('did not answer within 200 ms')
    })
  })

  it.each([
    ['repeats its tokens', { tokens: [digest(idOf(2)), digest(idOf(1))], hasMore: false }],
    ['gives an empty page before the end', { tokens: [], hasMore: true }],
    [
      'gives more than was asked',
      { tokens: Array.from({ length: 101 }, () => digest(idOf(1))), hasMore: false }
    ],
    ['gives amounts as numbers', { tokens: [{ ...digest(idOf(1)), supply: 5 }], hasMore: false }],
    ['gives other ids', { tokens: [{ ...digest(idOf(1)), id: 'x' }], hasMore: false }],
    ['gives no list', { tokens: null, hasMore: false }]
  ])('%s is refused', async (_, page) => {
    const [one] = await pair()
    const there = await serve((_, response) => json(response, page))
    await expect(compared(one.states, there)).rejects.toMatchObject({ code: 'ERR_CHAIN_SOURCE' })
  })

  it('invents tokens is not followed for ever', async () => {
    const [one] = await pair()
    let next = 1
    const inventing: TokenStates = {
      name: 'liar',
      page: async (_, limit) => ({
        tokens: Array.from({ length: limit }, () => ({
          ...digest(idOf(next++)),
          minted: 5n,
          supply: 5n,
          listed: 0n,
          isPending: false
        })),
        hasMore: true
      }),
      token: async () => undefined,
      range: () => Promise.reject(new Error('not asked'))
    }
    await expect(compared(one.states, inventing, { attempts: 1 })).rejects.toMatchObject({
      code: 'ERR_SYNC_PEER'
    })
  })

  it('gives a range without an end is refused', async () => {
    const [one] = await pair()
    await one.token(1, 2)
    const there = await serve((request, response) => {
      if (request.url!.includes('from=')) json(response, { outputs: 0, digest: 'ab'.repeat(32), next: 0 })
      else json(response, { tokens: [digest(idOf(1))], hasMore: false })
    })
    await expect(compared(one.states, there)).rejects.toMatchObject({ code: 'ERR_CHAIN_SOURCE' })
  })
})
