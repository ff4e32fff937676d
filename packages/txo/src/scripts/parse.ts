/**
 * All parsers, in the order of their results. They run for every output of every transaction. Most outputs are plain
 * payments, which have a check of their own before the parsers.
 */
import { isP2pkh } from '@quoin/chain'
import { aipParser } from './aip.ts'
import { bParser } from './b.ts'
import { bapParser } from './bap.ts'
import { bitcomParser } from './bitcom.ts'
import { bsv21Parser } from './bsv21.ts'
import { cosignParser } from './cosign.ts'
import { inscriptionParser } from './inscription.ts'
import { lockParser } from './lock.ts'
import { ltmParser } from './ltm.ts'
import { mapParser } from './map.ts'
import { ordLockParser } from './ordlock.ts'
import { p2pkhParser } from './p2pkh.ts'
import type { ParseResult, ScriptContext, ScriptParser } from './parser.ts'
import { pow20Parser } from './pow20.ts'
import { pushDropParser } from './pushdrop.ts'
import { shrugParser } from './shrug.ts'
import { sigmaParser } from './sigma.ts'
import { ScriptView } from './view.ts'

/** Parsers by tag. */
export const PARSERS: ReadonlyMap<string, ScriptParser> = new Map(
  [
    p2pkhParser,
    lockParser,
    inscriptionParser,
    bsv21Parser,
    ordLockParser,
    cosignParser,
    ltmParser,
    pow20Parser,
    shrugParser,
    pushDropParser,
    bitcomParser,
    bParser,
    mapParser,
    aipParser,
    bapParser,
    sigmaParser
  ].map(parser => [parser.tag, parser])
)

const ALL_TAGS: readonly string[] = [...PARSERS.keys()]

/**
 * The results of the parsers with these tags, all of them unless given. A tag without a parser is ignored: check tags
 * of user input against `PARSERS`.
 */
export const parseScript = (
  context: ScriptContext,
  tags: readonly string[] = ALL_TAGS
): readonly ParseResult[] => {
  const view = new ScriptView(context.script)
  const found: ParseResult[] = []
  for (const tag of isP2pkh(context.script) ? plainly(tags) : tags) {
    const parsed = PARSERS.get(tag)?.parse(view, context)
    if (parsed) found.push({ tag, ...parsed })
  }
  return found
}

const PLAIN: readonly string[] = [p2pkhParser.tag]
const plainly = (tags: readonly string[]): readonly string[] =>
  tags === ALL_TAGS || tags.includes(p2pkhParser.tag) ? PLAIN : []
