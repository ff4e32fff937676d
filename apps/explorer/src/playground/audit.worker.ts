/** Proves a layout in a worker, with the code of `@quoin/keyspace` itself, so that typing never waits for a proof. */
import { outpoint, txid } from '@quoin/chain/components'
import { type AuditReport, auditLayout, PROPERTIES, parseLayout } from '@quoin/keyspace'
import { denom, tick9 } from '@quoin/liquidity/components'
import { QuoinError } from '@quoin/primitives'

export type Outcome =
  | {
      readonly turn: number
      readonly report: AuditReport
      readonly milliseconds: number
      /** The texts of the properties. The page does not load the prover for them. */
      readonly properties: typeof PROPERTIES
    }
  | { readonly turn: number; readonly error: { readonly code: string; readonly message: string } }

const audit = ({ turn, text }: { readonly turn: number; readonly text: string }): Outcome => {
  const since = performance.now()
  try {
    const report = auditLayout(parseLayout(text, { tick9, denom, txid, outpoint }))
    return { turn, report, milliseconds: performance.now() - since, properties: PROPERTIES }
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { turn, error: { code: error.code, message: error.message } }
  }
}

addEventListener('message', ({ data }: MessageEvent<{ turn: number; text: string }>) =>
  postMessage(audit(data))
)
