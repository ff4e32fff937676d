/** The protocol: what is written is what a server reads, and what a server writes is read however it is cut. */

import { QuoinError } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Command, CommandWriter, type Reply, ReplyError, ReplyParser } from './resp.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, char => char.charCodeAt(0))
const latin1 = (chunk: Uint8Array): string => Buffer.from(chunk).toString('latin1')

const parsed = (...chunks: readonly Uint8Array[]): Reply[] => {
  const replies: Reply[] = []
  const parser = new ReplyParser(reply => replies.push(reply))
  for (const chunk of chunks) parser.push(chunk)
  return replies
}

const written = (...commands: readonly Command[]): string => {
  const writer = new CommandWriter()
  for (const command of commands) writer.add(command)
  return writer.take().pieces.map(latin1).join('')
}

/** A reply as a server writes it. */
const encoded = (reply: Reply): string => {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `+${reply}\r\n`
  if (reply instanceof ReplyError) return `-${reply.message}\r\n`
  if (reply instanceof Uint8Array) return `$${reply.length}\r\n${latin1(reply)}\r\n`
  return `*${reply.length}\r\n${reply.map(encoded).join('')}`
}

const line = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map(code => String.fromCharCode(code)) })
const { reply: anyReply } = fc.letrec<{ reply: Reply }>(tie => ({
  reply: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 40 }).map(each => new Uint8Array(each)),
    fc.maxSafeInteger(),
    line,
    line.map(message => new ReplyError(message)),
    fc.constant(null),
    fc.array(tie('reply'), { maxLength: 5 })
  )
}))

/** Cuts text into chunks at some places. */
const cut = (text: string, places: readonly number[]): Uint8Array[] => {
  const at = [...new Set(places.map(place => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => bytes(text.slice(from, at[i])))
}

describe('replies', () => {
  it('are read however they are cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(anyReply, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (replies, places) => {
          expect(parsed(...cut(replies.map(encoded).join(''), places))).toEqual(replies)
        }
      )
    )
  })

  it('are read byte by byte', () => {
    fc.assert(
      fc.property(anyReply, reply => {
        expect(parsed(...Array.from(encoded(reply), bytes))).toEqual([reply])
      })
    )
  })

  it('are plain bytes, and none is part of another', () => {
    const replies = parsed(Buffer.from('$3\r\nabc\r\n$3\r\nabc\r\n')) as Uint8Array[]
    replies[0]!.fill(0)
    expect(replies).toEqual([new Uint8Array(3), bytes('abc')])
    for (const reply of replies) expect(reply.constructor).toBe(Uint8Array)
  })

  it('of a large chunk keep little more in memory than they are', () => {
    const lengths = [...Array.from({ length: 2000 }, (_, i) => i % 100), 8190, 8192, 100_000, 3]
    const chunk = Buffer.concat(lengths.map(length => Buffer.from(`$${length}\r\n${'x'.repeat(length)}\r\n`)))
    const replies = parsed(chunk) as Uint8Array[]
    expect(replies.map(reply => latin1(reply))).toEqual(lengths.map(length => 'x'.repeat(length)))
    for (const { buffer, length } of replies) {
      expect(buffer.byteLength).toBeLessThanOrEqual(Math.max(length, 8192))
    }
  })

  it('that are garbage end in a coded error, or wait for more; nothing else', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map(latin1),
      fc
        .array(fc.constantFrom('$', '*', ':', '+', '-', '1', '9', '0', '\r\n', '\r', '\n', 'x'), {
          maxLength: 30
        })
        .map(parts => parts.join(''))
    )
    fc.assert(
      fc.property(garbage, fc.array(fc.nat(), { maxLength: 10 }), (text, places) => {
        try {
          parsed(...cut(text, places))
        } catch (error) {
          expect(error).toBeInstanceOf(QuoinError)
          expect((error as QuoinError).code).toBe('ERR_STORE_CONNECTION')
        }
      }),
      { numRuns: 2000 }
    )
  })

  it.each([
    ['an unknown kind', 'HTTP/1.1 400 Bad Request\r\n'],
    ['a line without CR', ':1\n'],
    ['an empty line', '\r\n'],
    ['a number without digits', ':\r\n'],
    ['a number with a letter', ':1a\r\n'],
    ['a number with a plus', ':+1\r\n'],
    ['a length below -1', '$-2\r\n'],
    ['a string longer than any', '$99999999999\r\n'],
    ['an array longer than any', '*99999999999\r\n'],
    ['a string longer than it says', '$1\r\nab\r\n'],
    ['a string longer than it says, in the next chunk', '$1\r\na'],
    ['a CR inside a line', '+a\rb\r\n'],
    ['arrays without end in each other', '*1\r\n'.repeat(100)],
    ['a line without an end', `+${'a'.repeat(70_000)}`]
  ])('with %s is refused', (_, text) => {
    expect(() => parsed(bytes(text), bytes('b\r\n'))).toThrow(QuoinError)
  })

  it('of 100 MB, and of a million elements, take time that grows with their size only', () => {
    const piece = new Uint8Array(16 * 1024).fill(7)
    const replies: Reply[] = []
    const parser = new ReplyParser(reply => replies.push(reply))
    parser.push(bytes(`$${6400 * piece.length}\r\n`))
    for (let i = 0; i < 6400; i++) parser.push(piece)
    parser.push(bytes('\r\n*1000000\r\n'))
    const elements = bytes('$5\r\nabcde\r\n'.repeat(1000))
    for (let i = 0; i < 1000; i++) {
      parser.push(elements.subarray(0, 333))
      parser.push(elements.subarray(333))
    }
    expect((replies[0] as Uint8Array).length).toBe(6400 * piece.length)
    expect((replies[1] as Reply[]).length).toBe(1_000_000)
  }, 10_000)

  it('that are errors tell their kind', () => {
    const [one, other] = parsed(bytes('-MOVED 3999 127.0.0.1:6381\r\n-ERR\r\n')) as ReplyError[]
    expect([one!.kind, other!.kind]).toEqual(['MOVED', 'ERR'])
  })
})

describe('commands', () => {
  it('are arrays of strings with their lengths', () => {
    expect(written(['SET', bytes('k\r\n'), ''], ['PING'])).toBe(
      '*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n'
    )
  })

  it('are read by the rules they are written by', () => {
    const argument = fc.oneof(
      fc.uint8Array({ maxLength: 50 }).map(each => new Uint8Array(each)),
      fc.integer({ min: 65_000, max: 70_000 }).map(length => new Uint8Array(length).fill(length))
    )
    const commands = fc.array(fc.array(argument, { minLength: 1, maxLength: 8 }), { maxLength: 8 })
    fc.assert(
      fc.property(commands, given => {
        const writer = new CommandWriter()
        for (let round = 0; round < 2; round++) {
          for (const command of given) writer.add(command)
          const { pieces, written } = writer.take()
          // Matchers take minutes over large arrays.
          expect(
            parsed(...pieces)
              .map(encoded)
              .join('') === given.map(encoded).join('')
          ).toBe(true)
          written()
          expect(writer.isEmpty).toBe(true)
        }
      }),
      { numRuns: 50 }
    )
  })

  it('with a large value do not copy it', () => {
    const value = new Uint8Array(100_000)
    const writer = new CommandWriter()
    writer.add(['SET', 'k', value])
    expect(writer.take().pieces.includes(value)).toBe(true)
  })
})
