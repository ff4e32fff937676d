/** The development chain of a Quoin node, over HTTP: it pays coins, takes transactions and proves them. */
import { Transaction, Utils } from '@bsv/sdk'
import { fetchReasonOf, QuoinError } from '@quoin/primitives'

const TIMEOUT_MS = 15_000

export class DevChainClient {
  readonly #url: string

  /** URL of a node with the chain `dev`. */
  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '')
  }

  /** A coin in the first output of the returned transaction. */
  async fund(script: string, satoshis: number): Promise<Transaction> {
    return transactionOf(await this.#request('/dev/fund', { script, satoshis }))
  }

  /** Submits a transaction with its unmined ancestors. */
  async submit(transaction: Transaction): Promise<void> {
    await this.#request('/dev/submit', { beef: Utils.toHex(transaction.toAtomicBEEF()) })
  }

  /** A transaction with its ancestry to proofs. */
  async transaction(txid: string): Promise<Transaction> {
    return transactionOf(await this.#request(`/dev/beef/${txid}`))
  }

  async height(): Promise<number> {
    const { value } = await this.#request('/1sat/chaintracks/getPresentHeight')
    return value as number
  }

  /** In hex. */
  async header(height: number): Promise<string> {
    const header = await this.#header(height)
    if (header !== '') return header
    throw chainError(`the development chain has no block at height ${height}`, { height })
  }

  /** The header of the first block after genesis, which is of this chain alone; empty before there is one. */
  firstBlock(): Promise<string> {
    return this.#header(1)
  }

  async #header(height: number): Promise<string> {
    const { value } = await this.#request(`/1sat/chaintracks/getHeaders?height=${height}&count=1`)
    return value as string
  }

  async #request(path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.#url}${path}`, {
      method: body ? 'POST' : 'GET',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    }).catch((cause: unknown) => {
      throw chainError(`${this.#url} cannot be reached: ${fetchReasonOf(cause)}`, { cause })
    })
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>
    if (response.ok) return answer
    const { code, message = `status ${response.status}`, details } = answer
    throw chainError(`${this.#url} refused ${path}: ${message}`, { code, details })
  }
}

const transactionOf = ({ beef }: Record<string, unknown>): Transaction =>
  Transaction.fromAtomicBEEF(Utils.toArray(beef as string, 'hex'))

const chainError = (message: string, details: Record<string, unknown>): QuoinError =>
  new QuoinError('ERR_KV_WALLET', message, details)
