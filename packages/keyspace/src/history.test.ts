/**
 * Layouts that real systems had, each refused with a witness of the kind that bit. Every case names the property
 * that fails and checks on the witness itself that it does.
 */

import { hasCode } from '@quoin/primitives'
import { describe, expect, it } from 'vitest'
import { outpoint, topic, txid } from '../../chain/src/components.ts'
import { denom } from '../../liquidity/src/components.ts'
import { auditLayout } from './audit.ts'
import { parseLayout } from './file/parse.ts'
import { bytes, collection, decimal, hex, raw, text, u32 } from './index.ts'
import { keyspace } from './keyspace.ts'
import type { Finding } from './proof/findings.ts'

const refusal = (define: () => unknown): readonly Finding[] => {
  try {
    define()
  } catch (error) {
    if (hasCode(error, 'ERR_KEYSPACE_UNSOUND')) {
      return error.details['findings'] as readonly Finding[]
    }
    throw error
  }
  throw new Error('the layout was accepted')
}

const ascii = (hexadecimal: string): string => Buffer.from(hexadecimal, 'hex').toString('latin1')
const of = (findings: readonly Finding[], property: string, ...collections: string[]): Finding => {
  const found = findings.find(
    each => each.property === property && collections.every(name => each.collections.includes(name))
  )
  if (!found) throw new Error(`no ${property} on ${collections} in ${JSON.stringify(findings)}`)
  return found
}

/** The findings on a layout file. */
const audited = (layout: unknown): readonly Finding[] =>
  auditLayout(parseLayout(JSON.stringify(layout), { denom })).findings

describe('concentrated liquidity, before its first release', () => {
  it('the first tick key had no separator: pool 1 tick 10 is pool 11 tick 0', () => {
    const findings = refusal(() =>
      keyspace('ticks', {
        ticks: collection({ key: ['tick_prefix|', decimal('pool'), decimal('tick')], scans: [['pool']] })
      })
    )
    const { witness, message } = of(findings, 'P1')
    expect(witness[0]).toBe(witness[1])
    expect(ascii(witness[0])).toBe('tick_prefix|110')
    expect(message).toContain('pool=11 tick=0')
    expect(message).toContain('pool=1 tick=10')
  })

  it('the owner of position 10 passed as owner of position 1: the whole key was used as a scan prefix', () => {
    const findings = refusal(() =>
      keyspace('owners', {
        positions: collection({
          key: [raw('02'), '|', hex('owner'), '|', decimal('pool'), '|', decimal('position')],
          scans: [['owner'], ['owner', 'pool'], ['owner', 'pool', 'position']]
        })
      })
    )
    expect(findings.length).toBe(1)
    const { witness, prefix } = of(findings, 'P2', 'positions')
    expect(witness[0]).toBe(prefix)
    expect(ascii(witness[1])).toBe(`${ascii(witness[0])}0`)
  })

  it('accumulator positions lay inside accumulators, whose names may hold the separator', () => {
    const findings = refusal(() =>
      keyspace('accum', {
        accumulators: collection({ key: ['accum/acc/', text('name')], scans: [[]] }),
        positions: collection({
          key: ['accum/acc/pos/', text('name'), '/', text('position')],
          scans: [['name']]
        })
      })
    )
    expect(ascii(of(findings, 'P3', 'accumulators', 'positions').witness[0])).toMatch(/^accum\/acc\/pos\//)
    expect(of(findings, 'P1', 'positions').message).toMatch(/reads as .* and as /)
    expect(of(findings, 'P2', 'positions').prefix).toBeDefined()
    expect(of(findings, 'P6').witness[0]).toMatch(/^61636375/)
  })

  it('a separator of two bytes that overlaps itself: (x|, y) and (x, |y) are one key', () => {
    const findings = refusal(() =>
      keyspace('accum', {
        positions: collection({
          key: ['accum||pos||', text('name', { except: '/' }), '||', text('position', { except: '/' })]
        })
      })
    )
    expect(ascii(of(findings, 'P1').witness[0])).toContain('|||')
  })

  it('scan prefixes of 0x02 and 0x04 without a trailing separator: pool 1 also finds pool 10', () => {
    const findings = audited({
      name: 'scans',
      collections: [
        {
          name: 'positions',
          key: [{ raw: '02' }, '|', { hex: 'owner' }, '|', { decimal: 'pool' }, '|', { decimal: 'position' }],
          scans: [
            { prefix: ['owner'], trailing: false },
            { prefix: ['owner', 'pool'], trailing: false }
          ]
        },
        {
          name: 'incentives',
          key: [{ raw: '04' }, '|', { decimal: 'pool' }, '|', { decimal: 'uptime' }, '|', { denom: 'denom' }],
          scans: [{ prefix: ['pool'], trailing: false }, ['pool', 'uptime']]
        }
      ]
    })
    expect(findings.map(({ property, collections }) => [property, ...collections])).toEqual([
      ['P2', 'positions'],
      ['P2', 'positions'],
      ['P2', 'incentives']
    ])
    expect(findings[2]!.message).toContain('pool=1 (prefix 047c31) also catches pool=10')
  })

  it('raw addresses split on a separator: an address may contain it, so the scan for one catches another', () => {
    const findings = refusal(() =>
      keyspace('owners', {
        positions: collection({
          key: [raw('02'), '|', bytes('owner'), '|', decimal('pool')],
          scans: [['owner']]
        })
      })
    )
    const { witness, prefix } = of(findings, 'P2', 'positions')
    expect(prefix).toBe('027c7c')
    expect(witness[1].startsWith('027c7c')).toBe(true)
    // Parsed from the right it still decodes one way, so only the scan is wrong.
    expect(findings.some(({ property }) => property === 'P1')).toBe(false)
  })

  it('incentives by (pool, denom, uptime) could not be iterated by (pool, uptime)', () => {
    const findings = audited({
      name: 'incentives',
      collections: [
        {
          name: 'incentives',
          key: [
            { raw: '04' },
            '|',
            { decimal: 'pool' },
            '|',
            { denom: 'denom' },
            '|',
            { decimal: 'uptime' },
            '|'
          ],
          scans: [['pool', 'uptime']]
        }
      ]
    })
    expect(of(findings, 'P7', 'incentives').message).toContain('pool, uptime')
  })

  it('a decimal id does not walk in numeric order, whatever follows it', () => {
    for (const separator of ['/', '|']) {
      const findings = refusal(() =>
        keyspace('pools', {
          pools: collection({
            key: [raw('03'), decimal('pool'), separator, decimal('id')],
            scans: [{ prefix: [], order: 'value' }]
          })
        })
      )
      expect(of(findings, 'P4', 'pools').message).toContain('pool=10 comes before pool=9')
    }
  })
})

describe('modules beside it', () => {
  it('poolmanager deletes every key under 0A|denom without a separator: abc clears abcd', () => {
    const findings = audited({
      name: 'poolmanager',
      collections: [
        {
          name: 'shares',
          key: [{ raw: '0A' }, '|', { denom: 'denom' }, '|', { decimal: 'pool' }],
          scans: [{ prefix: ['denom'], trailing: false }]
        },
        {
          name: 'alloyed',
          key: [{ raw: '0B' }, '|', { decimal: 'pool' }, '|', { denom: 'denom' }],
          scans: [{ prefix: ['pool'], trailing: false }]
        }
      ]
    })
    expect(of(findings, 'P2', 'shares').message).toMatch(/denom=gold \(prefix .*\) also catches denom=golden/)
    expect(of(findings, 'P2', 'alloyed').message).toContain('pool=1 (prefix 0b7c31) also catches pool=10')
  })

  it('twap scans historical_pool_index|{pool}: pool 1 returns 10 and 100', () => {
    const layout = (trailing: boolean) => ({
      name: 'twap',
      collections: [
        {
          name: 'records',
          key: [
            'historical_pool_index|',
            { decimal: 'pool' },
            '|',
            { denom: 'denom0' },
            '|',
            { denom: 'denom1' },
            '|',
            { u64be: 'time' }
          ],
          scans: [{ prefix: ['pool'], trailing }]
        }
      ]
    })
    expect(of(audited(layout(false)), 'P2', 'records').message).toContain('also catches pool=10')
    expect(audited(layout(true))).toEqual([])
  })
})

describe('the output store of the seeds, with events that are any text', () => {
  const events = {
    event: collection({ key: ['z:', text('event')] }),
    spent: collection({ key: ['z:', text('event'), ':spnd'] })
  }

  it('a symbol X:spnd lands in the spent index of sym:X', () => {
    const findings = refusal(() =>
      keyspace('symbols', {
        symbol: collection({ key: ['z:sym:', text('symbol')] }),
        spent: collection({ key: ['z:sym:', text('symbol'), ':spnd'] })
      })
    )
    expect(ascii(of(findings, 'P3', 'symbol', 'spent').witness[0])).toBe('z:sym::spnd')
    expect(of(findings, 'P6').collections).toEqual(['symbol', 'spent'])
  })

  it('an event named tp:… overwrites a topic, and merkle:… a merkle state', () => {
    const findings = refusal(() =>
      keyspace('outputs', {
        ...events,
        topics: collection({ key: ['z:tp:', topic('topic')] }),
        merkle: collection({ key: ['z:merkle:', topic('topic'), ':', decimal('state')] })
      })
    )
    expect(ascii(of(findings, 'P3', 'event', 'topics').witness[0])).toBe('z:tp:a')
    expect(of(findings, 'P3', 'event', 'spent')).toBeDefined()
    expect(of(findings, 'P3', 'event', 'merkle')).toBeDefined()
  })

  it('a topic x:tx is the list of transactions of topic x, when a topic is any text', () => {
    const findings = refusal(() =>
      keyspace('topics', {
        outputs: collection({ key: ['z:tp:', text('topic')] }),
        transactions: collection({ key: ['z:tp:', text('topic'), ':tx'] })
      })
    )
    expect(ascii(of(findings, 'P3', 'outputs', 'transactions').witness[0])).toBe('z:tp::tx')
  })

  it('a subscription called tok:{id} is the queue of a token', () => {
    const findings = refusal(() =>
      keyspace('queues', {
        subscription: collection({ key: ['q:', text('subscription')] }),
        token: collection({ key: ['q:tok:', text('token')], scans: [[]] })
      })
    )
    expect(ascii(of(findings, 'P3', 'subscription', 'token').witness[0])).toBe('q:tok:')
  })

  it('h:pi:{topic} with a topic of 33 characters is the key of an output, and lies under h:{txid}', () => {
    const findings = refusal(() =>
      keyspace('hashes', {
        output: collection({ key: ['h:', txid('txid'), u32('vout')], scans: [['txid']] }),
        peers: collection({ key: ['h:pi:', topic('topic')] })
      })
    )
    const shared = findings.find(({ property, prefix }) => property === 'P3' && prefix === undefined)!
    expect(shared.witness[0].length / 2).toBe(38)
    const caught = findings.find(({ property, prefix }) => property === 'P3' && prefix !== undefined)!
    expect(caught.witness[1].startsWith(caught.prefix!)).toBe(true)
  })

  it('an outpoint as one component promises no scan by its txid', () => {
    const output = collection({ key: ['h:', outpoint('outpoint')] })
    expect(output.scans).toEqual([])
    expect(() =>
      // @ts-expect-error the key has no component txid
      keyspace('outputs', { output: collection({ key: ['h:', outpoint('outpoint')], scans: [['txid']] }) })
    ).toThrow(expect.objectContaining({ code: 'ERR_KEYSPACE_DECLARATION' }))
  })
})

describe('a denom may hold the separator that is safe for others', () => {
  it('denoms with / as separator are ambiguous, with | they are not', () => {
    const pair = (separator: string) =>
      keyspace('pairs', {
        pairs: collection({ key: [raw('01'), denom('base'), separator, denom('quote')], scans: [['base']] })
      })
    expect(
      of(
        refusal(() => pair('/')),
        'P1'
      ).message
    ).toContain('reads as')
    expect(pair('|').proof.sound).toBe(true)
  })
})
