/** Measures of the English in TypeScript sources: placeholder words in comments, and types named by a participle. */

/** Words that stand where a noun of the code or of a standard belongs. */
const PLACEHOLDERS = new Set(['what', 'whatever', 'who', 'whoever', 'whichever', 'those', 'such'])
/** A shorter sentence is a label. */
const MIN_SENTENCE_WORDS = 4

const PARTICIPLE = /^[A-Z][a-z]*(ing|ed|id|ept|own)$/

/** Block comments, or a line comment; `://` of a URL is neither. */
const COMMENT = /\/\*(?<block>.*?)\*\/|(?<![:\w])\/\/(?<line>[^\n]*)/gs
const TYPE = /^(?:export )?(?:interface|class|type) (\w+)/gm

/** The prose of each comment, without the stars of its lines and without its tags (`@param`, `@example`). */
const proseOf = (source: string): string[] =>
  [...source.matchAll(COMMENT)].map(({ groups }) =>
    (groups!['block'] ?? groups!['line'] ?? '')
      .replaceAll(/^\s*\*+ ?/gm, '')
      .replace(/(?:^|\s)(?:@param|@ts-|@example|biome-ignore)\b.*$/s, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  )

export interface ProseCount {
  readonly words: number
  /** The sentences with a placeholder word, each as often as it has one. */
  readonly hits: readonly string[]
}

export const countProse = (source: string): ProseCount => {
  const sentences = proseOf(source)
    .flatMap(prose => prose.split(/(?<=[.;:])\s+/))
    .map(sentence => ({ sentence, words: sentence.split(' ').filter(word => word !== '') }))
    .filter(({ words }) => words.length >= MIN_SENTENCE_WORDS)
  return {
    words: sentences.reduce((sum, { words }) => sum + words.length, 0),
    hits: sentences.flatMap(({ sentence }) =>
      (sentence.toLowerCase().match(/[a-z]+/g) ?? [])
        .filter(word => PLACEHOLDERS.has(word))
        .map(() => sentence)
    )
  }
}

/** Types whose whole name ends as a participle does: `Waiting`, `Given`, and nouns such as `Setting`. */
export const participleTypes = (source: string): string[] =>
  [...source.matchAll(TYPE)].map(([, name]) => name!).filter(name => PARTICIPLE.test(name))
