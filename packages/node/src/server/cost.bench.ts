/**
 * The cost of a submission in multiples of one signature verification (D24): processor time of all threads, measured in the
 * same process run, in turn with verifications, medians over the rounds. A multiple hardly depends on the machine.
 *
 *     npm run bench -- cost
 *     npm run bench -- cost --only 'one P2PKH input'
 *     npm run bench -- cost --full              a store of 10^6 outputs, a backfill of 10^6 transfers
 *     npm run bench -- --compare REF cost       the processor time of a commit against that of the working tree
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import secp256k1 from 'secp256k1'
import type { Metered } from '../../../../bench/case.ts'
import { suite } from '../../../../bench/harness.ts'
import { processorClock } from '../../../../bench/measure.ts'
import { processorOf } from '../../../../bench/process.ts'
import { makeBeefs } from '../../../../bench/scale/submissions.ts'
import { median } from '../../../../bench/stats.ts'
import { TestChain } from '../../../chain/src/verify/test-chain.testing.ts'
import { backfillWork } from './cost/backfill.testing.ts'
import { diskSheet } from './cost/disk.testing.ts'
import { serveSheet, streamsSheet } from './cost/node.testing.ts'
import {
  type Counts,
  grownWork,
  knownAncestorsWork,
  kvWork,
  type SlicedWork,
  setWork
} from './cost/submissions.testing.ts'
import { serve } from './served.testing.ts'

const DIGESTS = 200
const VERIFICATIONS = 2000

/** Verifications of distinct signatures by distinct keys. */
const verification = (): Metered => {
  const digests = Array.from({ length: DIGESTS }, (_, i) => {
    const secret = new Uint8Array(32).fill(1 + (i % 250))
    const digest = new Uint8Array(32).fill(i)
    return { digest, ...secp256k1.ecdsaSign(digest, secret), key: secp256k1.publicKeyCreate(secret) }
  })
  return {
    ops: VERIFICATIONS,
    work: () => {
      let valid = 0
      for (let i = 0; i < VERIFICATIONS; i++) {
        const { signature, digest, key } = digests[i % DIGESTS]!
        if (secp256k1.ecdsaVerify(signature, digest, key)) valid++
      }
      if (valid !== VERIFICATIONS) throw new Error(`${valid} of ${VERIFICATIONS} signatures are valid`)
      return valid
    }
  }
}

export default suite(({ cost, figure, sheet, after, note, progress, scale, quick }) => {
  const base = verification()
  const counts: Counts = quick ? { warm: 600, slice: 200, slices: 5 } : { warm: 4000, slice: 1000, slices: 9 }
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'quoin-bench-'))
    after(() => rm(path, { recursive: true, force: true }))
    return path
  }
  let isWarm = false
  /** The compilers of Node have compiled most of a submission after a few thousand. */
  const warmUpOnce = async (): Promise<void> => {
    if (isWarm) return
    isWarm = true
    progress('warming up')
    const { warmUp, close } = await setWork(`lmdb:${await folder()}`, 'a', {
      warm: 5000,
      slice: 0,
      slices: 0
    })
    await warmUp()
    await close()
  }
  const costOf = (name: string, most: number | undefined, make: (url: string) => Promise<SlicedWork>): void =>
    cost(name, {
      base,
      rounds: counts.slices,
      ...(most !== undefined && { most }),
      ours: async () => {
        await warmUpOnce()
        progress('making transactions')
        const { ops, warmUp, next, close } = await make(`lmdb:${await folder()}`)
        after(close)
        progress('warming up')
        await warmUp()
        return { ops, work: next }
      }
    })

  note('processor time of all threads in multiples of one bare ecdsaVerify; the peer is the bar')
  figure('one verification', {
    unit: 'us/op',
    ours: () => {
      const times = Array.from({ length: 9 }, () => {
        const begin = processorClock()
        base.work()
        return processorClock() - begin
      })
      return (1000 * median(times)) / base.ops
    },
    peers: {}
  })

  costOf('Engine.submit, one P2PKH input', 4.5, url => setWork(url, 'a', counts))
  costOf('Engine.submit, ten unproved ancestors', 20, url => setWork(url, 'b10', fewer(counts)))
  costOf('KV create, two signatures', 10, url => kvWork(url, false, counts))
  costOf('KV update, three signatures', 15, url => kvWork(url, true, counts))
  for (const warm of { quick: [1000], normal: [10_000], full: [10_000, 1e6] }[scale]) {
    const most = warm < 1e6 ? 7 : 8
    const name = `BSV21 transfer in a backfill, after ${warm.toLocaleString('en-US')}`
    costOf(name, most, url => backfillWork(url, { ...counts, warm }, progress))
  }
  for (const depth of { quick: [1, 20], normal: [1, 1000], full: [1, 1000] }[scale]) {
    costOf(`Engine.submit, ${depth} known ancestors`, undefined, url =>
      knownAncestorsWork(url, depth, counts, progress)
    )
  }
  for (const size of { quick: [1e4], normal: [1e4, 1e5], full: [1e4, 1e6] }[scale]) {
    costOf(`Engine.submit into ${size.toLocaleString('en-US')} outputs`, undefined, url =>
      grownWork(url, size, counts, progress)
    )
  }

  // Processor time of another process is counted in ticks of 10 ms: a slice has more submissions.
  const ofProcess: Counts = { ...counts, slice: 4 * counts.slice }
  cost('POST /submit, one P2PKH input', {
    base,
    rounds: ofProcess.slices,
    most: 7.5,
    ours: async () => {
      const { warm, slice, slices } = ofProcess
      progress('making transactions')
      const beefs = await makeBeefs(new TestChain(), 0, warm + slice * slices)
      const node = await serve(await folder(), 'sources')
      after(() => node.close())
      progress('warming up')
      await node.submit(beefs.splice(0, warm))
      return {
        ops: slice,
        work: () => node.submit(beefs.splice(0, slice)),
        meter: () => processorOf(node.pid).self
      }
    }
  })
  const costs = { folder, after, progress }
  sheet('disk of a BSV21 transfer', () => diskSheet({ ...counts, warm: 10 * counts.slice }, costs))
  sheet('open live streams', () => streamsSheet(base, ofProcess, costs))
  sheet('quoin serve', () => serveSheet(quick ? 3 : 7, quick ? 3 : 20, costs))
})

/** A submission of eleven transactions takes several times as long. */
const fewer = ({ warm, slice, slices }: Counts): Counts => ({ warm: warm / 4, slice: slice / 4, slices })
