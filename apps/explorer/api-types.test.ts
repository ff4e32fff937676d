import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { generateTypes, TYPES_FILE } from './api-types.ts'

it('the types of the interface are those that the node describes: npm run explorer:types', async () => {
  expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await generateTypes())
})
