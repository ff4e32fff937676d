/** Prints the files of a package, or of all, with the first sentence of each: `npm run files -- store`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = 'packages'
const OTHER = /\.(test|testing|bench|d)\.tsx?$|(^|\/)fixtures\//

const headline = text => {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? []
  const prose =
    comment
      .replaceAll(/^ *\* ?/gm, '')
      .split(/^\s*$/m)
      .find(part => part.trim() !== '') ?? ''
  return prose
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:;]) (?=[A-Z`])/)[0]
}

const [chosen] = process.argv.slice(2)
for (const name of chosen === undefined ? readdirSync(PACKAGES) : [chosen]) {
  const root = join(PACKAGES, name, 'src')
  const files = readdirSync(root, { recursive: true }).filter(
    path => /\.tsx?$/.test(path) && !OTHER.test(path)
  )
  process.stdout.write(`${root}\n`)
  for (const path of files.sort())
    process.stdout.write(`  ${path.padEnd(36)} ${headline(readFileSync(join(root, path), 'utf8'))}\n`)
}
