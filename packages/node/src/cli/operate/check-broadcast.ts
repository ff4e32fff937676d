/** Checks of the transaction processors of a configuration: each is asked for its policy, which needs its token. */
import { reasonOf } from '@quoin/primitives'
import { type Check, type Diagnosis, failure, ok } from './diagnosis.ts'

const REMEDY = 'correct broadcast.processors, or the token at the same place of broadcast.tokens'

export const BROADCAST_CHECKS: readonly Check[] = [
  {
    name: 'broadcast',
    async run({ config }) {
      const { processorsOf } = await import('../../server/broadcasting.ts')
      return Promise.all(
        processorsOf(config).map(async (processor): Promise<Diagnosis> => {
          const check = `broadcast ${processor.name}`
          try {
            await processor.policy()
            return ok(check, 'states its policy')
          } catch (error) {
            return failure(check, reasonOf(error), REMEDY)
          }
        })
      )
    }
  }
]
