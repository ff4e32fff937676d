/** Every collection of keys of the store, with its proof. */
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Keyspace } from '../api/types.ts'
import { count } from '../format.ts'
import { Head, Scroll, Section } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Shown } from '../parts/states.tsx'
import { paths } from '../paths.ts'
import { ExplainForm } from './explain.tsx'

export const KeyspacesPage = () => {
  const loading = useLoad('keyspaces', signal => ask('GET /keyspace', { signal }))
  return (
    <>
      <Head title="Keys">
        <p class="lead">
          Every key of the store comes from one of these declarations. Each was proved when the node started:
          unambiguous, disjoint from its neighbours, exact in every scan it promises. The{' '}
          <a href={paths.playground}>playground</a> does the same for a layout of yours.
        </p>
      </Head>
      <Section title="Explain a key">
        <ExplainForm hex="" />
      </Section>
      <Shown of={loading} lines={8}>
        {({ keyspaces }) => (
          <div class="keyspaces">
            {keyspaces.map(each => (
              <One key={each.name} keyspace={each} />
            ))}
          </div>
        )}
      </Shown>
    </>
  )
}

const One = ({ keyspace: { name, about, collections, verdicts } }: { readonly keyspace: Keyspace }) => (
  <details class="keyspace" id={name}>
    <summary>
      <h2>{name}</h2>
      <span class="quiet">
        {about} {count(collections.length)} collections
      </span>
      <Verdicts verdicts={verdicts} />
    </summary>
    <Scroll label={`Collections of ${name}`}>
      <table class="collections">
        <thead>
          <tr>
            <th scope="col">Collection</th>
            <th scope="col">Key</th>
            <th scope="col">Bytes</th>
            <th scope="col">Holds</th>
            <th scope="col">For</th>
          </tr>
        </thead>
        <tbody>
          {collections.map(each => (
            <tr key={each.name}>
              <th scope="row">{each.name}</th>
              <td>
                <Pattern parts={each.parts} />
              </td>
              <td class="number">
                {each.minLength === each.maxLength
                  ? each.minLength
                  : `${each.minLength}${each.maxLength === null ? '+' : `–${each.maxLength}`}`}
              </td>
              <td>{each.holds}</td>
              <td>
                {each.about}
                {each.scans.map(({ components, order }) => (
                  <span key={components.join(' ')} class="scan">
                    Scan by {components.length === 0 ? 'everything' : components.join(', ')}
                    {order && `: ${order}`}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </details>
)

const Verdicts = ({ verdicts }: { readonly verdicts: Keyspace['verdicts'] }) => {
  const holds = verdicts.every(each => each.holds)
  const checks = verdicts.reduce((sum, each) => sum + each.checks, 0)
  return (
    <span class="verdicts">
      <Badge kind={holds ? 'good' : 'bad'}>{holds ? 'proved' : 'unsound'}</Badge>
      <span
        class="quiet"
        title={verdicts.map(({ property, checks: each }) => `${property}: ${each}`).join(', ')}
      >
        {verdicts.map(({ property }) => property).join(' ')} in {count(checks)} checks
      </span>
    </span>
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Literal bytes as text where they are printable. */
const literal = (hex: string): string => {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], each => Number.parseInt(each, 16))
  if (bytes.some(byte => byte < 0x20 || byte > 0x7e)) return `0x${hex}`
  return decoder.decode(bytes)
}

const COLOURS = 6

const Pattern = ({ parts }: { readonly parts: Keyspace['collections'][number]['parts'] }) => {
  let components = 0
  return (
    <span class="pattern">
      {parts.map((part, i) =>
        'literal' in part ? (
          <span key={i} class="span literal">
            {literal(part.literal)}
          </span>
        ) : (
          <span
            key={i}
            class={`span c${components++ % COLOURS}`}
            title={`${part.codec}, walks by ${part.walksBy}`}
          >
            {part.component}
          </span>
        )
      )}
    </span>
  )
}
