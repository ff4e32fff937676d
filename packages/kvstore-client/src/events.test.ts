import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEvents } from './events.ts'

const streamOf = (chunks: readonly Uint8Array[], end: 'close' | 'break' | 'hang' = 'close') =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const each of chunks) controller.enqueue(each)
      if (end === 'close') controller.close()
      if (end === 'break') setTimeout(() => controller.error(new TypeError('terminated')), 20)
    }
  })
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = async (stream: ReadableStream<Uint8Array>, silence?: number): Promise<string[]> => {
  const events: string[] = []
  for await (const each of readEvents(stream, silence)) events.push(each)
  return events
}

describe('server-sent events', () => {
  it('are the same however the bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ unit: 'grapheme' }).filter(text => !/[\r\n]/.test(text)),
          { maxLength: 5 }
        ),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(300), { maxLength: 10 }),
        async (events, newline, cuts) => {
          const all = bytes(
            events
              .map(data => `event: saved${newline}id: 5${newline}data: ${data}${newline}${newline}`)
              .join('')
          )
          const places = [0, ...cuts.filter(at => at < all.length).sort((a, b) => a - b), all.length]
          const chunks = places.slice(1).map((end, i) => all.slice(places[i], end))
          expect(await read(streamOf(chunks))).toEqual(events)
        }
      )
    )
  })

  it('of several lines are one, and signs of life and ids are none', async () => {
    const text = 'retry: 1000\nid: 1\n\n:\n\ndata: a\ndata:b\n\nid: 2\n\n:\n\ndata: cut off'
    expect(await read(streamOf([bytes(text)]))).toEqual(['a\nb'])
  })

  it('end when the connection breaks, and when the host is silent', async () => {
    expect(await read(streamOf([bytes('data: a\n\n')], 'break'))).toEqual(['a'])
    expect(await read(streamOf([bytes('data: a\n\n')], 'hang'), 20)).toEqual(['a'])
  })

  it('end for the host when nobody reads them any more', async () => {
    let isEnded = false
    const stream = new ReadableStream<Uint8Array>({
      start: controller => controller.enqueue(bytes('data: a\n\n')),
      cancel: () => {
        isEnded = true
      }
    })
    for await (const _ of readEvents(stream)) break
    expect(isEnded).toBe(true)
  })
})
