/** A witness as a picture: both keys in coloured parts, one below the other, with the bytes that they share underlined. */
import type { AuditReport } from '@quoin/keyspace'
import { count } from '../format.ts'
import { Strange } from '../parts/strange.tsx'

type AuditFinding = AuditReport['findings'][number]
type Key = NonNullable<AuditFinding['decoded']>[number]

/** The number of colours that components alternate between; literals have none. */
const COLOURS = 6
/** Bytes of a longer part are not drawn. */
const MOST_BYTES = 40

export const Witness = ({
  finding: { witness, decoded, shared = 0, remedies = [] }
}: {
  readonly finding: AuditFinding
}) => (
  <>
    {decoded && (
      <div class="witness-picture">
        {decoded.map((key, i) => (
          <KeyPicture key={i} shown={key} shared={shared} />
        ))}
        <p class="quiet">
          {witness[0] === witness[1]
            ? 'One key, two readings.'
            : `${count(shared)} leading ${shared === 1 ? 'byte is' : 'bytes are'} alike.`}
        </p>
      </div>
    )}
    <p class="witness">
      <span class="quiet">Witness</span>
      {witness.map((key, i) => (
        <code key={i}>
          <Strange text={key} most={200} />
        </code>
      ))}
    </p>
    {remedies.map(({ remedy, change, works }) => (
      <p key={remedy} class={`remedy ${works ? 'works' : 'quiet'}`}>
        <strong>{works ? 'Works' : 'Does not help'}</strong> {remedy}: <Strange text={change} most={200} />
      </p>
    ))}
  </>
)

const KeyPicture = ({ shown: { spans }, shared }: { readonly shown: Key; readonly shared: number }) => {
  let components = 0
  return (
    <p class="byte-row">
      {spans.map(({ start, hex, component, text }, i) => {
        const bytes = hex.match(/../g) ?? []
        const colour = component === undefined ? 'literal' : `c${components++ % COLOURS}`
        return (
          <span key={i} class={`span ${colour}`}>
            <span class="part-bytes" aria-hidden="true">
              {bytes.slice(0, MOST_BYTES).map((byte, at) => (
                <span key={at} class={start + at < shared ? 'shared' : undefined}>
                  {byte}
                </span>
              ))}
              {bytes.length > MOST_BYTES && '…'}
            </span>
            <span class="part-value">
              {component !== undefined && `${component} = `}
              <Strange text={text} most={60} />
            </span>
          </span>
        )
      })}
    </p>
  )
}
