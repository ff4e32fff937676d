/**
 * Real BRC-100 wallets for tests: those of @bsv/wallet-toolbox on its MockChain, each with a storage of its own, all on
 * one chain that nobody else is on.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Beef,
  CachedKeyDeriver,
  P2PKH,
  PrivateKey,
  PublicKey,
  Transaction,
  UnlockingScript,
  Utils,
  type WalletInterface
} from '@bsv/sdk'
import { MockServices, StorageKnex, Wallet, WalletStorageManager } from '@bsv/wallet-toolbox'
import knexOf, { type Knex } from 'knex'

/** Where a payment to a wallet is received (BRC-29). */
const PAYMENT: [2, string] = [2, '3241645161d8']
const COINS = 12
const SATOSHIS = 200_000
/** A coinbase can be spent when so many blocks are on it. */
const MATURITY = 100

export interface TestChain {
  readonly services: MockServices
  /** A wallet with coins; of the same owner as another, on a device of its own, when the key is given. */
  wallet(root?: PrivateKey): Promise<WalletInterface>
  close(): Promise<void>
}

interface Connection {
  pragma(text: string): unknown
}

/**
 * In files, not in memory: there every connection has a database of its own, and with a single one the wallet waits for
 * itself when it finds a double spend. Nothing has to survive.
 */
const databaseAt = (filename: string): Knex =>
  knexOf({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 4,
      afterCreate: (connection: Connection, done: () => void) => {
        for (const each of ['journal_mode = WAL', 'synchronous = OFF', 'busy_timeout = 5000'])
          connection.pragma(each)
        done()
      }
    }
  })

/**
 * Every transaction that is sent is mined at once: the chain runs scripts with one level of ancestors, and refuses what
 * spends a transaction that is not mined.
 */
export const startChain = async (): Promise<TestChain> => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-wallets-'))
  const databases: Knex[] = []
  const newDatabase = (): Knex => {
    const knex = databaseAt(join(directory, `${databases.length}.sqlite`))
    databases.push(knex)
    return knex
  }
  const services = new MockServices(newDatabase())
  await services.initialize()
  while ((await services.getHeight()) <= MATURITY) await services.mineBlock()
  const post = services.postBeef.bind(services)
  services.postBeef = async (beef, txids) => {
    const results = (await post(beef, txids)).map(conflicts)
    if (results.some(({ status }) => status === 'success')) await services.mineBlock()
    return results
  }
  return {
    services,
    wallet: async (root = newRoot()) => {
      const wallet = await openWallet(services, newDatabase(), root)
      await fund(services, wallet)
      return wallet
    },
    close: async () => {
      for (const knex of databases) await knex.destroy()
      await rm(directory, { recursive: true })
    }
  }
}

type Posted = Awaited<ReturnType<MockServices['postBeef']>>[number]

/** Says of what is spent by whom, as services of real networks do; the chain only says it in words. */
const conflicts = (result: Posted): Posted => {
  const [, competing] = /spent by ([0-9a-f]{64})/.exec(result.error?.message ?? '') ?? []
  if (competing === undefined) return result
  const txidResults = result.txidResults.map(each => ({
    ...each,
    doubleSpend: true,
    competingTxs: [competing]
  }))
  return { ...result, txidResults }
}

export const newRoot = (): PrivateKey => new PrivateKey([...randomBytes(31)])

const openWallet = async (services: MockServices, knex: Knex, root: PrivateKey): Promise<Wallet> => {
  const storage = new WalletStorageManager(root.toPublicKey().toString())
  const active = new StorageKnex({
    chain: 'mock',
    knex,
    commissionSatoshis: 0,
    feeModel: { model: 'sat/kb', value: 100 }
  })
  await active.migrate('wallet', root.toPublicKey().toString())
  await active.makeAvailable()
  await storage.addWalletStorageProvider(active)
  active.setServices(services)
  storage.setServices(services)
  return new Wallet({ chain: 'mock', keyDeriver: new CachedKeyDeriver(root), storage, services })
}

/** Spends the coinbase that has just matured; its lock is OP_TRUE, which nothing unlocks. */
const fund = async (services: MockServices, wallet: Wallet): Promise<void> => {
  await services.mineBlock()
  const height = (await services.getHeight()) - MATURITY
  const [coinbase] = await services.storage.getTransactionsInBlock(height)
  const source = Transaction.fromBinary([...coinbase!.rawTx])
  const derivationPrefix = Utils.toBase64([...randomBytes(8)])
  const suffixes = Array.from({ length: COINS }, () => Utils.toBase64([...randomBytes(8)]))
  const payment = new Transaction()
  payment.addInput({
    sourceTransaction: source,
    sourceOutputIndex: 0,
    unlockingScript: new UnlockingScript(),
    sequence: 0xffffffff
  })
  const sender = new PrivateKey(1)
  for (const suffix of suffixes) {
    const { publicKey } = await wallet.getPublicKey({
      protocolID: PAYMENT,
      keyID: `${derivationPrefix} ${suffix}`,
      counterparty: sender.toPublicKey().toString(),
      forSelf: true
    })
    payment.addOutput({
      satoshis: SATOSHIS,
      lockingScript: new P2PKH().lock(PublicKey.fromString(publicKey).toAddress())
    })
  }
  const txid = payment.id('hex')
  const beef = new Beef()
  beef.mergeRawTx(payment.toBinary())
  const [posted] = await services.postBeef(beef, [txid])
  if (posted?.status !== 'success') throw posted?.error ?? new Error('the chain did not take the coins')
  const { merklePath } = await services.getMerklePath(txid)
  if (!merklePath) throw new Error('the chain did not mine the coins')
  payment.merklePath = merklePath
  await wallet.internalizeAction({
    tx: payment.toAtomicBEEF(),
    outputs: suffixes.map((derivationSuffix, outputIndex) => ({
      outputIndex,
      protocol: 'wallet payment' as const,
      paymentRemittance: {
        derivationPrefix,
        derivationSuffix,
        senderIdentityKey: sender.toPublicKey().toString()
      }
    })),
    description: 'coins for a test'
  })
}
