/** Response bodies with a size limit, because a host may send without end. */

/** Enough for a thousand entries of a hundred kilobytes, and for a history of ten thousand steps. */
const MAX_BYTES = 256 << 20

export const readBody = async (response: Response, most = MAX_BYTES): Promise<Uint8Array> => {
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (let read = await reader?.read(); read && !read.done; read = await reader!.read()) {
    length += read.value.length
    if (length > most) {
      await reader!.cancel()
      throw new Error(`the response exceeds ${most} bytes`)
    }
    chunks.push(read.value)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
