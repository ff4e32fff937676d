/**
 * `@quoin/keyspace` where there is no Node: bundled, without Buffer and process, in a context that forbids making
 * code from text as a strict Content-Security-Policy does.
 */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { auditLayout, collection, escaped, i64, keyspace, parseLayout, text, u64 } from '@quoin/keyspace'
import { toHex } from '@quoin/primitives'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const bundle = async (): Promise<string> => {
  const { outputFiles, warnings } = await build({
    entryPoints: [fileURLToPath(new URL('../packages/keyspace/src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'quoin',
    platform: 'browser',
    target: 'es2022'
  })
  expect(warnings).toEqual([])
  return outputFiles[0]!.text
}

const page = createContext(
  { TextEncoder, TextDecoder, performance },
  { codeGeneration: { strings: false, wasm: false } }
)
const inPage = (source: string): unknown =>
  JSON.parse(runInContext(`JSON.stringify((() => { ${source} })())`, page) as string)

describe('in a page with a strict policy', async () => {
  runInContext(await bundle(), page)

  it('nothing of Node is there, and code cannot be made from text', () => {
    expect(inPage('return [typeof Buffer, typeof process, typeof require]')).toEqual([
      'undefined',
      'undefined',
      'undefined'
    ])
    expect(() => runInContext('new Function("return 1")', page)).toThrow(
      /Code generation from strings disallowed/
    )
  })

  it('keys are the same bytes, and come back', () => {
    const { ticks, names } = keyspace('page', {
      ticks: collection({ key: ['t', u64('pool'), i64('tick')] }),
      names: collection({ key: ['n:', escaped('name'), ':', text('rest')] })
    }).collections
    const shown = inPage(`
      const { keyspace, collection, u64, i64, escaped, text, toHex } = quoin
      const { ticks, names } = keyspace('page', {
        ticks: collection({ key: ['t', u64('pool'), i64('tick')] }),
        names: collection({ key: ['n:', escaped('name'), ':', text('rest')] })
      }).collections
      const long = 'x'.repeat(200)
      const buffer = new Uint8Array(300)
      return {
        tick: toHex(ticks.encode(2n ** 64n - 1n, -5n)),
        into: toHex(buffer.subarray(0, ticks.encodeInto(buffer, 0, 2n ** 64n - 1n, -5n))),
        name: toHex(names.encode('a:b', 'é' + long)),
        back: names.decode(names.encode('a:b', 'é' + long)),
        numbers: ticks.decode(ticks.encode(7n, -5n)).map(String)
      }`)
    const tick = toHex(ticks.encode(2n ** 64n - 1n, -5n))
    expect(shown).toEqual({
      tick,
      into: tick,
      name: toHex(names.encode('a:b', `é${'x'.repeat(200)}`)),
      back: ['a:b', `é${'x'.repeat(200)}`],
      numbers: ['7', '-5']
    })
  })

  it('a layout is audited with the same findings', () => {
    const layout = JSON.stringify({
      name: 'x',
      collections: [
        { name: 'c', key: ['p|', { hex: 'owner' }, '|', { decimal: 'pool' }], scans: [['owner', 'pool']] }
      ]
    })
    const { findings } = auditLayout(parseLayout(layout))
    expect(findings.length).toBe(1)
    expect(inPage(`return quoin.auditLayout(quoin.parseLayout(${JSON.stringify(layout)})).findings`)).toEqual(
      findings
    )
  })
})
