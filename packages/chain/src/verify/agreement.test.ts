/** What @bsv/sdk accepts, we do: every form of script, sighash type, version and BEEF. */
import { describe, expect, test } from 'vitest'
import { build, isAllowed, SCRIPTS, TEMPLATES, TYPES, VERSIONS } from './cases.testing.ts'
import { makeCase, SETS } from './sets.testing.ts'
import { ALL, type TestChain } from './test-chain.testing.ts'
import { ours, theirs } from './verdicts.testing.ts'

const expectValid = async (beef: Uint8Array, chain: TestChain, name: string): Promise<void> => {
  const verdicts = await Promise.all([ours(beef, chain), theirs(beef, chain)])
  expect(verdicts, name).toEqual(['valid', 'valid'])
}

describe('sets of BEEF', () => {
  const kinds = [1 as const, 2 as const].flatMap(version => [{ version }, { version, atomic: true }])
  for (const set of SETS) {
    test(`${set}: V1 and V2, Atomic or not`, async () => {
      const { chain, transactions } = await makeCase(set, 1)
      for (const kind of kinds) await expectValid(chain.beef(transactions, kind), chain, JSON.stringify(kind))
    })
  }
})

describe('scripts', () => {
  for (const form of TEMPLATES) {
    test(`${form.name}: versions 0, 1, 2 and the last, all sighash types`, async () => {
      for (const version of VERSIONS) {
        for (const type of TYPES.filter(type => isAllowed(type, version))) {
          // In a third of them the input is one that SINGLE has no output for.
          const other = (['before', 'after', undefined] as const)[type % 3]
          const { chain, transactions } = build({ form, version, type, other, outputs: 1 })
          await expectValid(chain.beef(transactions), chain, `version ${version}, type ${type}`)
        }
      }
    })
  }

  for (const form of SCRIPTS) {
    test(`${form.name}, by the interpreter`, async () => {
      for (const version of VERSIONS) {
        const { chain, transactions } = build({ form, version, type: ALL })
        await expectValid(chain.beef(transactions), chain, `version ${version}`)
      }
    })
  }
})
