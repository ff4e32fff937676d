import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { EventReader, eventsOf, type ServerEvent } from './server-events.ts'

const TEXT =
  ': a comment\n\nid: 7\n\nevent: saved\r\ndata: one\r\ndata:two\r\nid: 8\r\n\r\ndata\n\nretry: 5\n\nid: 9\rdata: é\r\r'
const EVENTS: ServerEvent[] = [
  { event: 'message', id: '7', data: '' },
  { event: 'saved', id: '8', data: 'one\ntwo' },
  { event: 'message', id: '8', data: '' },
  { event: 'message', id: '9', data: 'é' }
]

describe('server-sent events', () => {
  it('are read line by line, whatever the lines end with', () => {
    expect(new EventReader().read(TEXT)).toEqual(EVENTS)
  })

  it('are the same however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(TEXT.length), { maxLength: 12 }), cuts => {
        const places = [0, ...cuts.sort((a, b) => a - b), TEXT.length]
        const reader = new EventReader()
        const events = places.slice(1).flatMap((end, i) => reader.read(TEXT.slice(places[i], end)))
        expect(events).toEqual(EVENTS)
      })
    )
  })

  it('never do more than be refused', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), parts => {
        const reader = new EventReader()
        for (const part of parts) for (const { data } of reader.read(part)) expect(typeof data).toBe('string')
      })
    )
  })

  it('that do not end are refused', () => {
    const reader = new EventReader()
    const part = 'x'.repeat(1024 * 1024)
    expect(() => {
      for (let i = 0; i < 64; i++) reader.read(i % 2 === 0 ? `data: ${part}` : part)
    }).toThrow(expect.objectContaining({ code: 'ERR_SOURCE_FORMAT' }))
  })
})

describe('a stream of them', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  const serverOf = async (status: number, parts: readonly string[], ends: boolean): Promise<string> => {
    const server = createServer((_, response) => {
      response.writeHead(status)
      for (const part of parts) response.write(part)
      if (ends) response.end()
      else response.flushHeaders()
    })
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }
  const all = async (url: string, silence = 2000): Promise<ServerEvent[]> => {
    const events: ServerEvent[] = []
    for await (const part of eventsOf(url, { silence, signal: undefined })) events.push(...part)
    return events
  }

  it('is over with an error when the server ends it, does not let in, is silent or is not there', async () => {
    await expect(all(await serverOf(200, [TEXT], true))).rejects.toMatchObject({
      code: 'ERR_SOURCE_CONNECTION'
    })
    await expect(all(await serverOf(410, [], true))).rejects.toMatchObject({
      code: 'ERR_SOURCE_REFUSED',
      details: { code: 410 }
    })
    await expect(all(await serverOf(200, [TEXT], false), 50)).rejects.toMatchObject({
      code: 'ERR_SOURCE_CONNECTION',
      message: expect.stringContaining('silent')
    })
    await expect(all('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ERR_SOURCE_CONNECTION' })
  })
})
