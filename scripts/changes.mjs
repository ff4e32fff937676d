/** Says whether a branch lacks its file in `.changes/`: `npm run changes -- [REF]`, against `main` unless given. */
import { execFileSync } from 'node:child_process'

const [ref = 'main'] = process.argv.slice(2)
const changed = execFileSync('git', ['diff', '--name-only', '--diff-filter=d', `${ref}...`], {
  encoding: 'utf8'
})
  .split('\n')
  .filter(path => path !== '')
const sources = changed.filter(
  path =>
    /^packages\/[^/]+\/(src|bin)\//.test(path) && !/\.(test|testing|bench)\.tsx?$|\/fixtures\//.test(path)
)
const hasFile = changed.some(path => /^\.changes\/(?!README).*\.md$/.test(path))
if (sources.length > 0 && !hasFile) {
  process.stderr.write(
    `changes: ${sources.length} source files differ from ${ref} and .changes/ has no file for it, such as:\n` +
      `  ${sources.slice(0, 5).join('\n  ')}\nAdd one (.changes/README.md), or say in the pull request why users notice nothing.\n`
  )
  process.exitCode = 1
}
