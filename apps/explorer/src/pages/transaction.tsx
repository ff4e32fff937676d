/** A transaction: its inputs and outputs, their meaning, and its proof. */
import { useRef, useState } from 'preact/hooks'
import { ApiError, ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Output } from '../api/types.ts'
import { at } from '../base.ts'
import { bytes, count } from '../format.ts'
import { Facts, Head, Section } from '../parts/layout.tsx'
import { Badge, BlockLink, Chips, Copy, notable, Outpoint, Satoshis, Txid, When } from '../parts/names.tsx'
import { Empty, Failure, Shown } from '../parts/states.tsx'
import { parseTransaction, type RawTransaction } from '../raw-transaction.ts'
import type { ViewProps } from '../views.ts'
import { Meaning } from './meaning.tsx'

/** The limit on inputs and outputs at first; a transaction may have thousands. */
const FIRST = 25

interface LoadedTransaction {
  readonly outputs: readonly Output[]
  readonly raw: RawTransaction | undefined
  readonly isProven: boolean
}

const orNothing = (error: unknown): undefined => {
  if (error instanceof ApiError && error.isNotFound) return undefined
  throw error
}

const load = async (txid: string, signal: AbortSignal): Promise<LoadedTransaction> => {
  const [{ outputs }, raw, proof] = await Promise.all([
    ask('GET /txo/tx/{txid}', { path: { txid }, query: {}, signal }),
    ask('GET /beef/{txid}/tx', { path: { txid }, signal }).catch(orNothing),
    ask('GET /beef/{txid}/proof', { path: { txid }, signal }).catch(orNothing)
  ])
  return { outputs, raw: raw && parseTransaction(raw), isProven: proof !== undefined }
}

export const TransactionPage = ({ parameter: txid }: ViewProps) => {
  const loading = useLoad(txid, signal => load(txid, signal))
  return (
    <>
      <Head kind="Transaction" title={<span class="mono hash">{txid}</span>}>
        <Copy text={txid} what="the txid" />
      </Head>
      <Shown of={loading} lines={8}>
        {({ outputs, raw, isProven }) => (
          <>
            <Facts
              of={{
                State: <State outputs={outputs} isProven={isProven} />,
                Shape: raw && <Shape raw={raw} />,
                Download: raw && <Downloads txid={txid} isProven={isProven} />
              }}
            />
            <Section title="Inputs">
              {raw ? (
                <Inputs raw={raw} />
              ) : (
                <Empty title="The bytes of this transaction are not stored here" />
              )}
            </Section>
            <Section title="Outputs">
              <Outputs outputs={outputs} txid={txid} {...(raw && { raw })} />
            </Section>
          </>
        )}
      </Shown>
    </>
  )
}

const State = ({
  outputs,
  isProven
}: {
  readonly outputs: readonly Output[]
  readonly isProven: boolean
}) => {
  const [first] = outputs
  const block = first?.block
  return (
    <>
      {isProven ? <Badge kind="good">proven</Badge> : <Badge kind="wait">waits for its proof</Badge>}{' '}
      {block ? (
        <>
          number {count(block.index)} of <BlockLink height={block.height} />
        </>
      ) : (
        first && <When score={first.score} />
      )}
    </>
  )
}

const plural = (amount: number, what: string): string => `${count(amount)} ${what}${amount === 1 ? '' : 's'}`

const Shape = ({ raw: { length, inputs, outputs, version, lockTime } }: { readonly raw: RawTransaction }) => (
  <>
    {plural(length, 'byte')}, {plural(inputs.length, 'input')}, {plural(outputs.length, 'output')},{' '}
    <span class="quiet">
      version {version}, lock time {count(lockTime)}
    </span>
  </>
)

const Downloads = ({ txid, isProven }: { readonly txid: string; readonly isProven: boolean }) => (
  <span class="links">
    <a href={at(`/beef/${txid}`)} download={`${txid}.beef`}>
      BEEF
    </a>
    <a href={at(`/beef/${txid}/tx`)} download={`${txid}.tx`}>
      raw
    </a>
    {isProven && (
      <a href={at(`/beef/${txid}/proof`)} download={`${txid}.bump`}>
        proof
      </a>
    )}
  </span>
)

const Inputs = ({ raw }: { readonly raw: RawTransaction }) => {
  const [shown, setShown] = useState(FIRST)
  const visible = raw.inputs.slice(0, shown)
  const known = useRef(new Map<string, Output | undefined>())
  const loading = useLoad(`${shown}`, async signal => {
    const asked = visible.filter(({ outpoint }) => !known.current.has(outpoint))
    await Promise.all(
      asked.map(async ({ outpoint }) => {
        const found = await ask('GET /txo/outpoint/{outpoint}', {
          path: { outpoint },
          query: {},
          signal
        }).catch(orNothing)
        known.current.set(outpoint, found)
      })
    )
  })
  return (
    <>
      <ol class="rows" aria-label="Inputs" start={0}>
        {visible.map(({ outpoint, scriptLength }) => {
          const output = known.current.get(outpoint)
          return (
            <li key={outpoint}>
              <Outpoint outpoint={outpoint} />
              <span>
                {output ? (
                  <Satoshis amount={output.satoshis} />
                ) : (
                  <span class="quiet">{known.current.has(outpoint) ? 'value not known here' : '…'}</span>
                )}
              </span>
              <span>
                {output && <Meaning output={output} />}{' '}
                <span class="quiet">unlocked with {bytes(scriptLength)}</span>
              </span>
            </li>
          )
        })}
      </ol>
      {loading.loaded.state === 'failed' && <Failure error={loading.loaded.error} again={loading.again} />}
      {raw.inputs.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 4 * FIRST)}>
          Show more of {count(raw.inputs.length - shown)}
        </button>
      )}
    </>
  )
}

const Outputs = ({
  outputs,
  raw,
  txid
}: {
  readonly outputs: readonly Output[]
  readonly raw?: RawTransaction
  readonly txid: string
}) => {
  const [shown, setShown] = useState(FIRST)
  const known = new Map(outputs.map(each => [each.outpoint, each]))
  const all = raw
    ? raw.outputs.map(({ satoshis }, vout) => ({ outpoint: `${txid}.${vout}`, satoshis: String(satoshis) }))
    : outputs.map(({ outpoint, satoshis }) => ({ outpoint, satoshis: satoshis ?? null }))
  return (
    <>
      <ol class="rows" aria-label="Outputs" start={0}>
        {all.slice(0, shown).map(({ outpoint, satoshis }) => {
          const output = known.get(outpoint)
          return (
            <li key={outpoint}>
              <Outpoint outpoint={outpoint} />
              <Satoshis amount={satoshis} />
              <span>{output ? <Meaning output={output} /> : <span class="quiet">not indexed</span>}</span>
              {output && (
                <span class="row-more">
                  {output.spend ? (
                    <span>
                      <Badge kind="plain">spent</Badge> by <Txid txid={output.spend} />
                    </span>
                  ) : (
                    <Badge kind="good">unspent</Badge>
                  )}
                  <Chips names={output.topics ?? []} kind="topic" />
                  <Chips names={notable(output.events ?? [])} />
                </span>
              )}
            </li>
          )
        })}
      </ol>
      {all.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 4 * FIRST)}>
          Show more of {count(all.length - shown)}
        </button>
      )}
    </>
  )
}
