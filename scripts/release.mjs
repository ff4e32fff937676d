/**
 * The `version` script of npm: after `npm version minor` has set the version of the workspace, sets it in every package,
 * in the dependencies between them and in the lockfile, and moves the files of `.changes/` into CHANGELOG.md.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SECTIONS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
const UNRELEASED = '## Unreleased'

const readJson = path => JSON.parse(readFileSync(path, 'utf8'))
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

/** The bullets of each section, by its name. */
const sectionsOf = (text, origin) => {
  const [before, ...parts] = text.split(/^### /m)
  if (before.trim() !== '')
    throw new Error(`${origin}: expected a heading "### Added", found: ${before.trim()}`)
  return parts.map(part => {
    const [name, ...lines] = part.split('\n')
    if (!SECTIONS.includes(name.trim()))
      throw new Error(`${origin}: invalid section: ${name}; expected one of ${SECTIONS.join(', ')}`)
    return [name.trim(), lines.join('\n').trim()]
  })
}

const writeChangelog = version => {
  const changes = readdirSync('.changes').filter(name => name.endsWith('.md') && name !== 'README.md')
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const start = changelog.indexOf(UNRELEASED) + UNRELEASED.length
  if (start < UNRELEASED.length) throw new Error(`CHANGELOG.md: expected the heading "${UNRELEASED}"`)
  const next = changelog.indexOf('\n## ', start)
  const end = next < 0 ? changelog.length : next
  const found = [
    ...sectionsOf(changelog.slice(start, end), 'CHANGELOG.md'),
    ...changes.flatMap(name => sectionsOf(readFileSync(join('.changes', name), 'utf8'), `.changes/${name}`))
  ]
  if (found.length === 0) throw new Error('nothing to release: .changes/ has no file')
  const released = SECTIONS.flatMap(section => {
    const bullets = found.filter(([name]) => name === section).map(([, text]) => text)
    return bullets.length > 0 ? [`### ${section}\n\n${bullets.join('\n')}\n`] : []
  })
  const date = new Date().toISOString().slice(0, 10)
  const rest = changelog.slice(end).trimStart()
  const text = `${changelog.slice(0, start)}\n\n## ${version} - ${date}\n\n${released.join('\n')}${rest && `\n${rest}`}`
  writeFileSync('CHANGELOG.md', text)
  for (const name of changes) rmSync(join('.changes', name))
}

/** Sets the version of the packages among the dependencies of a manifest, with the range operator that they have. */
const withVersions = (manifest, names, version) => {
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
    for (const name of Object.keys(manifest[kind] ?? {}))
      if (names.has(name)) manifest[kind][name] = manifest[kind][name].replace(/\d.*/, version)
}

const version = readJson('package.json').version
writeChangelog(version)

const folders = readdirSync('packages').map(name => join('packages', name))
const names = new Set(folders.map(folder => readJson(join(folder, 'package.json')).name))
const examples = existsSync('examples') ? readdirSync('examples').map(name => join('examples', name)) : []
for (const folder of ['.', ...folders, ...examples]) {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) continue
  const manifest = readJson(path)
  if (folders.includes(folder)) manifest.version = version
  withVersions(manifest, names, version)
  writeJson(path, manifest)
}
const lock = readJson('package-lock.json')
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path.includes('node_modules/')) continue
  if (path === '' || 'version' in entry) entry.version = version
  withVersions(entry, names, version)
}
lock.version = version
writeJson('package-lock.json', lock)
execFileSync('git', ['add', '--all'])
