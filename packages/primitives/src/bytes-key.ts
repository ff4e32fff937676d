/** Bytes as keys of a Map or a Set: strings with one character for each byte, in the order of the bytes. */

/** Node's own conversion takes any Uint8Array. Browsers have none. */
const latin1Slice = (
  globalThis.Buffer?.prototype as
    | { latin1Slice?(this: Uint8Array, start: number, end: number): string }
    | undefined
)?.latin1Slice

export const bytesKey: (bytes: Uint8Array) => string = latin1Slice
  ? bytes => latin1Slice.call(bytes, 0, bytes.length)
  : bytes => {
      let key = ''
      for (let i = 0; i < bytes.length; i++) key += String.fromCharCode(bytes[i]!)
      return key
    }

export const bytesOfKey = (key: string): Uint8Array => {
  const bytes = new Uint8Array(key.length)
  for (let i = 0; i < key.length; i++) bytes[i] = key.charCodeAt(i)
  return bytes
}
