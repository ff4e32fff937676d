/** `keyspace diff`: two keyspaces, collection by collection. */
import { EXIT, paint, print, printJson } from '@quoin/primitives/command'
import { type CollectionChange, diffKeyspaces } from '../diff.ts'
import { findKeyspace, type KeyspaceSource } from './source.ts'

const COLOURS = { same: 'dim', changed: 'yellow', 'only in first': 'red', 'only in second': 'green' } as const

export const diff = async (
  load: KeyspaceSource['load'],
  first: string,
  second: string,
  json: boolean,
  exitCode: boolean
): Promise<number> => {
  const loaded = await load()
  const changes = diffKeyspaces(findKeyspace(loaded, first), findKeyspace(loaded, second))
  const differ = changes.some(({ change }) => change !== 'same')
  if (json) printJson({ first, second, same: !differ, changes })
  else {
    const words = {
      same: 'same',
      changed: 'changed',
      'only in first': `only in ${first}`,
      'only in second': `only in ${second}`
    }
    for (const each of changes) {
      print(paint(COLOURS[each.change], `${each.collection}: ${words[each.change]}`))
      printChange(each)
    }
    const count = (kind: CollectionChange['change']): number =>
      changes.filter(({ change }) => change === kind).length
    print(
      `\n${count('same')} the same, ${count('changed')} changed, ${count('only in first')} only in ${first}, ${count('only in second')} only in ${second}`
    )
  }
  return exitCode && differ ? EXIT.no : EXIT.ok
}

const printChange = ({ change, first, second, sharedKey }: CollectionChange): void => {
  if (change === 'same') {
    print(`    ${first!.key}`)
    return
  }
  if (first) print(paint('red', `  - ${first.key}`))
  if (second) print(paint('green', `  + ${second.key}`))
  if (first && second && first.order !== second.order) {
    print(`    walked by ${first.order}`)
    print(`    walks by ${second.order}`)
  }
  if (sharedKey !== undefined) print(`    cannot be told apart: ${sharedKey} is a key of both`)
}
