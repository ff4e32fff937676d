/** The heading of a view found by search: the reading of the text, and the other readings. */
import type { Place } from '../router.ts'
import { classify } from './classify.ts'

export const ReadingNotice = ({ searched, path }: Pick<Place, 'searched' | 'path'>) => {
  if (!searched) return null
  const others = classify(searched.text).filter(
    ({ kind, href }) => kind !== searched.kind && !href.startsWith(path)
  )
  return (
    <p class="taken" role="status">
      Taken for {/^[aeiou]/.test(searched.kind) ? 'an' : 'a'} <strong>{searched.kind}</strong>.
      {others.length > 0 && (
        <>
          {' '}
          It may also be{' '}
          {others.map(({ kind, href }, i) => (
            <span key={kind}>
              {i > 0 && (i === others.length - 1 ? ' or ' : ', ')}
              <a href={href}>{kind}</a>
            </span>
          ))}
          .
        </>
      )}
    </p>
  )
}
