import { bsv21, bsv21Events } from '@quoin/bsv21'
import { type AnyKeyspace, KeyspaceGroup } from '@quoin/keyspace'
import { liquidityChain, liquiditySeed } from '@quoin/liquidity'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outputEvents, outputs } from '../index.ts'
import { scriptEvents } from './events.ts'
import { BAP, bitcom, bsv21 as bsv21Script, found, inscription, MAP } from './scripts.testing.ts'

const store = (...more: AnyKeyspace[]): KeyspaceGroup =>
  new KeyspaceGroup('node', [
    outputs,
    outputEvents.keyspace,
    bsv21,
    bsv21Events.keyspace,
    scriptEvents.keyspace,
    ...more
  ])

describe('the events of scripts', () => {
  it('share no key with anything else in a store', () => {
    expect(() => store()).not.toThrow()
    expect(() => store(liquiditySeed)).not.toThrow()
    expect(() => store(liquidityChain)).not.toThrow()
  })

  it('are no events of judged tokens, whatever text they are made of', () => {
    const group = store()
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: fc.constantFrom(':', ';', 's', 'p', 'n', 'd', '\0', '\x01', '/'), maxLength: 60 }),
      fc.constantFrom('X:spnd', `${'a'.repeat(64)}_0`, `:${'a'.repeat(64)}_0`, 'a\0b', '日本', '\u{1f4a9}')
    )
    fc.assert(
      fc.property(hostile, text => {
        const scripts = [
          inscription({ type: text, content: 'x' }),
          bitcom([[MAP, 'SET', 'type', text, 'app', text]]),
          bitcom([[BAP, 'ID', text, text]]),
          bitcom([[BAP, 'DATA', text, text]]),
          bsv21Script({ op: 'deploy+mint', amt: '1', sym: text })
        ]
        for (const { events } of scripts.flatMap(script => Object.values(found(script)))) {
          for (const event of events) {
            for (const [key, twin] of [
              [`z:${event}`, false],
              [`z:${event}:spnd`, true]
            ] as const) {
              const explanation = group.explain(Buffer.from(key))
              expect(explanation).toMatchObject({ found: true, keyspace: 'script-events' })
              expect(explanation.found && explanation.collection.endsWith('Spent')).toBe(twin)
            }
          }
        }
      })
    )
  })

  it('are each said to be what they are', () => {
    for (const { index } of Object.values(scriptEvents.types)) expect(index.about).toMatch(/^[A-Z].*\.$/)
  })
})
