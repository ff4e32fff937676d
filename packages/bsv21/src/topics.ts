/**
 * The topics of BSV21. `tm_bsv21` admits every deployment, and so discovers tokens. `tm_{tokenId}` evaluates its token and
 * nothing else; each is made at the first request for it.
 *
 * The topic of a token retains spent outputs as the token's history.
 */

import type { QuoinTopic } from '@quoin/overlay'
import { makeOutpoint, type TokenId } from '@quoin/primitives'
import { evaluateToken, isDeployment, refusalText, tokenInputs, tokenOutputs } from './rules.ts'
import { tokenOfTopic } from './topic-names.ts'

/** Admits all deployments. */
export const discoveryTopic: QuoinTopic = {
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...tokenOutputs(transaction)].filter(([, claim]) => isDeployment(claim)).map(([vout]) => vout),
    // A deployment stays in the topic when its output is spent.
    retain: previousCoins.map(({ input }) => input)
  }),
  getDocumentation: async () => 'Admits every output that deploys a BSV21 token.',
  getMetaData: async () => ({ name: 'BSV21', shortDescription: 'Deployments of BSV21 tokens.' })
}

/** Admits the valid outputs of one token. */
export const tokenTopic = (token: TokenId): QuoinTopic => ({
  admit: ({ transaction, previousCoins }) => {
    const { valid, refused } = evaluateToken(
      tokenOutputs(transaction, token),
      tokenInputs(previousCoins, token)
    )
    return {
      outputs: valid,
      retain: previousCoins.map(({ input }) => input),
      ...(refused.size > 0 && {
        refused: Object.fromEntries([...refused].map(([vout, refusal]) => [vout, refusalText(refusal)]))
      })
    }
  },
  needs: ({ transaction }) =>
    tokenOutputs(transaction, token).size === 0
      ? []
      : transaction.inputs.map(({ txid, vout }) => makeOutpoint(txid, vout)),
  getDocumentation: async () => `Admits the valid outputs of the BSV21 token ${token}.`,
  getMetaData: async () => ({ name: `BSV21 ${token}`, shortDescription: 'One BSV21 token.' })
})

/** The topic of a token by name; undefined for other names. */
export const tokenTopics = (name: string): QuoinTopic | undefined => {
  const token = tokenOfTopic(name)
  return token && tokenTopic(token)
}
