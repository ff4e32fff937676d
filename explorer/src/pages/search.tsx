/** What a text was taken for: the one reading that the node knows, or all of them to choose from. */
import { useEffect } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import { Head } from '../parts/layout.tsx'
import { Badge } from '../parts/names.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { go, place } from '../router.ts'
import { classify, LONGEST, type Reading } from '../search/classify.ts'
import { isKnown, type Known } from '../search/known.ts'

interface Found {
  readonly reading: Reading
  readonly known: Known
}

export const SearchPage = () => {
  const text = place.value.query.get('q') ?? ''
  const readings = classify(text)
  const asked = useLoad(text, signal =>
    Promise.all(readings.map(async reading => ({ reading, known: await isKnown(reading, signal) })))
  )
  const { loaded } = asked
  useEffect(() => {
    if (loaded.state !== 'there') return
    const known = loaded.value.filter(each => each.known === 'known')
    if (known.length === 0) return
    // An output is found with its transaction; the first reading is the closest.
    const [{ reading }] = known as [Found]
    go(reading.href, { replace: true, searched: { text, kind: reading.kind } })
  }, [loaded])
  return (
    <>
      <Head kind="Search" title={<Strange text={text} most={100} />} />
      {readings.length === 0 ? (
        <Empty title="This is nothing that has a name here">
          Paste a transaction, an output, an address, a token, a key of the key-value store, a public key, or
          the bytes of a key in hex. The longest of them has {LONGEST} characters.
        </Empty>
      ) : (
        <Shown of={asked}>
          {found => (
            <>
              <p class="before-list">Nothing is known by that name. It may be:</p>
              <ol class="rows" aria-label="What it may be">
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
          )}
        </Shown>
      )}
    </>
  )
}
