/** Addresses of the page at the root of a host, and under a path of it. */
import { expect, it } from 'vitest'
import { baseOf, within } from './base.ts'

it('is the path above the assets, and nothing at the root or without a build', () => {
  expect(baseOf('https://node.example/assets/index-abc.js')).toBe('')
  expect(baseOf('https://node.example/overlay/quoin/assets/index-abc.js')).toBe('/overlay/quoin')
  expect(baseOf('http://localhost:5173/src/base.ts')).toBe('')
})

it('tells paths of the node from those of others on the host', () => {
  expect(within('/quoin/explore/tx/00', '/quoin')).toBe('/explore/tx/00')
  expect(within('/quoin/', '/quoin')).toBe('/')
  for (const path of ['/', '/quoin', '/quoins/explore', '/explore'])
    expect(within(path, '/quoin')).toBeUndefined()
  expect(within('/explore', '')).toBe('/explore')
})
