/** A raw key, byte by byte: its collection, or the nearest one. */
import { useState } from 'preact/hooks'
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { Bytes } from '../parts/bytes.tsx'
import { Head, Section } from '../parts/layout.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import { hexOf } from '../raw-transaction.ts'
import { go } from '../router.ts'
import type { ViewProps } from '../views.ts'

/** Hex as it is; any other text as its bytes. */
export const keyOf = (text: string): string => {
  const packed = text.replace(/^0x/i, '').replaceAll(/\s/g, '')
  if (/^([0-9a-f]{2})+$/i.test(packed)) return packed.toLowerCase()
  return hexOf(new TextEncoder().encode(text))
}

export const ExplainForm = ({ hex }: { readonly hex: string }) => {
  const [text, setText] = useState(hex)
  return (
    <form
      class="line-form"
      onSubmit={event => {
        event.preventDefault()
        if (text.trim() !== '') go(paths.explain(keyOf(text.trim())))
      }}
    >
      <label>
        Key, in hex or as text
        <input
          class="mono"
          value={text}
          spellcheck={false}
          autocomplete="off"
          placeholder="z:tp:tm_hello"
          onInput={event => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Explain</button>
    </form>
  )
}

export const ExplainPage = ({ parameter: hex }: ViewProps) => (
  <>
    <Head kind="Key" title="What is this key?" />
    <ExplainForm hex={hex} />
    {hex !== '' && <Explained hex={hex} />}
  </>
)

const Explained = ({ hex }: { readonly hex: string }) => {
  const loading = useLoad(hex, signal => ask('GET /keyspace/explain/{hex}', { path: { hex }, signal }))
  return (
    <Shown of={loading}>
      {({ found, matches, nearest }) =>
        found ? (
          matches.map(({ keyspace, collection, spans }) => (
            <Section key={keyspace} title={`${collection} of ${keyspace}`}>
              <Bytes spans={spans} />
            </Section>
          ))
        ) : (
          <Empty title="Not a key of this store">
            {nearest ? (
              <>
                It comes nearest to{' '}
                <strong>
                  {nearest.collection} of {nearest.keyspace}
                </strong>
                : <Strange text={nearest.message} most={400} />
              </>
            ) : (
              'No keyspaces.'
            )}
          </Empty>
        )
      }
    </Shown>
  )
}
