import { openStore, type Store } from '@quoin/store'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Liquidity } from '../state.ts'
import { poolOf, positionOf } from '../values.testing.ts'
import { stateDifferences } from './diff.ts'
import { exportRaw, importRaw } from './raw.ts'

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})
const newStore = async (): Promise<Store> => {
  const store = await openStore('memory:')
  stores.push(store)
  return store
}

const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex')

const differencesOf = async (before: Store, after: Store): Promise<unknown[]> => {
  const found = []
  for await (const each of stateDifferences(before, after))
    found.push([hex(each.key), hex(each.before), hex(each.after)])
  return found
}

describe('the differences of two states', () => {
  it('are their added, changed and removed rows', async () => {
    const rows = fc.dictionary(
      fc.constantFrom('07', '12', '0331', '0332', '0d31', '0d32', '1031', '15', '16', '0e31'),
      fc.constantFrom('01', '02', '03'),
      { noNullPrototype: true }
    )
    await fc.assert(
      fc.asyncProperty(rows, rows, async (first, second) => {
        const [before, after] = [await openStore('memory:'), await openStore('memory:')]
        for (const [store, entries] of [
          [before, first],
          [after, second]
        ] as const)
          for (const [key, value] of Object.entries(entries))
            await store.set(Buffer.from(key, 'hex'), Buffer.from(value, 'hex'))
        const keys = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort()
        expect(await differencesOf(before, after)).toEqual(
          keys.filter(key => first[key] !== second[key]).map(key => [key, first[key], second[key]])
        )
        await Promise.all([before.close(), after.close()])
      })
    )
  })

  it('are none after an import of the other', async () => {
    const [before, after] = [await newStore(), await newStore()]
    const liquidity = await Liquidity.open(before)
    await liquidity.change(async unit => {
      unit.setPool(poolOf(1n))
      await unit.setPosition(positionOf(await unit.takePositionId()))
    })
    async function* source(): AsyncGenerator<Uint8Array> {
      for await (const line of exportRaw(before)) yield new TextEncoder().encode(line)
    }
    await importRaw(after, source())
    expect(await differencesOf(before, after)).toEqual([])
    await (await Liquidity.open(after)).change(unit => unit.takePositionId())
    expect(await differencesOf(before, after)).toEqual([['07', '0802', '0803']])
  })

  it('are refused of two profiles', async () => {
    const [before, after] = [await newStore(), await newStore()]
    for (const [store, profile] of [
      [before, 'chain'],
      [after, 'seed']
    ] as const)
      await (await Liquidity.open(store, { profile })).change(async unit => unit.setPool(poolOf(1n)))
    await expect(differencesOf(before, after)).rejects.toMatchObject({ code: 'ERR_LIQUIDITY_PROFILE' })
  })
})
