/** The members of a topic as its membership log has them: a fold that refuses each change that cannot follow. */
import { formatOutpoint, formatTxid, type Outpoint, type Topic } from '@quoin/primitives'
import { outputs as outputKeys } from './keys.ts'
import type { MembershipChange } from './membership.ts'
import type { OutputStore } from './output-store.ts'

/** By outpoint, the txid of the spender; undefined of an unspent member. */
export type Members = ReadonlyMap<string, string | undefined>

/** Folds the whole log. Throws at the first change that the changes before it do not allow. */
export const foldMembership = async (outputs: OutputStore, topic: Topic): Promise<Members> => {
  const members = new Map<string, string | undefined>()
  const log = outputs.membership(topic)
  for (let after = 0; ; ) {
    const { entries } = await log.read({ after, limit: 1000 })
    for (const { position, changes } of entries) {
      if (position !== after + 1) throw new Error(`entry ${position} of ${topic} follows entry ${after}`)
      for (const change of changes) apply(members, change, `${topic}@${position}`)
      after = position
    }
    if (entries.length === 0) return members
  }
}

const apply = (members: Map<string, string | undefined>, change: MembershipChange, at: string): void => {
  if ('txid' in change) return
  const outpoint = formatOutpoint(change.outpoint)
  const isMember = members.has(outpoint)
  const refuse = (why: string): never => {
    throw new Error(`${at}: ${change.kind} ${outpoint}, ${why}`)
  }
  if (change.kind === 'admitted' || (change.kind === 'restored' && change.spender === undefined)) {
    if (isMember) refuse('a member')
    members.set(outpoint, undefined)
    return
  }
  if (!isMember) refuse('not a member')
  const spender = members.get(outpoint)
  if (change.kind === 'spent') {
    const by = formatTxid(change.spender)
    if (spender === by) refuse(`spent by ${by} before`)
    members.set(outpoint, by)
  } else if (change.kind === 'restored') {
    const by = formatTxid(change.spender!)
    if (spender !== by) refuse(`spent by ${spender}, not by ${by}`)
    members.set(outpoint, undefined)
  } else members.delete(outpoint)
}

/** The members of a topic as the index has them. */
const indexedMembers = async (outputs: OutputStore, topic: Topic): Promise<Members> => {
  const { topicOutputs } = outputKeys.collections
  const outpoints: Outpoint[] = []
  for (const { member } of await outputs.store.use(topicOutputs).at(topic).range()) outpoints.push(member)
  const spenders = await outputs.spends(outpoints)
  return new Map(
    outpoints.map((outpoint, i) => {
      const spender = spenders[i]
      return [formatOutpoint(outpoint), spender ? formatTxid(spender) : undefined]
    })
  )
}

/** The first difference between the log of a topic and the index; undefined when they agree. */
export const membershipDifference = async (
  outputs: OutputStore,
  topic: Topic
): Promise<string | undefined> => {
  const [logged, indexed] = [await foldMembership(outputs, topic), await indexedMembers(outputs, topic)]
  for (const outpoint of new Set([...logged.keys(), ...indexed.keys()])) {
    const show = (members: Members): string =>
      members.has(outpoint) ? `spent by ${members.get(outpoint) ?? 'none'}` : 'not a member'
    if (show(logged) !== show(indexed))
      return `${outpoint} is ${show(logged)} in the log of ${topic}, ${show(indexed)} in the index`
  }
  return undefined
}
