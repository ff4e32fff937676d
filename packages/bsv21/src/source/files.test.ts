import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTransaction, writeBeef } from '@quoin/chain'
import { formatTxid, toHex } from '@quoin/primitives'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DeliveryRecorder } from './delivery-recorder.testing.ts'
import { FileSource } from './files.ts'
import { blockOf, someTransaction } from './junglebus.testing.ts'
import { bumpOfTsc } from './tsc-proof.ts'

const block = blockOf(
  700,
  Array.from({ length: 600 }, (_, i) => someTransaction(i))
)
const beefs = block.transactions.map(({ txid, raw, proof }) =>
  writeBeef({
    version: 1,
    transactions: [{ txid, transaction: parseTransaction(raw), bump: bumpOfTsc(proof, txid, 700) }]
  })
)
const ids = block.transactions.map(({ txid }) => formatTxid(txid))
const lines = beefs.map(beef => JSON.stringify({ beef: toHex(beef) }))
const takers: DeliveryRecorder[] = []
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-files-'))
})
afterAll(() => rm(directory, { recursive: true }))
afterEach(async () => {
  for (const taker of takers.splice(0)) await taker.store.close()
})

const takerOf = async (): Promise<DeliveryRecorder> => {
  const taker = await DeliveryRecorder.open()
  takers.push(taker)
  return taker
}
const fileOf = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

describe('a file', () => {
  it('gives the transactions of its lines, with their places, and ends', async () => {
    const path = await fileOf('all.ndjson', lines.join('\n'))
    const taker = await takerOf()
    const source = new FileSource(path)
    taker.follow(source)
    await taker.done()
    expect(taker.txids).toEqual(ids)
    expect(taker.staged[599]).toMatchObject({
      beef: { bytes: beefs[599] },
      mined: { height: 700, index: 599n }
    })
    const size = lines.join('\n').length
    expect(source.status).toEqual({
      state: 'ended',
      at: size,
      end: size,
      transactions: 600,
      lastError: undefined
    })
  })

  it('may be one BEEF', async () => {
    const path = await fileOf('one.beef', beefs[3]!)
    const taker = await takerOf()
    taker.follow(new FileSource(path))
    await taker.done()
    expect(taker.txids).toEqual([ids[3]])
    const again = taker.next()
    again.follow(new FileSource(path))
    await again.done()
    expect(again.staged).toEqual([])
  })

  it('goes on after the last delivery that was taken', async () => {
    const path = await fileOf('parts.ndjson', lines.join('\n'))
    const taker = await takerOf()
    taker.before = (_, taken) => {
      if (taken === 1) throw new Error('killed')
    }
    taker.follow(new FileSource(path))
    await expect(taker.done()).rejects.toThrow('killed')
    expect(taker.txids).toEqual(ids.slice(0, 256))
    const next = taker.next()
    next.follow(new FileSource(path))
    await next.done()
    expect(next.txids).toEqual(ids.slice(256))
  })

  it('goes on with what is added to it, and begins anew when it is another', async () => {
    const path = await fileOf('grows.ndjson', `${lines.slice(0, 2).join('\n')}\n`)
    const taker = await takerOf()
    taker.follow(new FileSource(path))
    await taker.done()
    await fileOf('grows.ndjson', `${lines.slice(0, 5).join('\n')}\n`)
    const grown = taker.next()
    grown.follow(new FileSource(path))
    await grown.done()
    expect(grown.txids).toEqual(ids.slice(2, 5))
    await fileOf('grows.ndjson', `${lines.slice(9, 18).join('\n')}\n`)
    const other = taker.next()
    other.follow(new FileSource(path))
    await other.done()
    expect(other.txids).toEqual(ids.slice(9, 18))
  })

  it('tells of a line that is none, and passes it over for good', async () => {
    const path = await fileOf('poison.ndjson', ['{"beef": "00"}', lines[0], 'nonsense!', lines[1]].join('\n'))
    const troubles: string[] = []
    const taker = await takerOf()
    taker.follow(new FileSource(path, { onWarning: ({ message }) => troubles.push(message) }))
    await taker.done()
    expect(taker.txids).toEqual(ids.slice(0, 2))
    expect(troubles.map(each => /line (\d)/.exec(each)![1])).toEqual(['1', '3'])
    const again = taker.next()
    again.follow(new FileSource(path))
    await again.done()
    expect(again.deliveries).toEqual([])
  })

  it('that is not there is an error', async () => {
    const taker = await takerOf()
    taker.follow(new FileSource(join(directory, 'missing')))
    await expect(taker.done()).rejects.toMatchObject({ code: 'ERR_FILE' })
  })
})
