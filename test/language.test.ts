/**
 * The English of the sources (CONTRIBUTING.md, GLOSSARY.md): comments name things by their nouns, and types are nouns.
 * A failure lists the files with most placeholder words.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { countProse, participleTypes } from './language.testing.ts'

const CEILINGS = { placeholdersPer100Words: 0.5, participleTypes: 15 }

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OTHER_FOLDER = /(^|\/)(node_modules|dist|fixtures)\//
const SOURCE = /(?<!\.(test|testing|bench|d))\.tsx?$/
const sources = ['packages', 'apps']
  .flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(path => join(folder, path))
  )
  .filter(path => SOURCE.test(path) && !OTHER_FOLDER.test(path))
  .map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

describe('the measure', () => {
  it('counts words and placeholder words of comments, in sentences of four words or more', () => {
    const { words, hits } = countProse(`
      /** Such a row is one of those that we write. */
      const a = 'what is in a string does not count' // Who knows this.
      // See https://example.com/what/those for all of the words.
    `)
    expect(words).toBe(17)
    expect(hits.map(hit => hit.split(' ')[0])).toEqual(['Such', 'Such', 'See', 'See'])
  })

  it('finds types that are named by a participle alone', () => {
    const names = participleTypes(
      'export interface Said {}\ntype Setting = 1\nclass Waiting {}\ntype SaidRow = 1'
    )
    expect(names).toEqual(['Said', 'Setting', 'Waiting'])
  })
})

it('comments have few placeholder words', () => {
  const counts = sources.map(({ path, text }) => ({ path, ...countProse(text) }))
  const words = counts.reduce((sum, count) => sum + count.words, 0)
  const hits = counts.reduce((sum, count) => sum + count.hits.length, 0)
  const worst = counts
    .toSorted((a, b) => b.hits.length - a.hits.length)
    .slice(0, 10)
    .map(({ path, hits: found }) => `${found.length} in ${path}: ${found[0]}`)
  expect((100 * hits) / words, worst.join('\n')).toBeLessThanOrEqual(CEILINGS.placeholdersPer100Words)
})

it('types are nouns', () => {
  const types = sources.flatMap(({ path, text }) => participleTypes(text).map(name => `${name} in ${path}`))
  expect(types.length, types.join('\n')).toBeLessThanOrEqual(CEILINGS.participleTypes)
})

it('the glossary names things of the code as the code does', () => {
  const named = readFileSync(join(ROOT, 'GLOSSARY.md'), 'utf8').matchAll(
    /`([A-Z][A-Za-z]+|[a-z]+[A-Z][A-Za-z]*)`/g
  )
  for (const name of new Set([...named].map(([, word]) => word!))) {
    const declaration = new RegExp(`\\b(?:class|interface|type|const|function) ${name}\\b`)
    expect(
      sources.some(({ text }) => declaration.test(text)),
      name
    ).toBe(true)
  }
})

it('ARCHITECTURE.md gives the reason of every runtime dependency', () => {
  const rows = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').split('\n')
  for (const folder of readdirSync(join(ROOT, 'packages'))) {
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')
    )
    for (const name of Object.keys(dependencies).filter(each => !each.startsWith('@quoin/'))) {
      const [, users = ''] =
        rows.find(row => row.includes(`\`${name}\``) && row.startsWith('|'))?.split(' | ') ?? []
      expect(users.split(', '), name).toContain(folder)
    }
  }
})
