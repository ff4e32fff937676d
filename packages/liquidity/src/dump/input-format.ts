/** The format of an input by its first key: raw pairs and answers of a node, or a state export. */

export type InputFormat = 'genesis' | 'raw'

/** First keys of a raw pair, and of an answer of a node. */
const RAW_KEYS = new Set(['key', 'value', 'jsonrpc', 'id', 'result', 'response', 'error'])
/** The limit on the bytes before the end of the first key. */
const MAX_PEEK = 64 * 1024

export interface PeekedInput {
  /** Undefined when the input does not begin with an object that has a key. */
  readonly format: InputFormat | undefined
  /** The whole input. */
  readonly source: AsyncIterable<Uint8Array>
}

/** Reads as much of an input as tells its format. */
export const peekFormat = async (input: AsyncIterable<Uint8Array>): Promise<PeekedInput> => {
  const chunks = input[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let text = ''
  let key: string | undefined
  while (key === undefined && text.length < MAX_PEEK) {
    const { done, value } = await chunks.next()
    if (done) break
    read.push(value)
    text += Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, MAX_PEEK)).toString('latin1')
    key = /^\s*\{\s*"([^"\\]*)"/.exec(text)?.[1]
  }
  return {
    format: key === undefined ? undefined : RAW_KEYS.has(key) ? 'raw' : 'genesis',
    source: joined(read, chunks)
  }
}

async function* joined(
  read: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>
): AsyncGenerator<Uint8Array> {
  try {
    yield* read
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
