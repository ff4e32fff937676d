import { DevChain } from '@quoin/dev-chain'
import { EXIT } from '@quoin/primitives/command'
import { openStore, type Store } from '@quoin/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TokenNode } from '../../../../bsv21/src/node.testing.ts'
import * as t from '../../../../bsv21/src/tokens.testing.ts'
import { createServer, type Server } from '../../server/index.ts'
import { showToken } from './token.ts'
import { shownAmount, shownSymbol } from './token-text.ts'
import { listTokens } from './tokens.ts'

describe('amounts and symbols', () => {
  it.each([
    ['0', 0, '0'],
    ['1234567', 0, '1,234,567'],
    ['1234567', 2, '12,345.67'],
    ['1234500', 2, '12,345'],
    ['5', 8, '0.00000005'],
    ['18446744073709551615', 8, '184,467,440,737.09551615']
  ])('%s with %i decimals is %s', (amount, decimals, shown) => {
    expect(shownAmount(amount, decimals)).toBe(shown)
  })

  it('do nothing to the terminal', () => {
    expect(shownSymbol('\u001b[2J€')).toBe('\\u{1b}[2J€')
    expect(shownSymbol(undefined)).toBe('(no symbol)')
  })
})

describe('the commands', () => {
  const [alice, bob] = [t.person(1), t.person(2)]
  let store: Store
  let node: TokenNode
  let server: Server
  let url: string
  let id: string
  let said = ''

  beforeAll(async () => {
    const chain = new DevChain()
    store = await openStore('memory:')
    node = new TokenNode(store, { chain, activation: 'all' })
    const fund = () => t.at(chain.fund(alice.address, 1000), 0, alice)
    const deployed = t.transaction([fund()], [t.deployMint(alice, 123456n, { sym: 'GOLD', dec: '2' })])
    id = t.tokenIdOf(deployed)
    const moved = t.transaction(
      [t.at(deployed, 0, alice), fund()],
      [t.transfer(id, 100000n, t.paidTo(bob)), t.transfer(id, 3456n, t.listedBy(alice))]
    )
    await t.mined(chain, deployed, moved)
    for (const { txid } of [deployed, moved]) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
    await node.pipeline.settle()
    const { activation, pipeline, engine } = node
    server = createServer({
      engine,
      headers: undefined,
      options: { tokens: { activation, pipeline, sources: [] } }
    })
    ;({ url } = await server.listen())
  })
  afterAll(async () => {
    await server.close()
    await node.close()
    await store.close()
  })
  beforeEach(() => {
    said = ''
    vi.spyOn(process.stdout, 'write').mockImplementation(text => {
      said += text
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('say what a token is, and who has it', async () => {
    expect(await showToken(id, '10', url, false)).toBe(EXIT.ok)
    expect(said).toMatch(/^GOLD [0-9a-f]{64}_\d+: indexed, everything is indexed$/m)
    expect(said).toMatch(/^ {2}supply +1,034.56$/m)
    expect(said).toMatch(/^ {2}burned +200$/m)
    expect(said).toMatch(/^ {2}for sale +34.56 in 1$/m)
    expect(said).toMatch(new RegExp(`^ {4}${bob.address} +1,000\n {4}${alice.address} +34.56$`, 'm'))
  })

  it('say it in JSON, exactly', async () => {
    expect(await showToken(id, '1', url, true)).toBe(EXIT.ok)
    expect(JSON.parse(said)).toMatchObject({
      found: true,
      token: { sym: 'GOLD', amt: '123456' },
      supply: { supply: '103456' },
      holders: [{ address: bob.address, amount: '100000' }]
    })
  })

  it('say that there is no such token', async () => {
    expect(await showToken(`${'ab'.repeat(32)}_0`, '10', url, false)).toBe(EXIT.no)
    await expect(showToken('GOLD', '10', url, false)).rejects.toMatchObject({ code: 'ERR_USAGE' })
  })

  it('list tokens', async () => {
    expect(await listTokens({ limit: '20' }, url, false)).toBe(EXIT.ok)
    expect(said).toMatch(new RegExp(`^${id} +GOLD +1,234.56$`, 'm'))
    expect(await listTokens({ sym: 'SILVER', limit: '20' }, url, false)).toBe(EXIT.ok)
    expect(said).toContain('No tokens.')
  })
})
