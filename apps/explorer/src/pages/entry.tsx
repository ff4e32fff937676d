/** One key of one controller: its live entries, and its history as a timeline with differences. */
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { KvEntry } from '../api/types.ts'
import { type Change, diff } from '../diff.ts'
import { Facts, Head, Section } from '../parts/layout.tsx'
import { Badge, Copy, Outpoint, When } from '../parts/names.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import type { ViewProps } from '../views.ts'
import { protocolJson, protocolText, Tags } from './kv.tsx'

const MOST_STEPS = 100

export const EntryPage = ({ query }: ViewProps) => {
  const [controller, key] = [query.get('controller') ?? '', query.get('key') ?? '']
  const protocol = query.get('protocol') ?? ''
  const protocolID = protocolJson(protocol)
  const history = useLoad(`${controller} ${key} ${protocol}`, signal =>
    ask('GET /kv/{controller}/{key}/history', {
      path: { controller, key },
      query: { limit: MOST_STEPS, ...(protocolID !== undefined && { protocolID }) },
      signal
    })
  )
  return (
    <>
      <Head kind="Entry" title={<Strange text={key} most={200} />} />
      <Shown of={history} lines={6}>
        {({ histories }) =>
          histories.length === 0 ? (
            <Empty title="Nothing is live under this key" />
          ) : (
            <>
              {histories.length > 1 && <Several count={histories.length} histories={histories} />}
              {histories.map(({ outpoint, entries, before }) => (
                <One key={outpoint} entries={entries} isCut={before.length > 0} />
              ))}
            </>
          )
        }
      </Shown>
    </>
  )
}

const Several = ({
  count,
  histories
}: {
  readonly count: number
  readonly histories: readonly { readonly entries: readonly KvEntry[] }[]
}) => {
  const isAmbiguous = histories.some(({ entries }) => entries.at(-1)?.ambiguous)
  return (
    <div class={isAmbiguous ? 'failure' : 'empty'} role="status">
      <p class="empty-title">
        {isAmbiguous ? 'Ambiguous' : 'Several protocols'}: {count} entries are live
      </p>
      <p>
        {isAmbiguous
          ? 'Its controller wrote the key more than once without spending the earlier entry. None of them counts until all but one are spent.'
          : 'The controller uses this key under more than one protocol. Each is an entry of its own.'}
      </p>
    </div>
  )
}

const One = ({ entries, isCut }: { readonly entries: readonly KvEntry[]; readonly isCut: boolean }) => {
  const live = entries.at(-1)
  if (!live) return null
  const { controller, protocolID, tags, score, outpoint, value, ambiguous } = live
  const protocol = protocolText(protocolID)
  return (
    <>
      <Section
        title="Value"
        aside={ambiguous ? <Badge kind="bad">ambiguous</Badge> : <Badge kind="good">live</Badge>}
      >
        <Strange text={value} most={4000} block />
        <Facts
          of={{
            Protocol: (
              <a href={paths.entries({ protocol })}>
                <Strange text={protocol} />
              </a>
            ),
            Controller: (
              <span class="links">
                <a class="mono" href={paths.entries({ controller })}>
                  {controller}
                </a>
                <Copy text={controller} what="the controller" />
              </span>
            ),
            Tags: tags.length > 0 ? <Tags tags={tags} /> : <span class="quiet">none</span>,
            Output: <Outpoint outpoint={outpoint} />,
            Since: <When score={score} />
          }}
        />
      </Section>
      <Section title="History">
        <ol class="timeline" aria-label="History, newest first">
          {entries
            .map((entry, i) => ({ entry, before: entries[i - 1] }))
            .reverse()
            .map(({ entry, before }) => (
              <li key={entry.outpoint} class="timeline-step">
                <p class="quiet">
                  <When score={entry.score} /> <Outpoint outpoint={entry.outpoint} />
                </p>
                <Difference entry={entry} before={before} />
              </li>
            ))}
          {isCut && <li class="quiet">There is more before this.</li>}
        </ol>
      </Section>
    </>
  )
}

const LONGEST_SHOWN = 4000

const Difference = ({ entry, before }: { readonly entry: KvEntry; readonly before: KvEntry | undefined }) => {
  const changes = before && diff(before.value, entry.value)
  const isSame = before?.value === entry.value
  if (!changes || isSame) {
    return (
      <>
        {isSame && <p class="quiet">the same value again</p>}
        <Strange text={entry.value} most={400} block />
      </>
    )
  }
  return (
    <pre class="strange block">
      {changes.map((change, i) => (
        <Changed key={`${i} ${change.kind}`} change={change} />
      ))}
    </pre>
  )
}

const Changed = ({ change: { kind, text } }: { readonly change: Change }) => {
  const shown = <Strange text={text} most={LONGEST_SHOWN} lines />
  if (kind === 'added') return <ins>{shown}</ins>
  return kind === 'removed' ? <del>{shown}</del> : shown
}
