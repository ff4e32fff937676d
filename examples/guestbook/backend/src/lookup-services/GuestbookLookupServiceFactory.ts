import type {
  AdmissionMode,
  LookupFormula,
  LookupService,
  OutputAdmittedByTopic,
  OutputSpent,
  SpendNotificationMode
} from '@bsv/overlay'
import type { LookupQuestion } from '@bsv/sdk'
import type { Knex } from 'knex'
import { entryOf } from '../entry.js'

const TABLE = 'guestbook_entries'

interface EntryRow {
  txid: string
  outputIndex: number
  text: string
}

class GuestbookLookupService implements LookupService {
  readonly admissionMode: AdmissionMode = 'locking-script'
  readonly spendNotificationMode: SpendNotificationMode = 'none'

  constructor(private readonly knex: Knex) {}

  async outputAdmittedByTopic(payload: OutputAdmittedByTopic): Promise<void> {
    if (payload.mode !== 'locking-script' || payload.topic !== 'tm_guestbook') return
    const { txid, outputIndex, lockingScript } = payload
    const text = entryOf(lockingScript)
    if (text === undefined) return
    await this.knex<EntryRow>(TABLE)
      .insert({ txid, outputIndex, text })
      .onConflict(['txid', 'outputIndex'])
      .merge()
  }

  async outputSpent(payload: OutputSpent): Promise<void> {
    await this.#remove(payload.txid, payload.outputIndex)
  }

  async outputEvicted(txid: string, outputIndex: number): Promise<void> {
    await this.#remove(txid, outputIndex)
  }

  async lookup({ query }: LookupQuestion): Promise<LookupFormula> {
    const { text } = (query ?? {}) as { text?: unknown }
    const rows = this.knex<EntryRow>(TABLE).select('txid', 'outputIndex').orderBy('id')
    return typeof text === 'string' ? rows.where({ text }) : rows
  }

  async getDocumentation(): Promise<string> {
    return '# Guestbook\n\nThe query `{ "text": "…" }` finds the entries with a text, `{}` all.'
  }

  async getMetaData(): Promise<{ name: string; shortDescription: string }> {
    return { name: 'Guestbook', shortDescription: 'Finds the entries of a guestbook.' }
  }

  async #remove(txid: string, outputIndex: number): Promise<void> {
    await this.knex<EntryRow>(TABLE).where({ txid, outputIndex }).delete()
  }
}

export default (knex: Knex) => ({
  service: new GuestbookLookupService(knex),
  migrations: [
    {
      name: '2026-01-01-guestbook-entries',
      up: async (schema: Knex): Promise<void> => {
        await schema.schema.createTable(TABLE, table => {
          table.increments('id')
          table.string('txid', 64).notNullable()
          table.integer('outputIndex').notNullable()
          table.string('text', 280).notNullable().index()
          table.unique(['txid', 'outputIndex'])
        })
      },
      down: async (schema: Knex): Promise<void> => {
        await schema.schema.dropTable(TABLE)
      }
    }
  ]
})
