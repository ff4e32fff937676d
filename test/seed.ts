/**
 * The seed of every property, so that results depend on the code alone: `QUOIN_SEED=random` tries other seeds, and a
 * number repeats one.
 */
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import './fetch.testing.ts'

const { QUOIN_SEED = '1' } = process.env
const seed = QUOIN_SEED === 'random' ? randomInt(2 ** 31) : Number(QUOIN_SEED)
if (!Number.isSafeInteger(seed)) throw new Error(`QUOIN_SEED is a whole number or random, not ${QUOIN_SEED}`)
process.env['QUOIN_SEED'] = String(seed)
fc.configureGlobal({ seed })
