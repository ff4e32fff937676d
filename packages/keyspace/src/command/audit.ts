/** `keyspace audit`: proves a layout from a file. */
import { closeSync, openSync, readSync } from 'node:fs'
import { QuoinError, reasonOf } from '@quoin/primitives'
import { EXIT, paint, plural, print, printJson } from '@quoin/primitives/command'
import { auditLayout } from '../audit.ts'
import { type LayoutComponents, parseLayout } from '../file/parse.ts'
import { PROPERTIES } from '../proof/prove.ts'

/** The limit on the size of a file: 1,000 collections need about a tenth of it. */
const MAX_FILE_BYTES = 4 * 1024 * 1024
/** The limit on findings in the text; `--json` prints all. */
const MAX_PRINTED = 20

export const audit = (file: string, components: LayoutComponents | undefined, json: boolean): number => {
  const report = auditLayout(parseLayout(read(file), components))
  if (json) {
    printJson(report)
    return report.sound ? EXIT.ok : EXIT.no
  }
  for (const { name, key, sound, order } of report.collections) {
    print(`${verdict(sound)}  ${paint('bold', name)}  ${key}`)
    if (order) print(`         ${paint('dim', `walks by ${order}`)}`)
  }
  const { checked, overlapping } = report.pairs
  print(`${verdict(overlapping.length === 0)}  ${plural(checked, 'pair')}, ${overlapping.length} overlap`)
  for (const { property, message, witness } of report.findings.slice(0, MAX_PRINTED)) {
    print(
      `\n${paint('red', property)} ${PROPERTIES[property]}\n  ${message}\n  ${witness[0]}\n  ${witness[1]}`
    )
  }
  const found = report.findings.length
  if (found > MAX_PRINTED) print(`\n… and ${found - MAX_PRINTED} more (--json prints all)`)
  print(
    `\n${report.name}: ${report.sound ? paint('green', 'sound') : paint('red', `unsound, ${plural(found, 'finding')}`)}`
  )
  return report.sound ? EXIT.ok : EXIT.no
}

const verdict = (sound: boolean): string => (sound ? paint('green', 'sound  ') : paint('red', 'unsound'))

const read = (file: string): string => {
  const refuse = (reason: string, cause?: unknown): QuoinError =>
    new QuoinError('ERR_FILE', `cannot read ${file}: ${reason}`, { file, cause })
  let bytes: Uint8Array
  try {
    bytes = readAtMost(file, MAX_FILE_BYTES + 1)
  } catch (error) {
    throw refuse(reasonOf(error), error)
  }
  if (bytes.length > MAX_FILE_BYTES) throw refuse(`a layout has at most ${MAX_FILE_BYTES} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw refuse('it is not UTF-8', error)
  }
}

/** Reads the first bytes of a file, or of standard input for `-`. */
const readAtMost = (file: string, most: number): Uint8Array => {
  const descriptor = file === '-' ? 0 : openSync(file, 'r')
  try {
    const bytes = new Uint8Array(most)
    let length = 0
    while (length < most) {
      const read = readSync(descriptor, bytes, length, most - length, null)
      if (read === 0) break
      length += read
    }
    return bytes.subarray(0, length)
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}
