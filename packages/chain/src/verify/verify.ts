/**
 * Simplified payment verification: scripts and values of a transaction and its ancestors, back to transactions with a
 * merkle path, or verified before (D7).
 *
 * Verdicts equal those of `Transaction.verify` in @bsv/sdk; `rules.ts` and the differential test state the differences.
 * Cheap checks come first: form and values, proofs, signatures, then the interpreter.
 */
import { setImmediate } from 'node:timers/promises'
import { formatTxid, QuoinError, type Txid } from '@quoin/primitives'
import type { Output, Transaction } from '../transaction.ts'
import { type Interpreter, type Job, sharedInterpreter } from './interpreter.ts'
import { invalid, spendable } from './rules.ts'
import { Sighash } from './sighash.ts'
import { type SignatureCheck, sharedSignatures } from './signatures.ts'
import { evaluateInput } from './templates.ts'
import {
  type Ancestry,
  type Bundle,
  collectAncestry,
  type KnownLookup,
  type Proof
} from './unverified-ancestry.ts'

/** Merkle roots of the chain, in display hex; a `ChainTracker` of @bsv/sdk is one. */
export interface RootTracker {
  isValidRootForHeight(root: string, height: number): Promise<boolean>
  currentHeight(): Promise<number>
}

/** Limits on the cost of one call. */
export interface VerifyLimits {
  /** Inputs of unproved transactions. */
  readonly inputs: number
  /** Signatures verified here, at 50 µs each. */
  readonly signatures: number
  /** Bytes of the unlocking and locking scripts of these inputs. */
  readonly scriptBytes: number
  /** Milliseconds of the interpreter's processor time, for scripts outside of the templates. */
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
  /** Interpreter for scripts outside of the templates; the shared one by default. */
  readonly interpreter?: Interpreter | undefined
  /** Client on whose behalf scripts run, for fairness. */
  readonly client?: string | undefined
}

export interface VerifiedTransactions {
  /** Newly verified transactions, parents first; the subject is last, unless it was known. */
  readonly transactions: readonly Transaction[]
  /** Checked merkle paths: of these transactions, and of known ones without a proof or with one of another block. */
  readonly proofs: readonly Proof[]
}

/**
 * Verifies the subject of a BEEF. Throws `ERR_TX_INVALID` with `txid`, `input` and `reason`, `ERR_TX_UNKNOWN` for a
 * missing transaction, `ERR_BEEF_LIMIT` beyond a limit, and `ERR_INTERPRETER_BUSY` when the client has to retry later.
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

/** Verifies one transaction whose parents are all known. */
export const verifyTransaction = (
  transaction: Transaction,
  options: VerifyOptions & { readonly known: KnownLookup }
): Promise<VerifiedTransactions> => {
  const { txid } = transaction
  const subject = { txid, transaction, bump: undefined }
  const find = (wanted: Txid) => (wanted === txid ? subject : undefined)
  return verifyBeef({ subject: txid, transactions: [subject], bumps: [], find }, options)
}

/** A transaction and its spent outputs. */
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

/** Proofs or signatures between yields to the event loop: about 5 ms. */
const SLICE = 100

/** Checks each merkle path against the chain's root at its height. */
const checkProofs = async ({ proofs, sourceOf }: Ancestry, tracker: RootTracker): Promise<void> => {
  const answers = new Map<string, boolean>()
  for (const [i, { txid, bump }] of proofs.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    const { transaction } = sourceOf(txid)
    const root = bump.rootOf(txid)
    if (!root) throw invalid(transaction, 'its merkle path is of other transactions')
    const shown = formatTxid(root as Txid)
    const key = `${bump.height} ${shown}`
    const answer = answers.get(key) ?? (await tracker.isValidRootForHeight(shown, bump.height))
    answers.set(key, answer)
    if (!answer) throw invalid(transaction, `its merkle path does not lead to block ${bump.height}`)
  }
}

/** Evaluates inputs of the templates, and returns the others. */
const checkSignatures = async (spends: readonly Spends[], { signatures }: VerifyLimits): Promise<Work[]> => {
  const rest: Work[] = []
  const batch = new SignatureBatch()
  for (const { transaction, spent } of spends) {
    const sighash = new Sighash(transaction)
    const unknown: Job['spends'][number][] = []
    for (const [input, output] of spent.entries()) {
      const verdict = evaluateInput(sighash, input, output)
      if (verdict === 'unknown') {
        unknown.push({ input, satoshis: output.satoshis, script: output.script })
        continue
      }
      if ('reason' in verdict) {
        // Errors of earlier inputs come first.
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
      throw invalid(failed.transaction, 'the signature does not verify', failed.input)
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
