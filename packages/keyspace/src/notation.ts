/** Keys and their order as text for people. */
import { toHex } from '@quoin/primitives'
import type { Part } from './layout.ts'
import type { OrderOfPart } from './proof/order.ts'

/** The key as a pattern: `z:own:{address}`, `{0x01}{pool}{tick}`. Bytes that are not text are in braces too. */
export const keyPattern = (parts: readonly Part[]): string =>
  parts
    .map(part =>
      part.kind === 'component'
        ? `{${part.component.name}}`
        : Array.from(part.bytes, byte =>
            byte >= 0x20 && byte < 0x7f
              ? String.fromCharCode(byte)
              : `{0x${byte.toString(16).padStart(2, '0').toUpperCase()}}`
          ).join('')
    )
    .join('')

/** The key in the notation of seed 004: `0x01` || `8 byte big endian encoding of pool` || … */
export const inNotation = (parts: readonly Part[]): string =>
  parts
    .map(part => {
      if (part.kind === 'component') return `\`${part.component.codec.phrase} of ${part.component.name}\``
      return `\`${printable(part.bytes)
        .replace(/'([^']*)'/g, '$1')
        .replaceAll(' ', '')}\``
    })
    .join(' || ')

/** The order of each component after the first `from` parts. */
export const walkOrder = (parts: readonly Part[], orders: readonly OrderOfPart[], from: number): string =>
  parts
    .flatMap((part, i) => {
      if (part.kind === 'literal' || i < from) return []
      const { name, codec } = part.component
      const { by } = orders[i]!
      if (by === 'value') return [`${name} ${codec.orderName}`]
      return [by === 'word' ? `${name} as text` : `${name} by the byte after it`]
    })
    .join(', then ')

/** Literal bytes: text in quotes, other bytes as `0x…`: `'h:'`, `0x01`, `0x04 '|'`. */
export const printable = (bytes: Uint8Array): string => {
  const runs: { ascii: boolean; bytes: number[] }[] = []
  for (const byte of bytes) {
    const ascii = byte >= 0x20 && byte < 0x7f
    const last = runs.at(-1)
    if (last?.ascii === ascii) last.bytes.push(byte)
    else runs.push({ ascii, bytes: [byte] })
  }
  return runs
    .map(run =>
      run.ascii ? `'${String.fromCharCode(...run.bytes)}'` : `0x${toHex(run.bytes).toUpperCase()}`
    )
    .join(' ')
}
