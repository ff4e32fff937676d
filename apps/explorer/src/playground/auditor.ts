/** The worker that proves layouts: it works on the newest text, and is terminated when its proof is outdated. */
import type { Outcome } from './audit.worker.ts'
import workerUrl from './audit.worker.ts?worker&url'

/** The page's policy runs scripts only from URLs that passed this function; it passes one. */
const policy = (
  globalThis as {
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL(url: string): string }
      ): { createScriptURL(url: string): string }
    }
  }
).trustedTypes?.createPolicy('quoin', {
  createScriptURL: url => {
    if (url !== workerUrl) throw new TypeError(`${url} is not the auditor`)
    return url
  }
})

/** A proof that takes longer is terminated by the next text. */
const PATIENCE_MS = 250

export class Auditor {
  readonly #tell: (text: string, outcome: Outcome) => void
  #worker: Worker | undefined
  #turn = 0
  #text = ''
  #busySince: number | undefined

  constructor(tell: (text: string, outcome: Outcome) => void) {
    this.#tell = tell
  }

  audit(text: string): void {
    if (this.#busySince !== undefined && performance.now() - this.#busySince > PATIENCE_MS) this.close()
    this.#worker ??= this.#start()
    this.#busySince ??= performance.now()
    this.#text = text
    this.#worker.postMessage({ turn: ++this.#turn, text })
  }

  close(): void {
    this.#worker?.terminate()
    this.#worker = undefined
    this.#busySince = undefined
  }

  #start(): Worker {
    const worker = new Worker(policy ? policy.createScriptURL(workerUrl) : workerUrl, { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<Outcome>) => {
      if (data.turn !== this.#turn) return
      this.#busySince = undefined
      this.#tell(this.#text, data)
    })
    worker.addEventListener('error', ({ message }) => {
      this.#busySince = undefined
      this.#tell(this.#text, {
        turn: this.#turn,
        error: { code: 'ERR_WORKER', message: message || 'the auditor could not start' }
      })
    })
    return worker
  }
}
