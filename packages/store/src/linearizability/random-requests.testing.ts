/** Random requests over a universe so small that they keep meeting each other; a round has keys of its own. */
import type { Random } from '../../../../test/faults/random.ts'
import type { Request, TextRead, TextStep } from './store-specification.testing.ts'

const READS = ['get', 'hget', 'hgetall', 'smembers', 'zscore', 'zcard', 'zrows', 'due', 'leased'] as const
const CONDITIONS = [
  'valueIs',
  'valueAbsent',
  'fieldIs',
  'fieldAbsent',
  'scoreIs',
  'scoreAbsent',
  'memberPresent',
  'memberAbsent',
  'leaseHeld'
] as const
const WRITES = [
  ...['set', 'del', 'hset', 'hdel', 'sadd', 'srem', 'zadd', 'zrem', 'zincrby', 'zincrby', 'zcounter'],
  ...['append', 'append', 'enqueue', 'lease', 'lease', 'remove']
] as const
/** So far ahead that no lease ends during a history. */
const NEVER = 4e9

/** The requests of one client, which sends them one after the other. */
export const randomRequests = (random: Random, round: string, client: string, count: number): Request[] => {
  const pick = random.pick
  const chance = (of: number): boolean => random.real() < of
  let written = 0
  const tokens = [`${client}0`.padEnd(8, '-')]
  /** Few values, which conditions guess, and values that are written once. */
  const value = (): string => (chance(0.7) ? pick(['1', '2']) : `${client}.${written++}`)
  const member = (): string => pick(['m', 'n'])
  const key = (kind: string): string => `${round}${kind}${pick(['', "'"])}`
  const condition = (): TextStep => {
    const name = pick(CONDITIONS)
    if (name.startsWith('value'))
      return name === 'valueIs' ? [name, key('v'), pick(['1', '2'])] : [name, key('v')]
    if (name === 'fieldIs') return [name, key('h'), member(), pick(['1', '2'])]
    if (name === 'fieldAbsent') return [name, key('h'), member()]
    if (name === 'scoreIs') return [name, key('z'), member(), pick([1, 2])]
    if (name === 'scoreAbsent') return [name, key('z'), member()]
    if (name === 'leaseHeld') return [name, `${round}q`, member(), pick(tokens)]
    return [name, key('s'), member()]
  }
  const write = (): TextStep => {
    const name = pick(WRITES)
    if (name === 'set') return [name, key('v'), value()]
    if (name === 'del') return [name, key('v')]
    if (name === 'hset') return [name, key('h'), member(), value()]
    if (name === 'hdel') return [name, key('h'), member()]
    if (name === 'sadd' || name === 'srem') return [name, key('s'), member()]
    if (name === 'zadd') return [name, key('z'), member(), pick([1, 2])]
    if (name === 'zrem') return [name, key('z'), member()]
    if (name.startsWith('z')) return [name, key('z'), member(), pick([1, -1])]
    if (name === 'append') return [name, `${round}l`, chance(0.3) ? 'common' : `${client}.${written++}`]
    if (name === 'enqueue') return [name, `${round}q`, member(), 0, 1]
    if (name === 'remove') return [name, `${round}q`, member()]
    const token = `${client}${tokens.length}`.padEnd(8, '-')
    tokens.push(token)
    return [name, `${round}q`, token, pick([1, 2]), NEVER, 9, 1, 1]
  }
  const read = (): TextRead => {
    const name = pick(READS)
    if (name === 'get') return [name, key('v')]
    if (name === 'hgetall') return [name, key('h')]
    if (name === 'hget') return [name, key('h'), member()]
    if (name === 'smembers') return [name, key('s')]
    if (name === 'due' || name === 'leased') return [name, `${round}q`]
    if (name === 'zrows') return [name, pick([key('z'), `${round}l`])]
    return name === 'zcard' ? [name, key('z')] : [name, key('z'), member()]
  }
  const times = <T>(from: number, to: number, make: () => T): T[] =>
    Array.from({ length: from + random.below(to - from + 1) }, make)
  const request = (): Request => {
    const kind = random.real()
    if (kind < 0.3) return { read: read() }
    if (kind < 0.4) return { snapshot: times(2, 3, read) }
    if (kind < 0.6) return { batch: [write()] }
    return { batch: [...times(0, 2, condition), ...times(1, 3, write)] }
  }
  return Array.from({ length: count }, request)
}
