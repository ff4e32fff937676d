/**
 * Simplified payment verification: a transaction holds if its scripts and values do, and those of all it descends
 * from, back to transactions that a merkle path ties to a block, or that were verified before (D7).
 *
 * The verdict is that of `Transaction.verify` in @bsv/sdk; where it differs, `rules.ts` and the differential test say
 * why. The cheap is checked before the dear: the form and the values of everything, then proofs, then signatures, then
 * what the interpreter has to run.
 */
import { setImmediate } from 'node:timers/promises'
import { formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { Output, Transaction } from '../transaction.ts'
import { type Interpreter, type Job, sharedInterpreter } from './interpreter.ts'
import { invalid, spendable } from './rules.ts'
import { Sighash } from './sighash.ts'
import { type SignatureCheck, sharedSignatures } from './signatures.ts'
import { judge } from './templates.ts'
import {
  type Ancestry,
  type Bundle,
  collectAncestry,
  type KnownLookup,
  type Proof
} from './unverified-ancestry.ts'

/** What says which blocks there are; a `ChainTracker` of @bsv/sdk is one. Roots are as people see them. */
export interface RootTracker {
  isValidRootForHeight(root: string, height: number): Promise<boolean>
  currentHeight(): Promise<number>
}

/** What one call may cost. */
export interface VerifyLimits {
  /** Inputs of transactions that no proof covers. */
  readonly inputs: number
  /** Signatures that are checked here. One takes 50 µs. */
  readonly signatures: number
  /** Bytes of all scripts that these inputs have, and spend. */
  readonly scriptBytes: number
  /** Milliseconds of processor time of the interpreter, for scripts of no known form. */
  readonly interpreterMs: number
}

export const VERIFY_LIMITS: VerifyLimits = {
  inputs: 20_000,
  signatures: 20_000,
  scriptBytes: 100_000_000,
  interpreterMs: 5_000
}

export interface VerifyOptions {
  readonly tracker: RootTracker
  readonly known?: KnownLookup
  readonly limits?: Partial<VerifyLimits>
  /** Runs scripts of no known form, instead of the interpreter that all share. */
  readonly interpreter?: Interpreter | undefined
  /** The client on whose behalf scripts are run, for the fairness of the interpreter. */
  readonly client?: string | undefined
}

export interface VerifiedTransactions {
  /** What was not known and holds, parents first; the subject is the last, unless it was known. */
  readonly transactions: readonly Transaction[]
  /** Merkle paths that were checked: of these transactions, and of known ones that had none, or one of another block. */
  readonly proofs: readonly Proof[]
}

/**
 * Verifies the subject of a BEEF. Throws `ERR_TX_INVALID` with `txid`, `input` and `reason`, `ERR_TX_UNKNOWN` when a
 * transaction is missing, `ERR_BEEF_LIMIT` when it would cost too much, and `ERR_INTERPRETER_BUSY` when the client has to
 * try again later.
 *
 * @example
 * import { DevChain } from '@quoin/dev-chain'
 * const chain = new DevChain()
 * const { txid } = chain.fund('1HdvFwjcMgRdB8Cwgzcaady1GYd7a9Ffyc', 1000)
 * const { transactions, proofs } = await verifyBeef(Beef.parse(chain.beef(txid)), { tracker: chain })
 * transactions.length // 2
 * proofs.length // 1
 */
export const verifyBeef = async (beef: Bundle, options: VerifyOptions): Promise<VerifiedTransactions> => {
  const limits = { ...VERIFY_LIMITS, ...options.limits }
  const ancestry = await collectAncestry(beef, options.known, limits.inputs)
  const { transactions, unproven, proofs } = ancestry
  const inputs = unproven.map(transaction => ({
    transaction,
    sources: transaction.inputs.map(({ txid }) => ancestry.sourceOf(txid))
  }))
  const spendsCoinbase = inputs.some(({ sources }) => sources.some(each => each.transaction.isCoinbase))
  const tip = spendsCoinbase ? await options.tracker.currentHeight() : 0
  const spends = inputs.map(({ transaction, sources }): Spends => {
    return { transaction, spent: spendable(transaction, sources, tip) }
  })
  checkSize(spends, limits)
  await checkProofs(ancestry, options.tracker)
  const jobs = await checkSignatures(spends, limits)
  if (jobs.length > 0) await interpret(jobs, options, limits)
  return { transactions, proofs }
}

/** Verifies one transaction, all of whose parents are known. */
export const verifyTransaction = (
  transaction: Transaction,
  options: VerifyOptions & { readonly known: KnownLookup }
): Promise<VerifiedTransactions> => {
  const { txid } = transaction
  const subject = { txid, transaction, bump: undefined }
  const find = (wanted: Txid) => (wanted === txid ? subject : undefined)
  return verifyBeef({ subject: txid, transactions: [subject], bumps: [], find }, options)
}

/** A transaction and the outputs that its inputs spend. */
interface Spends {
  readonly transaction: Transaction
  readonly spent: readonly Output[]
}

const checkSize = (spends: readonly Spends[], { scriptBytes }: VerifyLimits): void => {
  let bytes = 0
  for (const { transaction, spent } of spends) {
    for (const { script } of transaction.inputs) bytes += script.length
    for (const { script } of spent) bytes += script.length
  }
  if (bytes > scriptBytes) {
    throw new QuoinError('ERR_BEEF_LIMIT', `more than ${scriptBytes} bytes of script to verify`, { bytes })
  }
}

/** Proofs, or signatures, in a row before others get their turn: about 5 ms. */
const SLICE = 100

/** Every merkle path must lead to the root that the chain has at its height. */
const checkProofs = async ({ proofs, sourceOf }: Ancestry, tracker: RootTracker): Promise<void> => {
  const answers = new Map<string, boolean>()
  for (const [i, { txid, bump }] of proofs.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    const { transaction } = sourceOf(txid)
    const root = bump.rootOf(txid)
    if (!root) throw invalid(transaction, 'its merkle path is that of others')
    const shown = formatTxid(root as Txid)
    const key = `${bump.height} ${shown}`
    const answer = answers.get(key) ?? (await tracker.isValidRootForHeight(shown, bump.height))
    answers.set(key, answer)
    if (!answer) throw invalid(transaction, `its merkle path does not lead to block ${bump.height}`)
  }
}

/** Judges all inputs of a known form, and returns the others. */
const checkSignatures = async (spends: readonly Spends[], { signatures }: VerifyLimits): Promise<Work[]> => {
  const rest: Work[] = []
  const batch = new SignatureBatch()
  for (const { transaction, spent } of spends) {
    const sighash = new Sighash(transaction)
    const unknown: Job['spends'][number][] = []
    for (const [input, output] of spent.entries()) {
      const verdict = judge(sighash, input, output)
      if (verdict === 'unknown') {
        unknown.push({ input, satoshis: output.satoshis, script: output.script })
        continue
      }
      if ('reason' in verdict) {
        // What is wrong with those before it comes first.
        await batch.verify()
        throw invalid(transaction, verdict.reason, input)
      }
      if (batch.count === signatures)
        throw new QuoinError('ERR_BEEF_LIMIT', `more than ${signatures} signatures to check`)
      batch.add(verdict.check, transaction, input)
      if (batch.size === SLICE) await batch.verify()
    }
    if (unknown.length > 0) rest.push({ transaction, job: { raw: transaction.raw, spends: unknown } })
  }
  await batch.verify()
  return rest
}

/** Signatures in order, verified a slice at a time. */
class SignatureBatch {
  #checks: SignatureCheck[] = []
  #inputs: { readonly transaction: Transaction; readonly input: number }[] = []
  /** Signatures added so far, verified ones included. */
  count = 0

  get size(): number {
    return this.#checks.length
  }

  add(check: SignatureCheck, transaction: Transaction, input: number): void {
    this.#checks.push(check)
    this.#inputs.push({ transaction, input })
    this.count++
  }

  /** Throws for the first invalid signature. */
  async verify(): Promise<void> {
    const verdicts = await sharedSignatures().check(this.#checks)
    const failed = this.#inputs[verdicts.indexOf(false)]
    if (failed) {
      throw invalid(failed.transaction, 'the signature is not of this transaction by this key', failed.input)
    }
    this.#checks = []
    this.#inputs = []
  }
}

interface Work {
  readonly transaction: Transaction
  readonly job: Job
}

const interpret = async (
  works: readonly Work[],
  { interpreter = sharedInterpreter(), client }: VerifyOptions,
  { interpreterMs }: VerifyLimits
): Promise<void> => {
  let left = interpreterMs
  for (const { transaction, job } of works) {
    const { failed, milliseconds } = await interpreter.run(job, left, client)
    if (failed) throw invalid(transaction, failed.reason, failed.input)
    left = Math.max(1, left - milliseconds)
  }
}
