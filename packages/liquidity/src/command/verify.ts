/** `quoin liquidity verify`: derives every index and sum again, and prints the differences. */
import { EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { parseLimit, withLiquidity } from './arguments.ts'

export const verify = async (url: string, limit: string, json: boolean): Promise<number> => {
  const found = await withLiquidity(url, async state => {
    const differences = []
    for await (const difference of state.verify({ limit: parseLimit(limit) })) differences.push(difference)
    return differences
  })
  if (json) {
    printJson({
      valid: found.length === 0,
      differences: found.map(({ collection, key, stored = null, derived = null }) => ({
        collection,
        key,
        stored,
        derived
      }))
    })
  } else {
    for (const { collection, key, stored = 'nothing', derived = 'nothing' } of found) {
      print(`${paint('bold', collection)} ${key}`)
      print(`  stored   ${stored}`)
      print(`  derived  ${derived}`)
    }
    print(
      found.length > 0
        ? paint('red', plural(found.length, 'difference'))
        : paint('green', 'everything is what follows from the positions')
    )
  }
  return found.length > 0 ? EXIT.no : EXIT.ok
}
