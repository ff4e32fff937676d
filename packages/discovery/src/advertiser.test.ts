/** Advertisements by a real BRC-100 wallet, on a chain for tests. */
import type { WalletInterface } from '@bsv/sdk'
import type { RootTracker } from '@quoin/chain'
import { answerBeef, Engine, installPlugins } from '@quoin/overlay'
import { voutOf } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { EventRegistry, OutputStore, outputEvents } from '@quoin/txo'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startChain, type TestChain } from '../../kvstore-client/src/wallet.testing.ts'
import type { Protocol } from './advertisement.ts'
import {
  createAdvertisements,
  type FoundAdvertisement,
  planAdvertisements,
  readFound,
  revokeAdvertisements,
  type TaggedBeef
} from './advertiser.ts'
import { discoveryEvents } from './keys.ts'
import { discovery } from './plugin.ts'

const URI = 'https://node.example.com'
let chain: TestChain
let wallet: WalletInterface
let engine: Engine

beforeAll(async () => {
  chain = await startChain()
  wallet = await chain.wallet()
  const outputs = new OutputStore(await openStore('memory:'), {
    events: new EventRegistry(outputEvents, discoveryEvents)
  })
  const tracker: RootTracker = chain.services.tracker
  engine = new Engine({ outputs, tracker, ...(await installPlugins([discovery], { outputs })) })
})
afterAll(async () => {
  await engine.close()
  await chain.close()
})

const submit = async ({ beef, topics }: TaggedBeef) => engine.submit({ beef: Uint8Array.from(beef), topics })

const found = async (): Promise<FoundAdvertisement[]> => {
  const { publicKey: identityKey } = await wallet.getPublicKey({ identityKey: true })
  const all: FoundAdvertisement[] = []
  for (const protocol of ['SHIP', 'SLAP'] as const satisfies readonly Protocol[]) {
    for (const answer of await engine.lookup(`ls_${protocol.toLowerCase()}`, { identityKey })) {
      const read = readFound(protocol, {
        beef: [...answerBeef(answer)],
        outputIndex: voutOf(answer.outpoint)
      })
      if (read) all.push(read)
    }
  }
  return all
}

it('a wallet advertises what is missing, keeps what is current, and revokes what is obsolete', async () => {
  const served = ['tm_first', 'tm_bsv21', 'ls_first', 'tm_ship', 'ls_slap']
  const plan = planAdvertisements(served, URI, await found())
  expect(plan).toEqual({
    missing: ['tm_first', 'ls_first'],
    current: [],
    obsolete: [],
    refused: ['tm_bsv21']
  })

  const created = await createAdvertisements(wallet, URI, plan.missing)
  expect(await submit(created)).toMatchObject({
    tm_ship: { outputsToAdmit: [0] },
    tm_slap: { outputsToAdmit: [1] }
  })
  const again = planAdvertisements(served, URI, await found())
  expect(again).toMatchObject({ missing: [], obsolete: [] })
  expect(again.current.map(({ name }) => name)).toEqual(['tm_first', 'ls_first'])

  const fewer = planAdvertisements(['tm_first'], URI, await found())
  expect(fewer.obsolete.map(({ name }) => name)).toEqual(['ls_first'])
  await submit(await revokeAdvertisements(wallet, fewer.obsolete))
  expect((await found()).map(({ name }) => name)).toEqual(['tm_first'])

  expect(planAdvertisements(served, 'https://other.example.com', await found())).toMatchObject({
    current: [],
    obsolete: []
  })
})

it('a host without a public URI, and a name with digits, are refused before the wallet is asked', async () => {
  const asked = () => {
    throw new Error('asked')
  }
  const silent = {
    createAction: asked,
    signAction: asked,
    getPublicKey: asked,
    createSignature: asked
  } as never
  for (const [uri, name] of [
    ['http://localhost:8080', 'tm_a'],
    [URI, 'tm_bsv21']
  ] as const)
    await expect(createAdvertisements(silent, uri, [name])).rejects.toMatchObject({ code: 'ERR_REQUEST' })
})
