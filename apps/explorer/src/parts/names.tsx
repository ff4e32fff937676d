/** Names of things as links, shortened, with the full name to copy. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ago, count, heightOf, short, shortOutpoint } from '../format.ts'
import { paths } from '../paths.ts'
import { tokenOfTopic } from '../tokens.ts'
import { Strange } from './strange.tsx'
import { TokenName } from './token.tsx'

export const Copy = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [done, setDone] = useState<'Copied' | 'Not allowed' | undefined>()
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // The clipboard exists on secure pages only: over HTTPS, or on localhost.
  if (!navigator.clipboard) return null
  const copy = async (): Promise<void> => {
    const told = await navigator.clipboard.writeText(text).then(
      () => 'Copied' as const,
      () => 'Not allowed' as const
    )
    setDone(told)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(undefined), 1500)
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={copy}>
      {done ?? 'Copy'}
    </button>
  )
}

export const Txid = ({ txid, whole = false }: { readonly txid: string; readonly whole?: boolean }) => (
  <a class={whole ? 'mono' : 'mono short'} href={paths.transaction(txid)} title={txid}>
    {whole ? txid : short(txid)}
  </a>
)

export const Outpoint = ({ outpoint }: { readonly outpoint: string }) => (
  <a class="mono short" href={paths.output(outpoint)} title={outpoint}>
    {shortOutpoint(outpoint)}
  </a>
)

/** The icon of a token: an output, or a foreign address, which is shown and never loaded. */
export const Icon = ({ of }: { readonly of: string }) =>
  /^[0-9a-f]{64}_\d{1,10}$/.test(of) ? (
    <Outpoint outpoint={of.replace('_', '.')} />
  ) : (
    <Strange text={of} most={200} />
  )

export const Address = ({
  address,
  whole = false
}: {
  readonly address: string
  readonly whole?: boolean
}) => (
  <a class={whole ? 'mono' : 'mono short'} href={paths.address(address)} title={address}>
    {whole ? address : short(address, 7)}
  </a>
)

/** An event or a topic, as a link to its outputs. */
const Chip = ({ name, kind = 'event' }: { readonly name: string; readonly kind?: 'event' | 'topic' }) => {
  const token = kind === 'topic' ? tokenOfTopic(name) : undefined
  return (
    <a class={`chip ${kind}`} href={paths.find(kind === 'topic' ? `tp:${name}` : name)} title={name}>
      {token === undefined ? <Strange text={name} most={48} /> : <TokenName id={token} />}
    </a>
  )
}

/** Events that are readable for people. Events with hashes are on the page of the output. */
export const notable = (events: readonly string[]): readonly string[] =>
  events.filter(each => !/[0-9a-f]{64}/.test(each))

export const Chips = ({
  names,
  kind = 'event'
}: {
  readonly names: readonly string[]
  readonly kind?: 'event' | 'topic'
}) =>
  names.length === 0 ? null : (
    <span class="chips">
      {names.slice(0, MOST_CHIPS).map(name => (
        <Chip key={name} name={name} kind={kind} />
      ))}
      {names.length > MOST_CHIPS && <span class="quiet">and {count(names.length - MOST_CHIPS)} more</span>}
    </span>
  )
const MOST_CHIPS = 40

export const Satoshis = ({ amount }: { readonly amount: number | string | bigint | null | undefined }) =>
  amount === null || amount === undefined ? (
    <span class="quiet">unknown</span>
  ) : (
    <span class="amount">
      {count(BigInt(amount))} <span class="unit">sat</span>
    </span>
  )

/** Ages of months say less than a date does. */
const OLD_SECONDS = 60 * 86_400

export const Time = ({ seconds }: { readonly seconds: number }) => {
  const iso = new Date(seconds * 1000).toISOString()
  const isOld = Date.now() / 1000 - seconds > OLD_SECONDS
  return (
    <time dateTime={iso} title={iso}>
      {isOld ? `on ${iso.slice(0, 10)}` : ago(seconds)}
    </time>
  )
}

export const BlockLink = ({ height }: { readonly height: number }) => (
  <a href={paths.block(height)}>block {count(height)}</a>
)

/** The time of the block, or the time since which a transaction waits. */
export const When = ({ score }: { readonly score: number }) => {
  const height = heightOf(score)
  return height === undefined ? (
    <span>
      <span class="badge wait">unmined</span> <Time seconds={score} />
    </span>
  ) : (
    <BlockLink height={height} />
  )
}

export const Badge = ({
  kind,
  children
}: {
  readonly kind: 'good' | 'bad' | 'wait' | 'plain'
  readonly children: string
}) => <span class={`badge ${kind}`}>{children}</span>
