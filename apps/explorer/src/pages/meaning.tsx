/** The meaning of an output from its parsers' data, as a sentence where there is one. */
import type { Output } from '../api/types.ts'
import { bytes, count } from '../format.ts'
import { Address } from '../parts/names.tsx'
import { Strange } from '../parts/strange.tsx'
import { TokenAmount, TokenLink } from '../parts/token.tsx'

type Fields = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

/** The owner of a payment to an address, from its event. */
const ownerOf = ({ events = [] }: Pick<Output, 'events'>): string | undefined =>
  events.find(each => each.startsWith('own:'))?.slice('own:'.length)

const sentences: Readonly<Record<string, (data: Fields) => preact.ComponentChildren>> = {
  insc: data => (
    <>
      inscription{' '}
      <Strange
        text={text(fieldsOf(data['file'])['type']) ?? text(data['type']) ?? 'without a type'}
        most={60}
      />
      {number(fieldsOf(data['file'])['size']) !== undefined &&
        `, ${bytes(number(fieldsOf(data['file'])['size'])!)}`}
    </>
  ),
  bsv21: data => {
    const [op, amount, id] = [text(data['op']), text(data['amt']), text(data['id'])]
    return (
      <>
        {data['encoding'] === 'binary' && 'binary '}token {op}
        {id !== undefined && (
          <> of {amount === undefined ? <TokenLink id={id} /> : <TokenAmount id={id} amount={amount} />}</>
        )}
      </>
    )
  },
  lock: data => <>locked until block {count(number(data['until']) ?? 0)}</>,
  ordlock: data => <>for sale at {count(number(data['price']) ?? 0)} sat</>,
  pushdrop: data => {
    const fields = Array.isArray(data['fields']) ? data['fields'] : []
    return <>PushDrop token with {fields.length === 1 ? '1 field' : `${fields.length} fields`}</>
  }
}

export const Meaning = ({ output }: { readonly output: Output }) => {
  const data = output.data ?? {}
  const owner = ownerOf(output)
  // A token is an inscription too; the token alone is shown.
  const known = data['bsv21'] === undefined ? ['p2pkh'] : ['p2pkh', 'insc', 'bsv21-minted']
  const tags = Object.keys(data).filter(tag => !known.includes(tag))
  return (
    <span class="meaning">
      {tags.map((tag, i) => (
        <span key={tag}>
          {i > 0 && ', '}
          {sentences[tag]?.(fieldsOf(data[tag])) ?? <span>{tag}</span>}
        </span>
      ))}
      {owner !== undefined && (
        <span>
          {tags.length > 0 ? ', of ' : 'pays '}
          <Address address={owner} />
        </span>
      )}
      {tags.length === 0 && owner === undefined && <span class="quiet">no parser knows this script</span>}
    </span>
  )
}
