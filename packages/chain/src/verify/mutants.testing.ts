/** Transactions and BEEFs that may be wrong, in one way or another, as a seed has it. */
import { chunksOf, OP } from '@quoin/primitives'
import { type Transaction, writeTransaction } from '../transaction.ts'
import { build, isAllowed, type Plan, TEMPLATES, TYPES } from './cases.testing.ts'
import { malleations, mutateBytes, withInputScript } from './mutations.testing.ts'
import { makeCase, SETS } from './sets.testing.ts'
import { ALL, joined, makeKey, type TestChain } from './test-chain.testing.ts'

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)]!

const randomPlan = (random: () => number): Plan => {
  const version = pick(random, [0, 1, 1, 1, 2, 2])
  const type = pick(
    random,
    TYPES.filter(each => isAllowed(each, version))
  )
  return {
    form: pick(random, TEMPLATES),
    version,
    type: random() < 0.7 ? ALL : type,
    other: pick(random, [undefined, undefined, undefined, 'before', 'after']),
    outputs: pick(random, [1, 2])
  }
}

/** A change of chunks, or of bytes. */
const spoiledScript = (script: Uint8Array, random: () => number): Uint8Array => {
  const pieces = chunksOf(script).chunks.map(({ start, end }) => script.subarray(start, end))
  const at = Math.floor(random() * pieces.length)
  const another = pick(random, STRAY)
  switch (Math.floor(random() * 6)) {
    case 0:
      return joined(...pieces.toSpliced(at, 1))
    case 1:
      return joined(...pieces.toSpliced(at, 0, pieces[at]!))
    case 2:
      return joined(...pieces.toSpliced(at, 0, another))
    case 3:
      return joined(...pieces, another)
    case 4:
      return joined(...pieces.toSpliced(at, 2, ...pieces.slice(at, at + 2).reverse()))
    default:
      return mutateBytes(script, random)
  }
}

const STRAY = [
  OP.N0,
  OP.N1,
  OP.N1NEGATE,
  OP.RESERVED,
  OP.NOP,
  OP.IF,
  OP.NOTIF,
  OP.ELSE,
  OP.ENDIF,
  OP.VERIFY,
  OP.RETURN,
  OP.DROP,
  OP['2DROP'],
  OP.DUP,
  OP.NIP,
  OP.CODESEPARATOR,
  OP.CHECKSIG,
  OP.CHECKSIGVERIFY,
  0xff
]
  .map(op => Uint8Array.of(op))
  .concat([
    Uint8Array.of(OP.PUSHDATA1, 0),
    Uint8Array.of(1, 5),
    Uint8Array.of(1, 0x81),
    Uint8Array.of(OP.PUSHDATA1, 2, 1, 1),
    Uint8Array.of(OP.PUSHDATA2, 1, 0, 99),
    Uint8Array.of(OP.PUSHDATA4, 1, 0, 0, 0, 99),
    Uint8Array.of(OP.PUSHDATA4, 255, 255, 255, 255, 1),
    Uint8Array.of(OP.N0, OP.IF, OP.RETURN, OP.ENDIF)
  ])

export interface Mutant {
  readonly name: string
  readonly chain: TestChain
  readonly beef: Uint8Array
}

/** Something that may be wrong, in one way or another. */
export const mutant = async (random: () => number): Promise<Mutant> => {
  const plan = randomPlan(random)
  const named = (how: string): string =>
    `${how}: ${plan.form.name}, version ${plan.version}, type ${plan.type}`
  const kind = random()
  if (kind < 0.3) {
    const { chain, transactions, index } = build(plan)
    const [parent, child] = transactions as [Transaction, Transaction]
    const script = pick(random, malleations(child.inputs[index]!.script))
    return { name: named('unlock'), chain, beef: chain.beef([parent, withInputScript(child, index, script)]) }
  }
  if (kind < 0.6) {
    const key = makeKey(`${plan.form.name} ${plan.version} ${plan.type}`)
    const { chain, transactions } = build({ ...plan, lock: spoiledScript(plan.form.lock(key), random) })
    return { name: named('lock'), chain, beef: chain.beef(transactions) }
  }
  if (kind < 0.65) {
    const { chain, transactions } = build({ ...plan, signer: makeKey('a stranger') })
    return { name: named('key'), chain, beef: chain.beef(transactions) }
  }
  if (kind < 0.7) {
    const excess = pick(random, [-1, 0, 1, 1000])
    const { chain, transactions } = build({ ...plan, excess })
    return { name: named(`excess ${excess}`), chain, beef: chain.beef(transactions) }
  }
  if (kind < 0.8) {
    const { chain, transactions } = build(plan)
    const [parent, child] = transactions as [Transaction, Transaction]
    return { name: named('changed'), chain, beef: chain.beef([parent, changed(child, random)]) }
  }
  const set = pick(random, [...SETS, 'a', 'a', 'c', 'd'] as const)
  const { chain, transactions } = await makeCase(set, Math.floor(random() * 3))
  const version = pick(random, [1, 1, 2] as const)
  const beef = mutateBytes(chain.beef(transactions, { version, atomic: random() < 0.2 }), random)
  return { name: `bytes: ${set}`, chain, beef }
}

/** A transaction that says something else than what was signed, which some signatures allow. */
const changed = (transaction: Transaction, random: () => number): Transaction => {
  const { inputs, outputs } = transaction
  const parts = { version: transaction.version, inputs, outputs, lockTime: transaction.lockTime }
  switch (Math.floor(random() * 6)) {
    case 0:
      return writeTransaction({ ...parts, lockTime: 18 })
    case 1:
      return writeTransaction({ ...parts, version: transaction.version === 1 ? 2 : 1 })
    case 2:
      return writeTransaction({ ...parts, outputs: outputs.toReversed() })
    case 3:
      return writeTransaction({ ...parts, outputs: outputs.slice(0, 1) })
    case 4:
      return writeTransaction({ ...parts, inputs: inputs.toReversed() })
    default:
      return writeTransaction({ ...parts, inputs: inputs.map(input => ({ ...input, sequence: 1 })) })
  }
}
