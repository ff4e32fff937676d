/** Every listed difference from @bsv/sdk is one: on its example, both say what the list says. */
import { describe, expect, test } from 'vitest'
import { OF_FORM, OF_RULES } from './differences.testing.ts'
import { TestChain } from './test-chain.testing.ts'
import { ours, theirs } from './verdicts.testing.ts'

describe('we and @bsv/sdk differ about', () => {
  test.each([...OF_FORM, ...OF_RULES])('$name: $why', async ({ make, ...expected }) => {
    const chain = new TestChain()
    const beef = make(chain)
    const verdict = await ours(beef, chain)
    if (expected.ours === 'valid') expect(verdict).toBe('valid')
    else expect(verdict).toHaveProperty('message', expect.stringMatching(expected.ours))
    expect(await theirs(beef, chain)).toBe(expected.theirs)
  })
})
