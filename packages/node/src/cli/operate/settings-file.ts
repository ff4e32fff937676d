/**
 * A file of settings that explains itself: every setting with its description, the chosen ones with their values, all
 * others as comments with their defaults.
 */
import { stringify } from 'yaml'
import { SETTINGS, type Setting } from '../../server/settings.ts'

/** Values by the keys of their settings: `limits.body`. */
export type ChosenSettings = ReadonlyMap<string, unknown>

const WIDTH = 100
/** On one line each. */
const FLOW = { collectionStyle: 'flow', lineWidth: 0 } as const

export const settingsFile = (title: string, chosen: ChosenSettings): string => {
  const sections: string[] = []
  for (const [group, settings] of groups()) {
    const lines = settings.flatMap(setting => settingLines(setting, chosen))
    if (group === undefined) sections.push(lines.join('\n'))
    else {
      const isChosen = settings.some(({ key }) => chosen.has(key))
      const all = [`${isChosen ? '' : '# '}${group}:`, ...lines.map(line => indented(line, isChosen))]
      sections.push(all.join('\n'))
    }
  }
  return `${[...title.split('\n').map(line => `# ${line}`.trimEnd()), '', ...sections].join('\n')}\n`
}

/** Settings in their order, those of a group together. */
const groups = (): [group: string | undefined, settings: Setting[]][] => {
  const found: [string | undefined, Setting[]][] = []
  for (const setting of SETTINGS) {
    const group = setting.path.length > 1 ? setting.path[0]! : undefined
    const last = found.at(-1)
    if (last && last[0] === group && group !== undefined) last[1].push(setting)
    else found.push([group, [setting]])
  }
  return found
}

const settingLines = (
  { key, path, description, secret, ...setting }: Setting,
  chosen: ChosenSettings
): string[] => {
  const name = path.at(-1)!
  const about = wrapped(secret ? `${description} (secret)` : description).map(line => `# ${line}`)
  if (chosen.has(key)) return [...about, `${name}: ${stringify(chosen.get(key), FLOW).trimEnd()}`]
  const value = setting.default
  return [...about, value === undefined ? `#${name}:` : `#${name}: ${stringify(value, FLOW).trimEnd()}`]
}

/** In a group that is a comment whole, a description keeps its own hash: without the first one the group is valid. */
const indented = (line: string, isChosen: boolean): string =>
  isChosen ? `  ${line}` : `#   ${line.replace(/^#(?! )/, '')}`

const wrapped = (text: string): string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
