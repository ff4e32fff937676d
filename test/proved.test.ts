import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shippedKeyspaces } from '../packages/node/src/keyspaces.ts'
import { provedFiles } from '../scripts/prove.ts'

describe('the fingerprints of proved keyspaces', () => {
  const files = [...provedFiles()]

  it.each(files)('of %s are those of its sound declarations: npm run prove', (_, { url, text }) => {
    expect(readFileSync(url, 'utf8')).toBe(text)
  })

  it('are of every keyspace that ships', async () => {
    const all = files.map(([, { text }]) => text).join('')
    for (const { name, fingerprint } of await shippedKeyspaces())
      expect(all, name).toContain(`'${fingerprint}'`)
  })
})
