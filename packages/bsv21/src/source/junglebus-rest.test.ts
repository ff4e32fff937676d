import { parseTransaction } from '@quoin/chain'
import { formatTxid, parseTxid } from '@quoin/primitives'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendBytes, sendJson, serve, type TestService } from '../../../chain/src/headers/services.testing.ts'
import { blockOf, someTransaction } from './junglebus.testing.ts'
import { JungleBusRest } from './junglebus-rest.ts'
import { bumpOfTsc } from './tsc-proof.ts'

const block = blockOf(
  800_000,
  [1, 2, 3, 4].map(number => someTransaction(number))
)
const [whole, apart, unmined, other] = block.transactions
const bump = bumpOfTsc(apart!.proof, apart!.txid, 800_000)
const idOf = ({ txid }: { readonly txid: Parameters<typeof formatTxid>[0] }): string => formatTxid(txid)
const tokens: (string | string[] | undefined)[] = []
let service: TestService

beforeAll(async () => {
  const beef = Buffer.from('nonsense')
  service = await serve(({ pathname }, response, request) => {
    tokens.push(request.headers['token'])
    if (pathname === `/v1/transaction/get/${idOf(apart!)}/bin`) sendBytes(response, apart!.raw)
    else if (pathname === `/v1/transaction/proof/${idOf(apart!)}/bin`) sendBytes(response, bump.toBytes())
    else if (pathname === `/v1/transaction/get/${idOf(unmined!)}/bin`) sendBytes(response, unmined!.raw)
    else if (pathname === `/v1/transaction/beef/${idOf(whole!)}`) sendBytes(response, beef)
    else if (pathname === `/v1/transaction/get/${idOf(other!)}/bin`) sendBytes(response, whole!.raw)
    else if (pathname === '/v1/block_header/tip') sendJson(response, { height: 'high' })
    else if (pathname === '/v1/user/refresh-token') sendJson(response, {})
    else if (pathname === '/v1/address/get/1nobody/7') sendJson(response, null)
    else if (pathname === '/v1/address/get/1nonsense/7') sendJson(response, [{ transaction_id: '../x' }])
    else if (pathname === '/v1/address/get/1somebody/7') {
      sendJson(response, [
        { transaction_id: idOf(whole!), block_height: 800_000, block_index: 0 },
        { transaction_id: idOf(unmined!), block_height: 0 }
      ])
    } else sendJson(response, { error: 'not found' }, 404)
  })
})
afterAll(() => service.close())

const rest = (): JungleBusRest => new JungleBusRest(service.url)
const refused = { code: 'ERR_CHAIN_SOURCE' }

describe('a transaction by its id', () => {
  it('is put together of its bytes and its proof where there is no BEEF of it', async () => {
    const beef = (await rest().transaction(apart!.txid))!
    expect(beef.find(apart!.txid)!.bump!.root).toEqual(bump.root)
    const without = (await rest().transaction(unmined!.txid))!
    expect(without.find(unmined!.txid)!.bump).toBeUndefined()
  })

  it('is undefined where it is not known', async () => {
    const { txid } = parseTransaction(someTransaction(77))
    expect(await rest().transaction(txid)).toBeUndefined()
  })

  it('is an error where nonsense comes, or another one', async () => {
    await expect(rest().transaction(whole!.txid)).rejects.toMatchObject(refused)
    await expect(rest().transaction(other!.txid)).rejects.toMatchObject(refused)
  })
})

describe('an address', () => {
  it('has transactions with their places, if they have one', async () => {
    expect(await rest().addressTransactions('1somebody', 7)).toEqual([
      { txid: whole!.txid, mined: { height: 800_000, index: 0n } },
      { txid: unmined!.txid, mined: undefined }
    ])
    expect(await rest().addressTransactions('1nobody', 7)).toEqual([])
  })

  it('has none that are nonsense', async () => {
    await expect(rest().addressTransactions('1nonsense', 7)).rejects.toMatchObject(refused)
  })
})

describe('answers', () => {
  it('without what was asked for are errors', async () => {
    await expect(rest().tip()).rejects.toMatchObject(refused)
    await expect(rest().refreshedToken()).rejects.toMatchObject(refused)
    await expect(rest().subscriptionToken('x')).rejects.toMatchObject({
      ...refused,
      details: { status: 404 }
    })
  })

  it('are asked for with the token that there is', async () => {
    const asking = rest()
    await asking.transaction(parseTxid('00'.repeat(32)))
    expect(tokens.at(-1)).toBeUndefined()
    asking.token = 'mine'
    await asking.transaction(parseTxid('00'.repeat(32)))
    expect(tokens.at(-1)).toBe('mine')
  })
})
