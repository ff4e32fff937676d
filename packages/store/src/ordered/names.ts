/** Bytes as strings with one character for each byte: what JavaScript's maps can find, and sorts as bytes do. */

const latin1Slice: ((this: Uint8Array, start: number, end: number) => string) | undefined =
  typeof Buffer === 'undefined' ? undefined : Buffer.prototype.latin1Slice

export const toName = latin1Slice
  ? (bytes: Uint8Array): string => latin1Slice.call(bytes, 0, bytes.length)
  : (bytes: Uint8Array): string => {
      let name = ''
      for (let i = 0; i < bytes.length; i++) name += String.fromCharCode(bytes[i]!)
      return name
    }

export const fromName = (name: string): Uint8Array => {
  const bytes = new Uint8Array(name.length)
  for (let i = 0; i < name.length; i++) bytes[i] = name.charCodeAt(i)
  return bytes
}
