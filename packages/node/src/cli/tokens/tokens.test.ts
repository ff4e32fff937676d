import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevChain } from '@quoin/dev-chain'
import { formatOutpoint, makeOutpoint } from '@quoin/primitives'
import { EXIT } from '@quoin/primitives/command'
import { openStore, type Store } from '@quoin/store'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TokenNode } from '../../../../bsv21/src/node.testing.ts'
import * as t from '../../../../bsv21/src/tokens.testing.ts'
import { createServer, type Server } from '../../server/index.ts'
import { showToken } from './token.ts'
import { shownAmount, shownSymbol } from './token-text.ts'
import { listTokens } from './tokens.ts'
import { type VerifyProofOptions, verifyProof } from './verify-proof.ts'

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
  /** The output of bob. */
  let moved: string
  const chain = new DevChain()
  let said = ''

  beforeAll(async () => {
    store = await openStore('memory:')
    node = new TokenNode(store, { chain, activation: 'all' })
    const fund = () => t.at(chain.fund(alice.address, 1000), 0, alice)
    const deployed = t.transaction([fund()], [t.deployMint(alice, 123456n, { sym: 'GOLD', dec: '2' })])
    id = t.tokenIdOf(deployed)
    const transfer = t.transaction(
      [t.at(deployed, 0, alice), fund()],
      [t.transfer(id, 100000n, t.paidTo(bob)), t.transfer(id, 3456n, t.listedBy(alice))]
    )
    moved = formatOutpoint(makeOutpoint(transfer.txid, 0))
    await t.mined(chain, deployed, transfer)
    for (const { txid } of [deployed, transfer]) await node.pipeline.ingest.ingestBeef(chain.beef(txid))
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

  describe('token verify', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'quoin-proof-'))
      await writeFile(join(folder, 'headers'), await chain.headers(0, chain.height + 1))
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    const saved = async (content: Uint8Array | string): Promise<string> => {
      const path = join(folder, 'proof')
      await writeFile(path, content)
      return path
    }
    const proofOf = async (path: string): Promise<Uint8Array> =>
      new Uint8Array(await (await fetch(`${url}/1sat/bsv21/${id}/${path}`)).arrayBuffer())
    const run = async (
      content: Uint8Array | string,
      more: Partial<VerifyProofOptions> = {}
    ): Promise<number> => {
      said = ''
      return verifyProof(await saved(content), { headers: join(folder, 'headers'), from: '0', ...more })
    }

    it('checks the proof of an output with headers alone', async () => {
      const packet = await proofOf(`proof/${moved.replace('.', '_')}`)
      expect(await run(packet)).toBe(EXIT.ok)
      expect(said).toContain(`valid    ${moved}  100,000 units of ${id} (transfer)`)
      expect(await run(Buffer.from(packet).toString('hex'), { json: true })).toBe(EXIT.ok)
      expect(JSON.parse(said)).toEqual({
        version: 1,
        proved: [{ outpoint: moved, id, op: 'transfer', encoding: 'json', amount: '100000' }],
        unproved: []
      })
    })

    it('checks the proof of a balance, in its JSON', async () => {
      const text = Buffer.from(await proofOf(`p2pkh/${bob.address}/proof`)).toString()
      const proof = JSON.parse(text)
      expect(proof).toMatchObject({
        version: 1,
        assetId: id,
        subjects: [moved],
        amount: '100000',
        cursor: null
      })
      expect(await run(text)).toBe(EXIT.ok)
      expect(await run(JSON.stringify({ ...proof, subjects: undefined }), { output: [moved] })).toBe(EXIT.ok)
      const other = JSON.stringify({ ...proof, assetId: `${'ab'.repeat(32)}_0` })
      await expect(run(other)).rejects.toMatchObject({ code: 'ERR_REQUEST' })
    })

    it('says what is not proved', async () => {
      const packet = await proofOf(`proof/${moved}`)
      expect(await run(packet, { output: [moved.replace(/0$/, '1')] })).toBe(EXIT.no)
      expect(said).toContain('The packet is not about it.')
      await writeFile(join(folder, 'few'), await chain.headers(0, 2))
      await expect(run(packet, { headers: join(folder, 'few') })).rejects.toMatchObject({
        code: 'ERR_PROOF_INVALID'
      })
      await expect(run(packet, { from: '1' })).rejects.toMatchObject({ code: 'ERR_PROOF_INVALID' })
      await expect(run(packet, { from: '-1' })).rejects.toMatchObject({ code: 'ERR_USAGE' })
    })

    it.each(['', 'hello', '{', '{}', '{"beef":"00"}', '{"beef":"0100beef","subjects":[5]}', '16a7beef'])(
      'refuses %j',
      async content => {
        await expect(run(content)).rejects.toMatchObject({ code: 'ERR_BEEF_FORMAT' })
      }
    )

    it('gets no proof of what is not valid, nor in an unknown version', async () => {
      const status = async (path: string): Promise<number> =>
        (await fetch(`${url}/1sat/bsv21/${id}/${path}`)).status
      expect(await status(`proof/${'ab'.repeat(32)}_0`)).toBe(404)
      expect(await status(`proof/${moved.replace(/0$/, '7')}`)).toBe(404)
      expect(await status(`cos/${bob.address}/proof`)).toBe(404)
      expect(await status(`proof/${moved}?version=2`)).toBe(400)
      expect(await status(`p2pkh/${bob.address}/proof?limit=101`)).toBe(400)
    })
  })

  it('list tokens', async () => {
    expect(await listTokens({ limit: '20' }, url, false)).toBe(EXIT.ok)
    expect(said).toMatch(new RegExp(`^${id} +GOLD +1,234.56$`, 'm'))
    expect(await listTokens({ sym: 'SILVER', limit: '20' }, url, false)).toBe(EXIT.ok)
    expect(said).toContain('No tokens.')
  })
})
