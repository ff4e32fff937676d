/** `docs/bsv21-vectors.json`: the vectors as anybody's test reads them. */
import { toHex } from '@quoin/primitives'
import { accountingCases } from './accounting-cases.testing.ts'
import { binaryCases } from './binary-cases.testing.ts'
import { jsonCases } from './json-cases.testing.ts'
import { type Expectation, History, IMPLEMENTATIONS, type VectorCase } from './vector-case.testing.ts'

export const VECTORS_FILE = 'docs/bsv21-vectors.json'

interface Vector {
  readonly name: string
  readonly why: string
  /** Raw transactions in hexadecimal, each after the ones that it spends. */
  readonly history: readonly string[]
  readonly transaction: string
  readonly admitted: Expectation['admitted']
  readonly attributes?: Expectation['attributes']
  readonly differs?: VectorCase['differs']
}

export interface VectorDocument {
  readonly format: 1
  readonly specifications: Readonly<Record<string, string>>
  readonly implementations: typeof IMPLEMENTATIONS
  readonly vectors: readonly Vector[]
}

const vectorOf = ({ group, name, why, differs, build }: VectorCase): Vector => {
  const history = new History()
  const { admitted, attributes } = build(history)
  const raw = history.transactions.map(({ raw: bytes }) => toHex(bytes))
  return {
    name: `${group}: ${name}`,
    why,
    history: raw.slice(0, -1),
    transaction: raw.at(-1)!,
    admitted,
    ...(attributes && { attributes }),
    ...(differs && { differs })
  }
}

const vectorDocument = (): VectorDocument => ({
  format: 1,
  specifications: {
    'BRC-161': 'bsv-blockchain/BRCs 0e7cd42, tokens/0161.md',
    'BRC-162': 'bsv-blockchain/BRCs 0e7cd42, tokens/0162.md ("1Color", a draft)',
    'BRC-176': 'bsv-blockchain/BRCs 189f905, tokens/0176.md (a draft)',
    'BRC-207': 'bsv-blockchain/BRCs 25bcb4a, wallet/0207.md (a draft)'
  },
  implementations: IMPLEMENTATIONS,
  vectors: [...jsonCases, ...accountingCases, ...binaryCases].map(vectorOf)
})

/** One line for each vector. */
export const vectorText = (): string => {
  const { vectors, ...head } = vectorDocument()
  const lines = vectors.map(vector => `    ${JSON.stringify(vector)}`)
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "vectors": [\n${lines.join(',\n')}\n  ]\n}\n`
}
