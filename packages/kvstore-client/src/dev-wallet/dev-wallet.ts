/**
 * A development wallet: the methods of BRC-100 that applications with tokens call, with coins of the development chain of a
 * Quoin node. It runs in Node and in browsers, keeps its state where it is told, and has no certificates.
 *
 *     const wallet = await openDevWallet({ node: 'http://localhost:8080' })
 *     const kv = new GlobalKV({ wallet, host: 'http://localhost:8080' })
 */
import {
  Beef,
  PrivateKey,
  ProtoWallet,
  type SignActionArgs,
  type SignActionResult,
  Utils,
  type WalletInterface,
  WERR_REVIEW_ACTIONS
} from '@bsv/sdk'
import { QuoinError } from '@quoin/primitives'
import { basketOutputs, type DraftAction, draft, isOpen, sign } from './actions.ts'
import { DevChainClient } from './chain.ts'
import { type DevWalletState, readState, selectOutputs, walletOutput } from './outputs.ts'

/** Where the state of a wallet is kept: a file, or `localStorage`. */
export interface DevWalletStorage {
  load(): Promise<string | undefined>
  save(state: string): Promise<void>
}

export interface DevWalletOptions {
  /** URL of a node with the chain `dev`. */
  readonly node: string
  /** In memory unless given. */
  readonly storage?: DevWalletStorage
  /** Root key in hex of a wallet without stored state; random unless given. */
  readonly key?: string
}

const IN_MEMORY: DevWalletStorage = { load: async () => undefined, save: async () => {} }

export const openDevWallet = async ({
  node,
  storage = IN_MEMORY,
  key = PrivateKey.fromRandom().toHex().padStart(64, '0')
}: DevWalletOptions): Promise<WalletInterface> => {
  const stored = await storage.load()
  let state: DevWalletState = stored === undefined ? { key, outputs: [] } : readState(stored)
  if (stored === undefined) await storage.save(JSON.stringify(state))
  const root = PrivateKey.fromHex(state.key)
  const keys = new ProtoWallet(root)
  const chain = new DevChainClient(node)
  const drafts = new Map<string, DraftAction>()
  const unsent = new Map<string, DraftAction>()

  const change = async (part: Partial<DevWalletState>): Promise<void> => {
    state = { ...state, ...part }
    await storage.save(JSON.stringify(state))
  }

  /** Forgets the outputs of another chain: that of a node in memory is gone with the node. */
  const joinChain = async (): Promise<void> => {
    const first = await chain.firstBlock()
    if (state.chain !== first) await change({ chain: first, outputs: [] })
  }

  const send = async ({ transaction }: DraftAction): Promise<void> => {
    try {
      await chain.submit(transaction)
    } catch (error) {
      const spender = spenderOf(error)
      if (spender === undefined) throw error
      const txid = transaction.id('hex')
      throw new WERR_REVIEW_ACTIONS(
        [
          {
            txid,
            status: 'doubleSpend',
            competingTxs: [spender],
            competingBeef: (await chain.transaction(spender)).toBEEF()
          }
        ],
        [{ txid, status: 'failed' }]
      )
    }
  }

  /** Signs and sends an action, and moves its outputs into their baskets. */
  const complete = async (
    drafted: DraftAction,
    spends: SignActionArgs['spends']
  ): Promise<SignActionResult> => {
    const action = await sign(drafted, root, spends)
    const { transaction, args } = action
    const { noSend = false, returnTXIDOnly = false, sendWith = [] } = args.options ?? {}
    const txid = transaction.id('hex')
    for (const each of sendWith) {
      const waiting = unsent.get(each)
      if (!waiting) throw failure(`sendWith names ${each}, which is no action that waits to be sent`)
      await send(waiting)
      unsent.delete(each)
    }
    if (noSend) unsent.set(txid, action)
    else await send(action)
    const spent = new Set(args.inputs?.map(({ outpoint }) => outpoint))
    const kept = state.outputs.filter(({ outpoint }) => !spent.has(outpoint))
    await change({ outputs: [...kept, ...basketOutputs(action)] })
    return { txid, ...(!returnTXIDOnly && { tx: transaction.toAtomicBEEF() }) }
  }

  const certificates = async (): Promise<never> => {
    throw failure('the development wallet has no certificates')
  }

  return {
    getPublicKey: args => keys.getPublicKey(args),
    revealCounterpartyKeyLinkage: args => keys.revealCounterpartyKeyLinkage(args),
    revealSpecificKeyLinkage: args => keys.revealSpecificKeyLinkage(args),
    encrypt: args => keys.encrypt(args),
    decrypt: args => keys.decrypt(args),
    createHmac: args => keys.createHmac(args),
    verifyHmac: args => keys.verifyHmac(args),
    createSignature: args => keys.createSignature(args),
    verifySignature: args => keys.verifySignature(args),

    createAction: async args => {
      const action = await draft(chain, root, args)
      // The coin of the draft is in a block, so that the chain has a first one.
      await joinChain()
      if (!isOpen(action) && args.options?.signAndProcess !== false) return complete(action, {})
      const reference = Utils.toBase64(PrivateKey.fromRandom().toArray())
      drafts.set(reference, action)
      return { signableTransaction: { tx: action.transaction.toAtomicBEEF(), reference } }
    },
    signAction: async ({ reference, spends, options }) => {
      const action = drafts.get(reference)
      if (!action) throw failure('signAction names no action that waits for signatures')
      drafts.delete(reference)
      const args = { ...action.args, options: { ...action.args.options, ...options } }
      return complete({ ...action, args }, spends)
    },
    abortAction: async ({ reference }) => {
      if (!drafts.delete(reference)) throw failure('abortAction names no action that waits for signatures')
      return { aborted: true }
    },
    listActions: async () => {
      throw failure('the development wallet keeps outputs, and no list of actions')
    },
    internalizeAction: async () => {
      throw failure('the development wallet takes no payments: its coins come from the development chain')
    },
    listOutputs: async args => {
      await joinChain()
      const { page, total } = selectOutputs(state.outputs, args)
      const outputs = page.map(output => walletOutput(output, args))
      if (args.include !== 'entire transactions') return { totalOutputs: total, outputs }
      const beef = new Beef()
      for (const txid of new Set(page.map(({ outpoint }) => outpoint.slice(0, 64)))) {
        beef.mergeTransaction(unsent.get(txid)?.transaction ?? (await chain.transaction(txid)))
      }
      return { totalOutputs: total, BEEF: beef.toBinary(), outputs }
    },
    relinquishOutput: async ({ output }) => {
      await change({ outputs: state.outputs.filter(({ outpoint }) => outpoint !== output) })
      return { relinquished: true }
    },

    acquireCertificate: certificates,
    listCertificates: async () => ({ totalCertificates: 0, certificates: [] }),
    proveCertificate: certificates,
    relinquishCertificate: certificates,
    discoverByIdentityKey: certificates,
    discoverByAttributes: certificates,

    isAuthenticated: async () => ({ authenticated: true }),
    waitForAuthentication: async () => ({ authenticated: true }),
    getHeight: async () => ({ height: await chain.height() }),
    getHeaderForHeight: async ({ height }) => ({ header: await chain.header(height) }),
    getNetwork: async () => ({ network: 'testnet' }),
    getVersion: async () => ({ version: 'quoin-dev-wallet' })
  }
}

const failure = (message: string): QuoinError => new QuoinError('ERR_KV_WALLET', message)

/** The transaction that spent an input first, when the chain refused an action for it. */
const spenderOf = (error: unknown): string | undefined => {
  if (!(error instanceof QuoinError) || error.details['code'] !== 'ERR_TXO_CONFLICT') return undefined
  const { spender } = Object(error.details['details']) as Record<string, unknown>
  return typeof spender === 'string' ? spender : undefined
}
