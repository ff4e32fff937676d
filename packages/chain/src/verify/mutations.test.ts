/**
 * Verdicts on transactions that were spoiled in one way or another: equal to those of @bsv/sdk, or of the listed
 * differences. `QUOIN_MUTATIONS=5000` asks for more of them, `QUOIN_SEED=7` for others.
 */
import { expect, test } from 'vitest'
import { OF_FORM, OF_RULES } from './differences.testing.ts'
import { mutant } from './mutants.testing.ts'
import { randomFrom } from './test-chain.testing.ts'
import { ours, theirs } from './verdicts.testing.ts'

const MUTATIONS = Number(process.env['QUOIN_MUTATIONS'] ?? 150)
const SEED = Number(process.env['QUOIN_SEED'] ?? 1)

const isListed = (message: string): boolean =>
  [...OF_FORM, ...OF_RULES].some(({ ours }) => ours !== 'valid' && ours.test(message))

const how = `${MUTATIONS} mutations of seed ${SEED}`

test(`${how}: one verdict, or a listed difference`, async ({ annotate }) => {
  const random = randomFrom(SEED)
  const wrong: unknown[] = []
  /** How many of the SDK's verdicts, and how many that differ from them. */
  const counts = { valid: 0, invalid: 0, none: 0, different: 0 }
  for (let i = 0; i < MUTATIONS; i++) {
    const { name, chain, beef } = await mutant(random)
    const [verdict, other] = await Promise.all([ours(beef, chain), theirs(beef, chain)])
    const isValid = verdict === 'valid'
    // Where the SDK gives no answer, all that can be asked is that we refuse.
    if (isValid ? other === 'valid' : other !== 'valid') counts[other]++
    else if (!isValid && isListed(verdict.message)) counts.different++
    else {
      const mine = isValid ? verdict : verdict.message
      wrong.push({ mutation: i, name, ours: mine, theirs: other, beef: Buffer.from(beef).toString('hex') })
    }
  }
  await annotate(`${how}: ${JSON.stringify(counts)}`)
  expect(wrong).toEqual([])
  // It would prove nothing if all of them were refused.
  expect(counts.valid).toBeGreaterThan(MUTATIONS / 10)
  expect(counts.invalid).toBeGreaterThan(MUTATIONS / 2)
}, 3_600_000)
