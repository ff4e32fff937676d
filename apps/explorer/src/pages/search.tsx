/** The readings of a text: the one that the node knows, or all of them to choose from. */
import { useEffect } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import { Head } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Empty, Shown, Waiting } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { go } from '../router.ts'
import { classify, LONGEST, type SearchReading } from '../search/classify.ts'
import { checkExistence, type Existence } from '../search/existence.ts'
import type { ViewProps } from '../views.ts'

interface Found {
  readonly reading: SearchReading
  readonly known: Existence
}

const isThere = ({ known }: Found): boolean => known === 'known'

export const SearchPage = ({ query }: ViewProps) => {
  const text = query.get('q') ?? ''
  const readings = classify(text)
  const asked = useLoad(text, signal =>
    Promise.all(readings.map(async reading => ({ reading, known: await checkExistence(reading, signal) })))
  )
  const { loaded } = asked
  useEffect(() => {
    if (loaded.state !== 'there') return
    // An output is found with its transaction; the first reading is the closest.
    const known = loaded.value.find(isThere)
    if (!known) return
    const { reading } = known
    go(reading.href, { replace: true, searched: { text, kind: reading.kind } })
  }, [loaded])
  return (
    <>
      <Head kind="Search" title={<Strange text={text} most={100} />} />
      {readings.length === 0 ? (
        <Empty title="Unknown kind of name">
          Paste a transaction, an output, an address, a token, a key of the key-value store, a public key, or
          the bytes of a key in hex. The longest of them has {LONGEST} characters.
        </Empty>
      ) : (
        <Shown of={asked}>
          {found =>
            found.some(isThere) ? (
              <Waiting />
            ) : (
              <>
                <p class="before-list">Unknown name. Possible readings:</p>
                <ol class="rows" aria-label="Possible readings">
                  {found.map(({ reading, known }) => (
                    <li key={reading.kind}>
                      <a class="reading" href={reading.href}>
                        <span class="kind">{reading.kind}</span> <Strange text={reading.name} most={80} />
                      </a>
                      <Badge kind="plain">
                        {known === 'unavailable' ? 'not on this node' : 'not known here'}
                      </Badge>
                    </li>
                  ))}
                </ol>
              </>
            )
          }
        </Shown>
      )}
    </>
  )
}
