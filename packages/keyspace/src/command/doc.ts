/** `keyspace doc`: the reference of all keys. */
import { EXIT, printJson } from '@quoin/primitives/command'
import { describeKeyspace, documentKeyspaces } from '../document.ts'
import type { KeyspaceSource } from './source.ts'

export const doc = async (load: KeyspaceSource['load'], json: boolean): Promise<number> => {
  const { keyspaces } = await load()
  if (json) printJson(keyspaces.map(describeKeyspace))
  else process.stdout.write(documentKeyspaces(keyspaces))
  return EXIT.ok
}
