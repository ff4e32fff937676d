/** Short strings to bytes and back. A loop beats TextEncoder and TextDecoder below about a hundred characters. */

/** Writes the text as UTF-8 and returns the end. What does not fit is cut: callers check the end they get. */
export const writeText = (text: string, target: Uint8Array, offset: number): number => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return writeUtf8(text, target, offset)
    target[offset + i] = code
  }
  return offset + text.length
}

/** Writes one byte for each character; a character above U+00FF becomes ff, which no ASCII language has. */
export const writeAscii = (text: string, target: Uint8Array, offset: number): number => {
  for (let i = 0; i < text.length; i++) {
    target[offset + i] = Math.min(text.charCodeAt(i), 0xff)
  }
  return offset + text.length
}

export const readAscii = (source: Uint8Array, start: number, end: number): string => {
  let text = ''
  for (let i = start; i < end; i++) text += String.fromCharCode(source[i]!)
  return text
}

export const readText = (source: Uint8Array, start: number, end: number): string => {
  let text = ''
  for (let i = start; i < end; i++) {
    const byte = source[i]!
    if (byte > 0x7f) return decoder.decode(source.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

const writeUtf8 = (text: string, target: Uint8Array, offset: number): number => {
  const bytes = encoder.encode(text)
  // A lone surrogate has no UTF-8; the encoder would write U+FFFD for it, which is another text.
  const lone = LONE_SURROGATE.exec(text)
  if (lone) bytes[encoder.encode(text.slice(0, lone.index)).length] = 0xff
  target.set(bytes.subarray(0, Math.max(0, target.length - offset)), Math.min(offset, target.length))
  return offset + bytes.length
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
