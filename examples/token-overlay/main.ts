/** Mints 100 tokens for alice, who sends 60 of them to bob; a transfer that creates tokens is refused. */
import {
  BigNumber,
  ECDSA,
  P2PKH,
  PrivateKey,
  ProtoWallet,
  PushDrop,
  type ScriptTemplateUnlock,
  Transaction,
  Utils,
  type WalletInterface
} from '@bsv/sdk'
import { DevChain } from '@quoin/dev-chain'
import { Engine, installPlugins } from '@quoin/overlay'
import { fromHex, parseTxid } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { OutputStore } from '@quoin/txo'
import { mintDigest, tokenOf } from './token.ts'

/** The last byte of a signature in a script: `SIGHASH_ALL | SIGHASH_FORKID`. */
const SIGHASH_ALL = 0x41

const issuer = PrivateKey.fromRandom()
const chain = new DevChain()
const outputs = new OutputStore(await openStore('memory:'))
const plugins = await installPlugins([tokenOf(fromHex(issuer.toPublicKey().toString()))], { outputs })
const engine = new Engine({ outputs, tracker: chain, ...plugins })

/** A wallet whose tokens are locked with one derived key. */
class Holder {
  readonly #scope = { protocolID: [0, 'token example'] as [0, string], keyID: '1', counterparty: 'self' }
  readonly #wallet = new ProtoWallet(PrivateKey.fromRandom())
  readonly #pushDrop = new PushDrop(this.#wallet as unknown as WalletInterface)

  async publicKey(): Promise<string> {
    return (await this.#wallet.getPublicKey({ ...this.#scope, forSelf: true })).publicKey
  }
  async output(amount: number, satoshis: number, ...signature: number[][]) {
    const { protocolID, keyID, counterparty } = this.#scope
    const fields = [Utils.toArray('tok', 'utf8'), Utils.toArray(`${amount}`, 'utf8'), ...signature]
    const lockingScript = await this.#pushDrop.lock(fields, protocolID, keyID, counterparty, true, false)
    return { satoshis, lockingScript }
  }
  unlock() {
    const { protocolID, keyID, counterparty } = this.#scope
    return this.#pushDrop.unlock(protocolID, keyID, counterparty)
  }
}
const [alice, bob] = [new Holder(), new Holder()]

const submit = async (transaction: Transaction): Promise<readonly number[]> => {
  await transaction.sign()
  const steak = await engine.submit({ beef: Uint8Array.from(transaction.toBEEF()), topics: ['tm_token'] })
  return steak['tm_token']!.outputsToAdmit
}

/** An unsigned transaction that spends the output `vout` of `from`. */
const spending = (from: Transaction, vout: number, unlockingScriptTemplate: ScriptTemplateUnlock) => {
  const transaction = new Transaction()
  transaction.addInput({ sourceTransaction: from, sourceOutputIndex: vout, unlockingScriptTemplate })
  return transaction
}

const { txid } = chain.fund(issuer.toAddress(), 100)
const coin = Transaction.fromAtomicBEEF([...chain.beef(txid)])
const digest = mintDigest({ txid, vout: 0 }, 0, fromHex(await alice.publicKey()), 100n)
const signature = ECDSA.sign(new BigNumber([...digest]), issuer, true).toDER() as number[]
const mint = spending(coin, 0, new P2PKH().unlock(issuer))
mint.addOutput(await alice.output(100, 10, [...signature, SIGHASH_ALL]))
console.log('mint of 100: admitted', await submit(mint))

const transfer = spending(mint, 0, alice.unlock())
transfer.addOutput(await bob.output(60, 1))
transfer.addOutput(await alice.output(40, 2))
console.log('60 to bob, 40 back: admitted', await submit(transfer))
const held = await engine.lookup('ls_token', { holder: await bob.publicKey() })
console.log('bob holds', held.length, 'output')

const inflation = spending(transfer, 1, alice.unlock())
inflation.addOutput(await bob.output(41, 1))
console.log('41 from 40: admitted', await submit(inflation))
const admissions = await engine.admissions(parseTxid(inflation.id('hex')))
console.log(admissions!['tm_token']!.refused)

await engine.close()
await outputs.store.close()
