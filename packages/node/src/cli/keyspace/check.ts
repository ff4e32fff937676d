/** `quoin keyspace check`: the proofs of everything that is shipped. */
import { type Finding, PROPERTIES, type Proof, type Verdict } from '@quoin/keyspace'
import { QuoinError } from '@quoin/primitives'
import { EXIT, milliseconds, paint, plural, print, printJson, table } from '@quoin/primitives/command'
import { shipped } from './shipped.ts'

export const check = async (json: boolean): Promise<number> => {
  const start = performance.now()
  let all: Awaited<ReturnType<typeof proofs>>
  try {
    all = await proofs()
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'ERR_KEYSPACE_UNSOUND') throw error
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
    const what = `${keyspaces.length} keyspaces, ${count} collections, ${stores.length} stores`
    print(`${paint('green', 'sound')}: ${what}, in ${milliseconds(time)}`)
  }
  return EXIT.ok
}

const proofs = async () => {
  const { shippedKeyspaces, shippedStores } = await shipped()
  return {
    keyspaces: shippedKeyspaces.map(({ name, all, proof }) => ({ name, collections: all.length, ...proof })),
    stores: shippedStores().map(({ name, members, proofs: joining }) => ({
      name,
      members: members.map(member => member.name),
      verdicts: addedUp(joining)
    }))
  }
}

/** The verdicts on a store: what was decided as each of its keyspaces joined, added up. */
const addedUp = (joining: readonly Proof[]): Verdict[] => {
  const all = joining.flatMap(({ verdicts }) => verdicts)
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
