/** The playground: a layout of keys, with its proof or a witness against it, as you type. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Head, Section } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Waiting } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import type { Outcome } from './audit.worker.ts'
import { Auditor } from './auditor.ts'
import { asText, EXAMPLES } from './examples.ts'
import { fromFragment, toFragment } from './link.ts'
import { Witness } from './witness.tsx'

type ProofOutcome = Extract<Outcome, { readonly report: unknown }>

const TYPING_MS = 120
const MOST_FINDINGS = 50
const FIRST_EXAMPLE = 'A scan that catches too much'
const TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EXAMPLES).map(([name, layout]) => [name, asText(layout)])
)
/** The name of a text that differs from every example. */
const OWN = 'A layout of your own'

export const PlaygroundPage = () => {
  const [text, setText] = useState(
    () => fromFragment(location.hash.slice(1)) ?? asText(EXAMPLES[FIRST_EXAMPLE])
  )
  const [proved, setProved] = useState<{ readonly text: string; readonly outcome: Outcome } | undefined>()
  const auditor = useRef<Auditor | undefined>(undefined)
  useEffect(() => {
    auditor.current = new Auditor((given, outcome) => setProved({ text: given, outcome }))
    // A link that is opened in the open page.
    const follow = (): void => {
      const linked = fromFragment(location.hash.slice(1))
      if (linked !== undefined) setText(linked)
    }
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
      auditor.current?.close()
    }
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => {
      auditor.current?.audit(text)
      const fragment = toFragment(text)
      history.replaceState(history.state, '', fragment ? `#${fragment}` : location.pathname)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  // The outcome is that of the previous text until the new proof comes.
  const isBusy = proved?.text !== text
  const chosen = Object.entries(TEXTS).find(([, each]) => each === text)?.[0] ?? OWN
  return (
    <>
      <Head title="Playground">
        <p class="lead">
          A layout of keys, in the format of <code>quoin keyspace audit</code>. It is proved in your browser
          by the code that proves the keys of this node; nothing is sent anywhere.
        </p>
      </Head>
      <div class="playground">
        <div>
          <div class="toolbar">
            <label>
              Begin with
              <select value={chosen} onChange={event => setText(TEXTS[event.currentTarget.value] ?? text)}>
                {chosen === OWN && <option>{OWN}</option>}
                {Object.keys(TEXTS).map(name => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          </div>
          <label class="hidden" for="layout">
            Layout
          </label>
          <textarea
            id="layout"
            class="mono"
            rows={24}
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
        </div>
        <div aria-live="polite" class="outcome" aria-busy={isBusy}>
          {proved ? <Shown outcome={proved.outcome} /> : <Waiting lines={5} />}
        </div>
      </div>
    </>
  )
}

const Shown = ({ outcome }: { readonly outcome: Outcome }) => {
  if ('error' in outcome) {
    return (
      <div class="failure">
        <p class="empty-title">Not a layout yet</p>
        <p>
          <Strange text={outcome.error.message} most={600} />
        </p>
        <p>
          <code>{outcome.error.code}</code>
        </p>
      </div>
    )
  }
  const { report, milliseconds, properties } = outcome
  return (
    <>
      <p class="verdict">
        <Badge kind={report.sound ? 'good' : 'bad'}>{report.sound ? 'sound' : 'unsound'}</Badge>{' '}
        <Strange text={report.name} most={60} />
        <span class="quiet">
          {' '}
          {report.findings.length === 0
            ? 'every property proved'
            : `${count(report.findings.length)} ${report.findings.length === 1 ? 'finding' : 'findings'}`}{' '}
          in {milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms
        </span>
      </p>
      <Findings findings={report.findings} properties={properties} />
      <Section title="Collections">
        <ul class="rows" aria-label="Collections">
          {report.collections.slice(0, MOST_FINDINGS).map(({ name, key, sound, order }) => (
            <li key={name}>
              <Badge kind={sound ? 'good' : 'bad'}>{sound ? 'sound' : 'unsound'}</Badge>
              <strong>
                <Strange text={name} most={60} />
              </strong>
              <code>
                <Strange text={key} most={120} />
              </code>
              {order && <span class="quiet row-more">walks by {order}</span>}
            </li>
          ))}
        </ul>
        <p class="quiet">
          {count(report.pairs.checked)} {report.pairs.checked === 1 ? 'pair' : 'pairs'} checked,{' '}
          {count(report.pairs.overlapping.length)} overlap.
        </p>
      </Section>
    </>
  )
}

const Findings = ({
  findings,
  properties
}: {
  readonly findings: ProofOutcome['report']['findings']
  readonly properties: ProofOutcome['properties']
}) => (
  <ol class="findings" aria-label="Findings">
    {findings.slice(0, MOST_FINDINGS).map(finding => {
      const { property, message } = finding
      return (
        <li key={`${property} ${message}`} class="card">
          <p>
            <Badge kind="bad">{property}</Badge> <strong>{properties[property]}</strong>{' '}
            <span class="quiet">fails</span>
          </p>
          <p>
            <Strange text={message} most={600} />
          </p>
          <Witness finding={finding} />
        </li>
      )
    })}
    {findings.length > MOST_FINDINGS && (
      <li class="quiet">and {count(findings.length - MOST_FINDINGS)} more, which the command prints</li>
    )}
  </ol>
)
