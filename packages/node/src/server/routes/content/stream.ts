/** A file in several inscriptions of one ordinal, as one. */
import { type Route, route } from '@quoin/http'
import { formatOutpoint, type Outpoint, parseOutpoint, QuoinError } from '@quoin/primitives'
import { type ContentPart, contentParts, OrdinalWalk, originOf, readContent } from '@quoin/txo'
import type { Context } from '../../context.ts'
import { Outpoint as OutpointText } from '../../schemas.ts'
import { checkLength } from './file.ts'
import { type ContentRequest, ContentRequestHeaders, checkUse, elsewhere } from './policy.ts'
import { RangeHeaders, type RangeRequest, serveBytes } from './served-bytes.ts'

/** Requests that one counts as: it follows an ordinal. */
const STREAM_COST = 10

export const contentStreamRoute = ({ engine: { outputs }, limits }: Context, host?: string): Route =>
  route({
    method: 'get',
    path: '/1sat/ordfs/stream/:outpoint',
    name: 'contentStream',
    summary: 'The content of an output, with the parts (`ordfs/stream`) that follow it in its ordinal.',
    tag: 'content',
    cost: STREAM_COST,
    params: { outpoint: OutpointText },
    headers: { ...ContentRequestHeaders, ...RangeHeaders },
    responses: {
      200: { description: 'The content, with its media type.', content: { '*/*': undefined } },
      206: { description: 'A part of it.', content: { '*/*': undefined } },
      304: { description: 'The client has it.' },
      307: { description: 'Another host serves content.' },
      404: { description: 'The output is not stored, or has no content.' },
      413: { description: 'The content is larger than the limit of the node.' },
      416: { description: 'The content ends before the range.' }
    },
    async handle({ params, headers }) {
      const path = `/1sat/ordfs/stream/${params.outpoint}`
      const redirect = elsewhere(host, (headers as ContentRequest).host, path)
      if (redirect) return redirect
      checkUse(headers as ContentRequest)
      const outpoint = parseOutpoint(params.outpoint)
      const walk = new OrdinalWalk(outputs)
      const output = await walk.output(outpoint)
      const content = output && readContent(output.script).content
      if (!content) throw new QuoinError('ERR_NOT_FOUND', 'the output is not stored, or has no content')
      const origin = output.satoshis === 1 ? await originOf(walk, outpoint) : outpoint
      const parts = await contentParts(walk, outpoint)
      const length = parts.reduce((sum, part) => sum + part.length, 0)
      checkLength(length, limits.content)
      const bytesOf = async (part: Outpoint): Promise<Uint8Array> =>
        readContent((await new OrdinalWalk(outputs).output(part))!.script).content!.bytes
      return serveBytes(
        {
          type: content.type,
          length,
          tag: `"${formatOutpoint(outpoint, '_')}-${formatOutpoint(parts.at(-1)!.outpoint, '_')}"`,
          headers: {
            // A part may follow.
            'cache-control': 'no-cache',
            'x-outpoint': formatOutpoint(outpoint, '_'),
            'x-origin': formatOutpoint(origin, '_')
          },
          read: (start, end) => joined(parts, start, end, bytesOf)
        },
        headers as RangeRequest
      )
    }
  })

/** Reads one part after the other, as the client takes them. */
const joined = (
  parts: readonly ContentPart[],
  start: number,
  end: number,
  bytesOf: (part: Outpoint) => Promise<Uint8Array>
): ReadableStream<Uint8Array> => {
  let [next, at] = [0, 0]
  return new ReadableStream(
    {
      async pull(controller) {
        for (let part = parts[next]; part && at < end; part = parts[next]) {
          const from = at
          next++
          at += part.length
          if (at <= start || part.length === 0) continue
          controller.enqueue((await bytesOf(part.outpoint)).slice(Math.max(0, start - from), end - from))
          if (at < end) return
        }
        controller.close()
      }
    },
    { highWaterMark: 0 }
  )
}
