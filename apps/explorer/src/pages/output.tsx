/** An output: its value, its parsers' data, its spender, and the reasons why topics have it or not. */
import { type Answer, ApiError, ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Output } from '../api/types.ts'
import { at } from '../base.ts'
import { count, outpointOf } from '../format.ts'
import { Facts, Head, Section } from '../parts/layout.tsx'
import { Badge, Chips, Copy, Satoshis, Txid, When } from '../parts/names.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { ViewProps } from '../views.ts'
import { Meaning } from './meaning.tsx'

const INCLUDED = ['satoshis', 'spend', 'events', 'topics', 'block', 'data', 'output'] as const

const load = async (outpoint: string, signal: AbortSignal): Promise<Output | undefined> => {
  try {
    return await ask('GET /txo/outpoint/{outpoint}', {
      path: { outpoint },
      query: { include: INCLUDED },
      signal
    })
  } catch (error) {
    // The reasons can be known of an output that no topic has.
    if (error instanceof ApiError && error.isNotFound) return undefined
    throw error
  }
}

export const OutputPage = ({ parameter: outpoint }: ViewProps) => {
  const named = outpointOf(outpoint)
  const loading = useLoad(outpoint, signal => load(outpoint, signal))
  const reasons = useLoad(outpoint, signal =>
    ask('GET /why/{outpoint}', { path: { outpoint }, query: {}, signal })
  )
  if (!named) {
    return (
      <>
        <Head kind="Output" title={<Strange text={outpoint} />} />
        <Empty title="This is not the name of an output">
          It is a txid of 64 digits, a point, and a number.
        </Empty>
      </>
    )
  }
  const { txid, vout } = named
  return (
    <>
      <Head kind="Output" title={<span class="mono hash">{`${txid}.${vout}`}</span>}>
        <Copy text={`${txid}.${vout}`} what="the outpoint" />
      </Head>
      <Shown of={loading} lines={6}>
        {output =>
          output ? (
            <Known output={output} txid={txid} vout={vout} />
          ) : (
            <Empty title="This output is not indexed">The reasons are below.</Empty>
          )
        }
      </Shown>
      <Section title="Why">
        <Shown of={reasons}>{({ reasons: said }) => <Reasons reasons={said} />}</Shown>
      </Section>
      {loading.loaded.state === 'there' && loading.loaded.value && <Details output={loading.loaded.value} />}
    </>
  )
}

const Known = ({
  output,
  txid,
  vout
}: {
  readonly output: Output
  readonly txid: string
  readonly vout: number
}) => (
  <Facts
    of={{
      Holds: <Satoshis amount={output.satoshis} />,
      Meaning: <Meaning output={output} />,
      State: output.spend ? (
        <>
          <Badge kind="plain">spent</Badge> by <Txid txid={output.spend} />
        </>
      ) : (
        <Badge kind="good">unspent</Badge>
      ),
      When: <When score={output.score} />,
      Transaction: (
        <>
          output {count(vout)} of <Txid txid={txid} />
        </>
      ),
      Topics: output.topics?.length ? (
        <Chips names={output.topics} kind="topic" />
      ) : (
        <span class="quiet">none</span>
      ),
      Events: output.events?.length ? <Chips names={output.events} /> : <span class="quiet">none</span>,
      Proof: tokenProof(output),
      Content: contentOf(output),
      'Other outputs': (
        <span class="links">
          {vout > 0 && <a href={paths.output(`${txid}.${vout - 1}`)}>output {count(vout - 1)}</a>}
          <a href={paths.output(`${txid}.${vout + 1}`)}>output {count(vout + 1)}</a>
        </span>
      )
    }}
  />
)

/** Of an inscription or a file, in a tab and an origin of its own: a stranger wrote it. */
const contentOf = ({ outpoint, data }: Output) =>
  data?.['insc'] || data?.['b'] ? (
    <a href={at(`/content/${outpoint}`)} target="_blank" rel="noopener noreferrer">
      content, as its author wrote it
    </a>
  ) : undefined

/** The packet that proves a valid output of a token with headers alone. */
const tokenProof = ({ outpoint, data, topics = [] }: Output) => {
  const { id } = (data?.['bsv21'] ?? {}) as { readonly id?: string }
  if (id === undefined || !topics.includes(`tm_${id}`)) return undefined
  return (
    <a href={at(`/1sat/bsv21/${id}/proof/${outpoint}`)} download={`${outpoint}.proof`}>
      token proof (BRC-176)
    </a>
  )
}

/** Reasons in favour of the output, and against it; all others are neutral. */
const GOOD = new Set(['mined', 'unspent', 'indexed', 'admitted'])
const BAD = new Set([
  'transaction-unknown',
  'rolled-back',
  'conflict',
  'output-unknown',
  'contested',
  'evicted',
  'failed',
  'refused',
  'ambiguous'
])
const WAIT = new Set(['unmined', 'untold'])

const kindOf = (code: string) =>
  GOOD.has(code) ? 'good' : BAD.has(code) ? 'bad' : WAIT.has(code) ? 'wait' : 'plain'

const Reasons = ({ reasons }: { readonly reasons: Answer<'GET /why/{outpoint}'>['reasons'] }) => (
  <ul class="reasons">
    {reasons.map(({ code, message, topic }) => (
      <li key={`${code} ${topic ?? ''} ${message}`}>
        <Badge kind={kindOf(code)}>{code}</Badge>
        <Sentence text={message} />
      </li>
    ))}
  </ul>
)

/** Links the transactions that the sentence names. */
const Sentence = ({ text }: { readonly text: string }) => (
  <span>
    {text
      .slice(0, LONGEST)
      .split(/\b([0-9a-f]{64})\b/)
      .map((part, i) =>
        i % 2 === 1 ? (
          <Txid key={`${i} ${part}`} txid={part} />
        ) : (
          part !== '' && <Strange key={part} text={part} most={LONGEST} />
        )
      )}
    {text.length > LONGEST && '…'}
  </span>
)
const LONGEST = 2000

const Details = ({ output }: { readonly output: Output }) => {
  const data = Object.entries(output.data ?? {})
  return (
    <>
      {data.length > 0 && (
        <Section title="Parsed">
          {data.map(([tag, value]) => (
            <div key={tag} class="card">
              <h3>{tag}</h3>
              <Value of={value} />
            </div>
          ))}
        </Section>
      )}
      {output.output && (
        <Section
          title="Script"
          aside={<span class="quiet">{count(output.output.script.length / 2)} bytes</span>}
        >
          <Strange text={output.output.script} most={2000} block />
        </Section>
      )}
    </>
  )
}
