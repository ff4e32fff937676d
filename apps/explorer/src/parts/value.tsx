/** Parsers' data of any shape: bounded in depth and breadth, with inert text. */
import { count } from '../format.ts'
import { Strange } from './strange.tsx'

const DEEPEST = 6
const MOST = 50

export const Value = ({ of, depth = 0 }: { readonly of: unknown; readonly depth?: number }) => {
  if (typeof of === 'string') return <Text text={of} />
  if (typeof of !== 'object' || of === null) return <span class="mono">{String(of)}</span>
  if (depth >= DEEPEST) return <span class="quiet">…</span>
  const entries: readonly (readonly [string, unknown])[] = Object.entries(of)
  if (entries.length === 0) return <span class="quiet">(empty)</span>
  const isList = Array.isArray(of)
  return (
    <dl class="value">
      {entries.slice(0, MOST).map(([name, value]) => (
        <div key={name}>
          <dt>{isList ? <span class="quiet">{name}</span> : <Strange text={name} most={48} />}</dt>
          <dd>
            <Value of={value} depth={depth + 1} />
          </dd>
        </div>
      ))}
      {entries.length > MOST && (
        <div>
          <dt />
          <dd class="quiet">and {count(entries.length - MOST)} more</dd>
        </div>
      )}
    </dl>
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Bytes come in hex; as UTF-8 they are readable. */
const asText = (hex: string): string | undefined => {
  if (!/^([0-9a-f]{2}){3,2000}$/.test(hex)) return undefined
  try {
    const text = decoder.decode(Uint8Array.from(hex.match(/../g)!, each => Number.parseInt(each, 16)))
    return /^[^\p{Cc}]+$/u.test(text) ? text : undefined
  } catch {
    // Not UTF-8: hex only.
    return undefined
  }
}

const Text = ({ text }: { readonly text: string }) => {
  const said = asText(text)
  return (
    <>
      <Strange text={text} most={400} />
      {said !== undefined && (
        <span class="as-text">
          “<Strange text={said} most={400} />”
        </span>
      )}
    </>
  )
}
