/** `keyspace check`: the proofs of keyspaces, and of the stores that they share. */

import { hasCode } from '@quoin/primitives'
import { EXIT, milliseconds, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import type { Finding } from '../proof/findings.ts'
import { PROPERTIES, type Proof, type Verdict } from '../proof/prove.ts'
import type { KeyspaceSource, LoadedKeyspaces } from './source.ts'

export const check = async (load: KeyspaceSource['load'], json: boolean): Promise<number> => {
  const start = performance.now()
  let all: ReturnType<typeof proofsOf>
  try {
    all = proofsOf(await load())
  } catch (error) {
    if (!hasCode(error, 'ERR_KEYSPACE_UNSOUND')) throw error
    const findings = error.details['findings'] as readonly Finding[]
    if (json) printJson({ sound: false, findings })
    else {
      print(paint('red', 'unsound'))
      for (const { property, message } of findings) print(`  ${paint('red', property)}  ${message}`)
    }
    return EXIT.no
  }
  const time = performance.now() - start
  if (json) printJson({ sound: true, milliseconds: time, ...all })
  else {
    const { keyspaces, stores } = all
    for (const { name, collections, states, verdicts } of keyspaces) {
      print(`${paint('bold', name)}  ${plural(collections, 'collection')}, ${states} states`)
      print(`${verdictTable(verdicts)}\n`)
    }
    for (const { name, members, verdicts } of stores) {
      print(`${paint('bold', `store: ${name}`)}  ${members.join(', ')}`)
      print(`${verdictTable(verdicts)}\n`)
    }
    const count = keyspaces.reduce((sum, { collections }) => sum + collections, 0)
    const summary = `${keyspaces.length} keyspaces, ${count} collections, ${stores.length} stores`
    print(`${paint('green', 'sound')}: ${summary}, in ${milliseconds(time)}`)
  }
  return EXIT.ok
}

const proofsOf = ({ keyspaces, stores }: LoadedKeyspaces) => ({
  keyspaces: keyspaces.map(({ name, all, proof }) => ({ name, collections: all.length, ...proof })),
  stores: stores.map(({ name, members, proofs }) => ({
    name,
    members: members.map(member => member.name),
    verdicts: sumVerdicts(proofs)
  }))
})

/** The verdicts on a store: the sums over the proofs of its keyspaces as they joined. */
const sumVerdicts = (proofs: readonly Proof[]): Verdict[] => {
  const all = proofs.flatMap(({ verdicts }) => verdicts)
  return Array.from(new Set(all.map(({ property }) => property)), property =>
    all
      .filter(verdict => verdict.property === property)
      .reduce((sum, verdict) => ({
        property,
        holds: sum.holds && verdict.holds,
        checks: sum.checks + verdict.checks,
        visited: sum.visited + verdict.visited,
        milliseconds: sum.milliseconds + verdict.milliseconds
      }))
  )
}

const verdictTable = (verdicts: readonly Verdict[]): string =>
  table(
    verdicts.map(({ property, holds, checks, visited, milliseconds: time }) => [
      `  ${property}`,
      holds ? paint('green', 'holds') : paint('red', 'fails'),
      PROPERTIES[property],
      plural(checks, 'check'),
      `${visited} states visited`,
      milliseconds(time)
    ])
  )
