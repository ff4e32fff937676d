/**
 * A token whose supply is conserved. A token output is a PushDrop of the holder's key with the fields
 *
 *     'tok' <decimal amount>                  a transfer
 *     'tok' <decimal amount> <signature>      a mint
 *
 * The transfers of a transaction sum to the tokens that it spends; otherwise the topic admits none of them. The issuer
 * signs a mint for the first input of its transaction. A coin is spent once, so a signature mints once.
 */
import { readSignature, sha256, type Transaction, verifySignature } from '@quoin/chain'
import { hex } from '@quoin/keyspace'
import { type Admittance, type Candidate, definePlugin, type Plugin } from '@quoin/overlay'
import { fromHex, toHex } from '@quoin/primitives'
import { decodePushDrop, event } from '@quoin/txo'

interface Token {
  /** The public key that can spend the output. */
  readonly holder: Uint8Array
  readonly amount: bigint
  /** The issuer's signature; only a mint has one. */
  readonly signature: Uint8Array | undefined
}

const MAX_AMOUNT = 2n ** 64n - 1n

const decodeToken = (script: Uint8Array): Token | undefined => {
  const { key, fields = [] } = decodePushDrop(script) ?? {}
  const [tag, written, signature, ...more] = fields
  if (!key || !tag || !written || more.length > 0 || textOf(tag) !== 'tok') return undefined
  const digits = textOf(written)
  if (!/^[1-9][0-9]{0,19}$/.test(digits) || BigInt(digits) > MAX_AMOUNT) return undefined
  return { holder: key, amount: BigInt(digits), signature }
}

const textOf = (field: Uint8Array): string => Buffer.from(field).toString('latin1')

/** The digest that the issuer signs: the coin of the first input, the index of the output, its amount and holder. */
export const mintDigest = (
  coin: { readonly txid: Uint8Array; readonly vout: number },
  vout: number,
  holder: Uint8Array,
  amount: bigint
): Uint8Array =>
  sha256(Buffer.from(`mint ${toHex(coin.txid)} ${coin.vout} as ${vout}: ${amount} for ${toHex(holder)}`))

const isMint = (issuer: Uint8Array, { inputs }: Transaction, vout: number, token: Token): boolean => {
  const signature = token.signature && readSignature(token.signature)
  if (!signature || signature.isHigh) return false
  return verifySignature(signature, mintDigest(inputs[0]!, vout, token.holder, token.amount), issuer)
}

const evaluate = (issuer: Uint8Array, { transaction, previousCoins }: Candidate): Admittance => {
  const sum = (all: readonly { readonly amount: bigint }[]): bigint =>
    all.reduce((total, { amount }) => total + amount, 0n)
  const tokens = transaction.outputs.flatMap(({ script }, vout) => {
    const token = decodeToken(script)
    return token ? [{ ...token, vout }] : []
  })
  const mints = tokens.filter(each => each.signature && isMint(issuer, transaction, each.vout, each))
  const transfers = tokens.filter(each => !each.signature)
  const [spent, sent] = [sum(previousCoins.map(({ output }) => decodeToken(output.script)!)), sum(transfers)]
  const admitted = new Set(spent === sent ? [...mints, ...transfers] : mints)
  const reason = ({ signature }: Token): string =>
    signature
      ? 'the issuer did not sign this mint'
      : `the transaction sends ${sent} tokens and spends ${spent}: the sums must be equal`
  return {
    outputs: [...admitted].map(({ vout }) => vout),
    // Spent tokens stay, so that a lookup can prove the history back to the mint.
    retain: previousCoins.map(({ input }) => input),
    refused: Object.fromEntries(
      tokens.filter(each => !admitted.has(each)).map(each => [each.vout, reason(each)])
    )
  }
}

/** The token of one issuer, named by its public key. */
export const tokenOf = (issuer: Uint8Array): Plugin => {
  const about = {
    getDocumentation: async () => `Tokens of ${toHex(issuer)}. Query: \`{ "holder": public key in hex }\`.`,
    getMetaData: async () => ({ name: 'Token', shortDescription: 'A token with conservation.' })
  }
  return definePlugin({
    name: 'token',
    setup: ({ outputs, events }) => {
      const { held } = events({
        held: event('held', 'Tokens by the public key that can spend them.', hex('holder', { length: 33 }))
      })
      return {
        topics: { tm_token: { ...about, admit: candidate => evaluate(issuer, candidate) } },
        lookups: {
          ls_token: {
            ...about,
            topics: ['tm_token'],
            index: ({ output }) => {
              const { holder, amount } = decodeToken(output.script)!
              return { events: [held.text(holder)], data: { token: { amount: `${amount}` } } }
            },
            lookup: async (query: unknown) => {
              const { holder } = (query ?? {}) as { holder: string }
              const { rows } = await outputs.search({
                keys: [held.text(fromHex(`${holder}`))],
                filterSpent: true
              })
              return rows.map(({ outpoint }) => ({ outpoint, history: 100 }))
            }
          }
        }
      }
    }
  })
}
