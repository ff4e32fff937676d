/** The body of a response, bounded: `tooLong` makes the error for a longer one, whatever length it declares. */
export const readBody = async (
  { body }: Response,
  maxBytes: number,
  tooLong: (maxBytes: number) => Error
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let length = 0
  // Browsers do not iterate over a body.
  const reader = body?.getReader()
  for (let next = await reader?.read(); next && !next.done; next = await reader!.read()) {
    length += next.value.length
    if (length > maxBytes) {
      await reader!.cancel()
      throw tooLong(maxBytes)
    }
    chunks.push(next.value)
  }
  const [first] = chunks
  if (chunks.length === 1) return first!
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
