/** The published vectors: they are those of the cases, and the specification, the rules and the engine agree with them. */
import { readFileSync } from 'node:fs'
import { Beef, parseTransaction } from '@quoin/chain'
import { DevChain } from '@quoin/dev-chain'
import type { Steak } from '@quoin/overlay'
import { formatOutpoint, fromHex, makeOutpoint, type TokenId } from '@quoin/primitives'
import { openStore } from '@quoin/store'
import { describe, expect, it } from 'vitest'
import { TokenNode } from '../node.testing.ts'
import { specifiedState } from '../specification.testing.ts'
import { DISCOVERY, topicOf } from '../topic-names.ts'
import { VECTORS_FILE, type VectorDocument, vectorText } from './document.testing.ts'

const text = readFileSync(new URL(`../../../../${VECTORS_FILE}`, import.meta.url), 'utf8')
const { vectors } = JSON.parse(text) as VectorDocument

describe(VECTORS_FILE, () => {
  it('is what npm run vectors writes', () => {
    expect(text === vectorText(), `${VECTORS_FILE} has changed: npm run vectors`).toBe(true)
  })

  it('has at least 150 vectors, each with a name of its own and small', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150)
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    for (const { name, transaction, history } of vectors) {
      expect(transaction.length + history.join('').length, name).toBeLessThan(8000)
    }
  })

  it('has what was known to differ', () => {
    const named = new Set(vectors.flatMap(({ differs = {} }) => Object.keys(differs)))
    expect([...named].sort()).toEqual(['1sat-2025', '1sat-2026', 'indexer', 'ts-stack'])
  })
})

describe('the specification has', () => {
  it.each(vectors.map(vector => [vector.name, vector] as const))(
    '%s',
    (_, { history, transaction, admitted }) => {
      const transactions = [...history, transaction].map(hex => parseTransaction(fromHex(hex)))
      const { txid } = transactions.at(-1)!
      const state = specifiedState(transactions)
      for (const [token, vouts] of Object.entries(admitted)) {
        const made = transactions
          .at(-1)!
          .outputs.map((_output, vout) => formatOutpoint(makeOutpoint(txid, vout), '_'))
        const valid = made.flatMap((outpoint, vout) => (state[token]?.outputs.includes(outpoint) ? vout : []))
        expect(valid).toEqual(vouts)
      }
    }
  )
})

describe('the engine', () => {
  it('admits the same, and reads the same attributes', async () => {
    const chain = new DevChain()
    for (const { name, history, transaction, admitted, attributes } of vectors) {
      // The same deployments are spent by many vectors.
      const store = await openStore('memory:')
      const node = new TokenNode(store, { chain, activation: 'all' })
      const tokens = Object.keys(admitted) as TokenId[]
      const topics = [DISCOVERY, ...tokens.map(topicOf)]
      let steak: Steak = {}
      for (const each of [...history, transaction].map(hex => parseTransaction(fromHex(hex)))) {
        const beef = Beef.of([{ txid: each.txid, transaction: each, bump: undefined }])
        // Vectors are about tokens: their inputs have no signatures.
        steak = await node.engine.submit({ beef, topics }, 'historical-tx-no-spv')
      }
      for (const token of tokens) {
        expect(steak[topicOf(token)]!.outputsToAdmit, name).toEqual(admitted[token])
      }
      if (attributes) {
        const token = await node.tokens.token(tokens[0]!)
        const found = { sym: token!.sym, dec: token!.dec, icon: token!.icon }
        expect(found, name).toEqual({ sym: undefined, icon: undefined, ...attributes })
      }
      await node.close()
      await store.close()
    }
  })
})
