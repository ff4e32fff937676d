/** What makes a header the next one: every rule refuses what breaks it, and nothing else. */

import { fromHex } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { Branch } from './branch.ts'
import { formatHash, parseHeader, writeHeader } from './header.ts'
import { GENESIS, MAIN_1, MAIN_2, madeUp, mineLine, mineOn } from './headers.testing.ts'
import { NETWORKS, type NetworkRules } from './networks.ts'
import { checkHeader } from './rules.ts'

const { main, regtest } = NETWORKS
const NOW = 2_000_000_000

/** A line on the regression test network from its first block. */
const line = (count: number): Branch => {
  const branch = new Branch([{ header: GENESIS, height: 0, work: 2n }])
  for (const header of mineLine(GENESIS, count)) branch.push(header)
  return branch
}
const refusal = (reason: string): unknown =>
  expect.objectContaining({ code: 'ERR_HEADER_INVALID', details: expect.objectContaining({ reason }) })

describe('a header', () => {
  it('of the main network follows the one before', () => {
    const branch = new Branch([{ header: parseHeader(main.genesis), height: 0, work: 0n }])
    for (const hex of [MAIN_1, MAIN_2]) {
      const header = parseHeader(fromHex(hex))
      checkHeader(main, branch, header, NOW)
      branch.push(header)
    }
    expect(branch.tip.work).toBe(2n * 0x100010001n)
  })

  it('must name the one before', () => {
    expect(() => checkHeader(regtest, line(3), mineOn(GENESIS), NOW)).toThrow(
      refusal('its parent is not the last header')
    )
  })

  it('must have the proof of work that it claims', () => {
    const branch = line(3)
    const { previous, merkleRoot, time, bits, version } = mineOn(branch.tip.header)
    const without = Array.from({ length: 64 }, (_, nonce) =>
      writeHeader({ version, previous, merkleRoot, time, bits, nonce })
    ).find(header => !header.hasProofOfWork)!
    expect(() => checkHeader(regtest, branch, without, NOW)).toThrow(refusal('insufficient proof of work'))
  })

  it.each([
    ['negative', 0x20ffffff],
    ['above 256 bits', 0x23000001],
    ['zero', 0x20000000],
    ['above what the network allows', 0x2100ffff]
  ])('must have a target that is not %s', (_, bits) => {
    const branch = line(3)
    const { previous, merkleRoot, time, version } = mineOn(branch.tip.header)
    const header = writeHeader({ version, previous, merkleRoot, time, bits, nonce: 0 })
    expect(() => checkHeader(regtest, branch, header, NOW)).toThrow(
      refusal('invalid bits: above the highest target of the network')
    )
  })

  it('must be as difficult as the rules say, neither less nor more', () => {
    const branch = line(3)
    const harder = mineOn(branch.tip.header, 0, { bits: 0x201fffff })
    expect(() => checkHeader(regtest, branch, harder, NOW)).toThrow(refusal('wrong difficulty'))
  })

  it('must be later than the median of the eleven before it', () => {
    const branch = line(30)
    const median = branch.tip.header.time - 5 * 600
    expect(branch.medianTime(30)).toBe(median)
    expect(() => checkHeader(regtest, branch, mineOn(branch.tip.header, 0, { time: median }), NOW)).toThrow(
      refusal('its time is not after the median time of the past 11 headers')
    )
    checkHeader(regtest, branch, mineOn(branch.tip.header, 0, { time: median + 1 }), NOW)
  })

  it('must be later than the median of as many as there are, at the beginning of the chain', () => {
    const branch = line(1)
    expect(branch.medianTime(1)).toBe(GENESIS.time + 600)
    expect(branch.medianTime(0)).toBe(GENESIS.time)
    expect(() =>
      checkHeader(regtest, branch, mineOn(branch.tip.header, 0, { time: GENESIS.time }), NOW)
    ).toThrow(refusal('its time is not after the median time of the past 11 headers'))
  })

  it('must not be more than two hours ahead of the clock', () => {
    const branch = line(1)
    const header = mineOn(branch.tip.header)
    checkHeader(regtest, branch, header, header.time - 7200)
    expect(() => checkHeader(regtest, branch, header, header.time - 7201)).toThrow(
      refusal('its time is too far in the future')
    )
  })

  it('must be the one that the network is known to have at that height', () => {
    const branch = line(3)
    const [good, bad] = [mineOn(branch.tip.header, 'good'), mineOn(branch.tip.header, 'bad')]
    const rules: NetworkRules = { ...regtest, checkpoints: new Map([[4, formatHash(good.hash)]]) }
    checkHeader(rules, branch, good, NOW)
    expect(() => checkHeader(rules, branch, bad, NOW)).toThrow(
      refusal('the network has another block at this checkpoint')
    )
  })
})

describe('after a checkpoint', () => {
  it('what cannot be known is not asked for: the median for ten headers, the difficulty of others', () => {
    const branch = new Branch([{ header: GENESIS, height: 1000, work: 0n }])
    expect(branch.medianTime(1000)).toBeUndefined()
    checkHeader(regtest, branch, mineOn(GENESIS, 0, { time: 1 }), NOW)
    const longer = new Branch([
      { header: GENESIS, height: 1000, work: 0n },
      ...mineLine(GENESIS, 10).map((header, i) => ({ header, height: 1001 + i, work: 0n }))
    ])
    expect(() => checkHeader(regtest, longer, mineOn(longer.tip.header, 0, { time: 1 }), NOW)).toThrow(
      refusal('its time is not after the median time of the past 11 headers')
    )
  })

  it('a header still needs the proof of work that it claims', () => {
    const branch = madeUp(900_000, [{ time: 1_700_000_000, bits: 0x18036d7f }])
    const header = writeHeader({
      version: 1,
      previous: branch.tip.header.hash,
      merkleRoot: new Uint8Array(32),
      time: 1_700_000_600,
      bits: 0x1d00ffff,
      nonce: 0
    })
    expect(() => checkHeader(main, branch, header, NOW)).toThrow(refusal('insufficient proof of work'))
  })
})
