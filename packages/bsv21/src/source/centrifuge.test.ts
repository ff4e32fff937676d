import { fromHex, hasCode, toHex } from '@quoin/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCommands } from './centrifuge.testing.ts'
import {
  connectCommand,
  PONG,
  type Reply,
  readFrame,
  refreshCommand,
  subscribeCommand,
  writeFrame
} from './centrifuge.ts'
import recorded from './fixtures/junglebus-frames.json' with { type: 'json' }
import { readControl, readSentTransaction } from './junglebus-messages.ts'

const readable = (reply: Reply): unknown => ({
  ...reply,
  ...(reply.publication && {
    publication: { ...reply.publication, data: toHex(reply.publication.data) }
  })
})
const isOfSource = (error: unknown): boolean => hasCode(error, 'ERR_SOURCE_FORMAT')

describe('replies', () => {
  it.each(recorded.replies)(
    'written by the encoder of centrifuge are read: $expected',
    ({ hex, expected }) => {
      expect([...readFrame(fromHex(hex))].map(readable)).toEqual([expected])
    }
  )

  it('come several in one frame', () => {
    const frame = fromHex(recorded.replies.map(({ hex }) => hex).join(''))
    expect([...readFrame(frame)].map(readable)).toEqual(recorded.replies.map(({ expected }) => expected))
  })

  it('never do more than be refused, whatever the bytes are', () => {
    const frames = recorded.session.frames.map(({ hex }) => fromHex(hex))
    const mangled = fc
      .tuple(
        fc.constantFrom(...frames),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 }),
        fc.nat()
      )
      .map(([frame, changes, end]) => {
        const bytes = frame.slice(0, end % 4 === 0 ? end % (frame.length + 1) : frame.length)
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte
        return bytes
      })
    fc.assert(
      fc.property(fc.oneof(mangled, fc.uint8Array({ maxLength: 300 })), bytes => {
        try {
          for (const { publication } of readFrame(bytes)) {
            if (!publication) continue
            expect(publication.data.length).toBeLessThanOrEqual(bytes.length)
            for (const read of [readControl, readSentTransaction]) {
              try {
                read(publication.data)
              } catch (error) {
                expect(isOfSource(error)).toBe(true)
              }
            }
          }
        } catch (error) {
          expect(isOfSource(error)).toBe(true)
        }
      }),
      { numRuns: Number(process.env['QUOIN_FUZZ'] ?? 2000) }
    )
  })
})

describe('commands', () => {
  it('are those that the client of JungleBus sends', () => {
    const [first] = recorded.session.frames
    const commands = readCommands(fromHex(first!.hex))
    const channel = `query:${'ab'.repeat(32)}`
    expect(commands).toEqual([
      { id: 1, connect: { token: 'token-2', name: 'js' }, isPong: false },
      { id: 2, subscribe: { channel: `${channel}:mempool` }, isPong: false },
      { id: 3, subscribe: { channel: `${channel}:control` }, isPong: false },
      { id: 4, subscribe: { channel: `${channel}:100` }, isPong: false }
    ])
  })

  it('are written byte for byte as that client writes them', () => {
    const client = recorded.session.frames.filter(({ from }) => from === 'client').map(({ hex }) => hex)
    const channel = `query:${'ab'.repeat(32)}`
    const subscriptions = [`${channel}:mempool`, `${channel}:control`, `${channel}:100`].map((each, i) =>
      subscribeCommand(i + 2, each)
    )
    const frame = toHex(writeFrame(subscriptions))
    expect(client[0]!.endsWith(frame)).toBe(true)
    expect(toHex(writeFrame([PONG]))).toBe(client[1])
    // What is before it is the introduction, and each client has a name of its own.
    expect(readCommands(writeFrame([connectCommand(1, 'token-2')]))).toEqual([
      { ...readCommands(fromHex(client[0]!))[0], connect: { token: 'token-2', name: 'quoin' } }
    ])
  })

  it('renew a token', () => {
    expect(readCommands(writeFrame([refreshCommand(9, 'new')]))).toEqual([
      { id: 9, refresh: { token: 'new' }, isPong: false }
    ])
  })
})

describe('messages of JungleBus', () => {
  it.each(recorded.transactions)('transactions: $expected.id', ({ hex, expected }) => {
    const { raw, proof, ...read } = readSentTransaction(fromHex(hex))
    expect({ ...read, raw: toHex(raw), proof: toHex(proof) }).toEqual(expected)
  })

  it.each(recorded.controls)('control: $expected.message', ({ hex, expected }) => {
    expect(readControl(fromHex(hex))).toEqual(expected)
  })

  it.each(['', 'AB'.repeat(32), `${'ab'.repeat(32)}0`, '../../etc'])('refuse the id "%s"', id => {
    const bytes = new TextEncoder().encode(id)
    expect(() => readSentTransaction(Uint8Array.of(0x0a, bytes.length, ...bytes))).toThrow(
      expect.objectContaining({ code: 'ERR_SOURCE_FORMAT' })
    )
  })
})
