/** `keyspace audit --explain`: a property with its story, and the proofs of the layout as it was and as it was mended. */
import { paint } from '@quoin/primitives/command'
import { auditLayout } from '../audit.ts'
import { layoutOf } from '../file/parse.ts'
import type { Property } from '../proof/findings.ts'
import { PROPERTIES } from '../proof/prove.ts'
import { STORIES } from '../stories.ts'
import { asText } from './as-text.ts'
import { witnessLines } from './witness.ts'

const WIDTH = 100

export const explainProperty = (property: Property): string => {
  const { meaning, where, story, broken, mended, remedies } = STORIES[property]
  const { findings } = auditLayout(layoutOf(broken))
  const finding = findings.find(each => each.property === property)
  const proof = finding
    ? [indented(finding.message), '', ...witnessLines(finding)]
    : ['  The proof finds nothing in it: the components of this package keep the property by construction.']
  return [
    `${paint('bold', property)} ${PROPERTIES[property]}`,
    '',
    ...wrapped(meaning),
    '',
    paint('bold', where),
    ...wrapped(story),
    '',
    'The layout as it was:',
    indented(asText(broken)),
    '',
    ...proof,
    '',
    `${paint('green', auditLayout(layoutOf(mended)).sound ? 'Sound' : 'Unsound')}:`,
    indented(asText(mended)),
    '',
    ...wrapped(`Remedies: ${remedies}`)
  ].join('\n')
}

const indented = (text: string): string => text.replace(/^/gm, '  ')

const wrapped = (text: string): string[] => {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
