/** Creating incentives: an amount, a rate per second, a start and an uptime. */
import type { Dec } from '../decimal.ts'
import { dec } from '../decimal.ts'
import type { IncentiveRecord } from '../profile.ts'
import type { Time } from '../time.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Coin } from './coins.ts'
import { poolOf, refusal } from './refusal.ts'
import { syncUptimes, UPTIMES } from './uptime.ts'

export interface NewIncentive {
  readonly pool: bigint
  readonly creator: string
  readonly coin: Coin
  /** Per second. */
  readonly emissionRate: Dec
  readonly startTime: Time
  /** The index of the uptime that positions need. */
  readonly uptime: number
  readonly now: Time
}

export const createIncentive = async (unit: UnitOfWork, given: NewIncentive): Promise<IncentiveRecord> => {
  const { pool, creator, coin, emissionRate, startTime, uptime, now } = given
  if (coin.amount <= 0n || emissionRate <= 0n)
    throw refusal('amount', 'invalid incentive: expected an amount and a rate above 0', {
      amount: coin.amount
    })
  if (UPTIMES[uptime] === undefined) throw refusal('uptime', `unknown uptime ${uptime}`, { uptime })
  if (startTime < now) throw refusal('time', 'invalid start: expected now or later', { startTime, now })
  await syncUptimes(unit, await poolOf(unit, pool), now)
  const id = await unit.takeIncentiveId()
  // The document's key has no id: a second record of one creator, denom and uptime would replace the first.
  if (unit.profile === 'seed') {
    for await (const record of unit.incentives(pool, uptime))
      if (record.creator === creator && record.body.remaining.denom === coin.denom)
        throw refusal('incentive-exists', `${creator} already has a record for the denom and uptime`, {
          denom: coin.denom
        })
  }
  const record: IncentiveRecord = {
    pool,
    uptime,
    id,
    creator,
    body: { remaining: { denom: coin.denom, amount: dec.whole(coin.amount) }, emissionRate, startTime }
  }
  unit.setIncentive(record)
  return record
}
