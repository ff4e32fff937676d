/**
 * The topics. `tm_bsv21` admits every deployment, which is how tokens become known. `tm_{tokenId}` judges its own token
 * and nothing else; there is one for every token that there could be, made when somebody asks for it.
 *
 * Whatever a token's topic admitted stays in it when it is spent: it is the token's history.
 */

import type { QuoinTopic } from '@quoin/overlay'
import { makeOutpoint, type TokenId } from '@quoin/primitives'
import { decodeBsv21 } from '@quoin/txo'
import { evaluateToken, isDeployment, refusalText, tokenOutputs } from './rules.ts'
import { tokenOfTopic } from './topic-names.ts'

/** All deployments of tokens. */
export const discoveryTopic: QuoinTopic = {
  admit: ({ transaction, previousCoins }) => ({
    outputs: [...tokenOutputs(transaction)].filter(([, claim]) => isDeployment(claim)).map(([vout]) => vout),
    // A token that moves on was deployed all the same.
    retain: previousCoins.map(({ input }) => input)
  }),
  getDocumentation: async () => 'Admits every output that deploys a BSV21 token.',
  getMetaData: async () => ({ name: 'BSV21', shortDescription: 'Deployments of BSV21 tokens.' })
}

/** The outputs of one token that are good. */
export const tokenTopic = (token: TokenId): QuoinTopic => ({
  admit: ({ transaction, previousCoins }) => {
    const inputs = previousCoins.flatMap(({ outpoint, output }) => decodeBsv21(output.script, outpoint) ?? [])
    const { good, refused } = evaluateToken(
      tokenOutputs(transaction, token),
      inputs.filter(({ id }) => id === token)
    )
    return {
      outputs: good,
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
  getDocumentation: async () => `Admits the good outputs of the BSV21 token ${token}.`,
  getMetaData: async () => ({ name: `BSV21 ${token}`, shortDescription: 'One BSV21 token.' })
})

/** The topic of a token by its name; undefined for any other name. */
export const tokenTopics = (name: string): QuoinTopic | undefined => {
  const token = tokenOfTopic(name)
  return token && tokenTopic(token)
}
