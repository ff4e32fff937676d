/** One state on every engine: the same keys and values, whoever keeps them. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { describeStores, EVERY_ENGINE } from '../../store/src/stores.testing.ts'
import { importGenesis } from './dump/genesis-import.ts'
import { exportRaw } from './dump/raw.ts'
import { Liquidity } from './state.ts'
import { positionOf } from './values.testing.ts'

const GENESIS = gunzipSync(readFileSync(new URL('./fixtures/genesis-2023-04.json.gz', import.meta.url)))
const exports = new Map<string, string>()

describeStores(EVERY_ENGINE, (opened, engine) => {
  it('holds the same state after the same import and changes', async () => {
    const { store } = opened
    await importGenesis(
      store,
      (async function* () {
        yield GENESIS
      })()
    )
    const liquidity = await Liquidity.open(store)
    await liquidity.change(async unit => {
      const walked: bigint[] = []
      for await (const { index, info } of unit.ticks(1n, { from: 90n, reverse: true })) {
        walked.push(index)
        unit.setTick(1n, index, info)
      }
      expect(walked).toEqual([90n, -1620n])
      await unit.removePosition(10n)
      await unit.setPosition(positionOf(5000n, { lowerTick: 90n, upperTick: 180n }))
    })
    const differences = new Set<string>()
    for await (const { collection } of liquidity.verify()) differences.add(collection)
    // Ticks are the machine's, which was not asked; everything that the state derives is as it should be.
    expect([...differences]).toEqual(['ticks'])
    let text = ''
    for await (const line of exportRaw(store)) text += line
    exports.set(engine, text)
    expect(new Set(exports.values()).size).toBe(1)
  })
})
