/** Every engine against the contract. QUOIN_LARGE=1 adds what takes minutes. */

import { storeContract } from '@quoin/store-contract'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { ENGINES } from './engines.testing.ts'

const large = process.env['QUOIN_LARGE'] === '1'

describe.each(Object.entries(ENGINES))('%s', (_, harness) => {
  beforeAll(() => harness.start?.())
  afterAll(() => harness.stop?.())
  storeContract({ ...harness, large, test: (name, run) => it(name, run, large ? 600_000 : 60_000) })
})
