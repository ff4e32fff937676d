/**
 * The admissions of a transaction as stored: `16 ‖ topics ‖ topic ‖ admitted ‖ retained ‖ removed ‖ previous ‖ flags ‖ …`. A
 * topic is a text of `compact-text.ts`, the four lists of indexes and all counts are LEB128, and by the flags the
 * forgotten outputs (1) and the refusals (2) follow as texts. No JSON text begins with the first byte.
 */
import { value } from '@quoin/keyspace'
import { QuoinError, valueError } from '@quoin/primitives'
import { ByteReader, ByteWriter } from '@quoin/txo'
import type { Admission, Admissions } from './keys.ts'

const FORM = 16
const [FORGOTTEN, REFUSED] = [1, 2] as const
const LISTS = ['outputsToAdmit', 'coinsToRetain', 'coinsRemoved', 'previousCoins'] as const

const encode = (admissions: Admissions): Uint8Array => {
  const writer = new ByteWriter()
  const entries = Object.entries(admissions)
  writer.byte(FORM)
  writer.count(entries.length)
  for (const [topic, admission] of entries) {
    writer.text(topic)
    for (const list of LISTS) {
      writer.count(admission[list].length)
      for (const index of admission[list]) {
        if (!Number.isSafeInteger(index) || index < 0) throw valueError('index', index, 'a whole number')
        writer.count(index)
      }
    }
    const { forgotten, refused } = admission
    writer.byte((forgotten ? FORGOTTEN : 0) | (refused ? REFUSED : 0))
    if (forgotten) writeTexts(writer, forgotten)
    if (refused) writeTexts(writer, Object.entries(refused).flat())
  }
  return writer.finish()
}

const writeTexts = (writer: ByteWriter, texts: readonly string[]): void => {
  writer.count(texts.length)
  // Reasons are texts of plug-ins: a lone surrogate is replaced, as in UTF-8.
  for (const text of texts) writer.text(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
}

const decode = (bytes: Uint8Array): Admissions => {
  const reader = new ByteReader(bytes)
  if (reader.byte() !== FORM) throw reader.damaged('it has another form')
  const admissions: Record<string, Admission> = {}
  for (let left = reader.count(); left > 0; left--) {
    const topic = reader.text()
    const [outputsToAdmit, coinsToRetain, coinsRemoved, previousCoins] = LISTS.map(() =>
      Array.from({ length: reader.length() }, () => reader.count())
    ) as [number[], number[], number[], number[]]
    const flags = reader.byte()
    const forgotten = flags & FORGOTTEN ? readTexts(reader) : undefined
    const refused = flags & REFUSED ? readTexts(reader) : undefined
    admissions[topic] = {
      outputsToAdmit,
      coinsToRetain,
      coinsRemoved,
      previousCoins,
      ...(forgotten && { forgotten }),
      ...(refused && { refused: pairsOf(refused) })
    }
  }
  if (!reader.isAtEnd) throw reader.damaged('bytes follow its end')
  return admissions
}

const readTexts = (reader: ByteReader): string[] =>
  Array.from({ length: reader.length() }, () => reader.text())

const pairsOf = (texts: readonly string[]): Record<string, string> => {
  if (texts.length % 2 !== 0) throw new QuoinError('ERR_VALUE_DECODE', 'a refusal lacks its reason')
  return Object.fromEntries(texts.flatMap((text, i) => (i % 2 === 0 ? [[text, texts[i + 1]!]] : [])))
}

export const admissionsValue = value<Admissions>({ name: 'admissions', encode, decode })
