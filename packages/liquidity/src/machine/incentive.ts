/** Creating incentives: an amount, a rate per second, a start and an uptime. */
import type { Dec } from '../decimal.ts'
import { dec } from '../decimal.ts'
import type { Draft } from '../draft.ts'
import type { IncentiveRecord } from '../profile.ts'
import type { Time } from '../time.ts'
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

export const createIncentive = async (draft: Draft, given: NewIncentive): Promise<IncentiveRecord> => {
  const { pool, creator, coin, emissionRate, startTime, uptime, now } = given
  if (coin.amount <= 0n || emissionRate <= 0n)
    throw refusal('amount', 'an incentive has an amount and a rate above zero', { amount: coin.amount })
  if (UPTIMES[uptime] === undefined) throw refusal('uptime', `there is no uptime ${uptime}`, { uptime })
  if (startTime < now) throw refusal('time', 'an incentive begins now or later', { startTime, now })
  await syncUptimes(draft, await poolOf(draft, pool), now)
  const id = await draft.takeIncentiveId()
  // The document's key has no id: a second record of one creator, denom and uptime would replace the first.
  if (draft.profile === 'seed') {
    for await (const record of draft.incentives(pool, uptime))
      if (record.creator === creator && record.body.remaining.denom === coin.denom)
        throw refusal('incentive-exists', `${creator} already has such a record`, { denom: coin.denom })
  }
  const record: IncentiveRecord = {
    pool,
    uptime,
    id,
    creator,
    body: { remaining: { denom: coin.denom, amount: dec.whole(coin.amount) }, emissionRate, startTime }
  }
  draft.setIncentive(record)
  return record
}
