import type { AdmittanceInstructions, TopicManager } from '@bsv/overlay'
import { Transaction } from '@bsv/sdk'
import { entryOf } from '../entry.js'

/** Admits the entries of a guestbook. */
export default class GuestbookTopicManager implements TopicManager {
  async identifyAdmissibleOutputs(beef: number[], previousCoins: number[]): Promise<AdmittanceInstructions> {
    const { outputs } = Transaction.fromBEEF(beef)
    const outputsToAdmit = outputs.flatMap(({ lockingScript }, index) =>
      entryOf(lockingScript) === undefined ? [] : [index]
    )
    return { outputsToAdmit, coinsToRetain: previousCoins }
  }

  async getDocumentation(): Promise<string> {
    return '# Guestbook\n\nEntries are PushDrop outputs with the fields `guestbook` and a text of at most 280 characters.'
  }

  async getMetaData(): Promise<{ name: string; shortDescription: string }> {
    return { name: 'Guestbook', shortDescription: 'Entries of a guestbook.' }
  }
}
