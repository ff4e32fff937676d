import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody } from './body.ts'

describe('the body of an answer', () => {
  it('is all its chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 })), async chunks => {
        const stream = ReadableStream.from(chunks) as ReadableStream<Uint8Array<ArrayBuffer>>
        const body = await readBody(new Response(stream))
        expect([...body]).toEqual(chunks.flatMap(chunk => [...chunk]))
      })
    )
    expect(await readBody(new Response(null))).toHaveLength(0)
  })

  it('is not read on when it is too long', async () => {
    let sent = 0
    let isEnded = false
    const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: controller => {
        sent += 100
        controller.enqueue(new Uint8Array(100))
      },
      cancel: () => {
        isEnded = true
      }
    })
    await expect(readBody(new Response(endless), 1000)).rejects.toThrow('exceeds 1000 bytes')
    expect(isEnded).toBe(true)
    expect(sent).toBeLessThan(2000)
  })
})
