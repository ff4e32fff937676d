/** `quoin keyspace doc`: the reference of all keys. */
import { describeKeyspace, documentKeyspaces } from '@quoin/keyspace'
import { EXIT, printJson } from '@quoin/primitives/command'
import { shipped } from './shipped.ts'

export const doc = async (json: boolean): Promise<number> => {
  const { shippedKeyspaces } = await shipped()
  if (json) printJson(shippedKeyspaces.map(describeKeyspace))
  else process.stdout.write(documentKeyspaces(shippedKeyspaces))
  return EXIT.ok
}
