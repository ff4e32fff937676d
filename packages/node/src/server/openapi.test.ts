/** The description says what the server does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { said, startNode, type TestNode } from './node.testing.ts'
import type { OpenApi } from './openapi.ts'

let node: TestNode
beforeAll(async () => {
  node = await startNode('memory:', { adminToken: 'x', arcToken: 'y', backups: 'nowhere' })
})
afterAll(() => node.close())

const description = (): Promise<OpenApi> => said(node.get('/openapi.json'))

it('has every route once, each with a name of its own', async () => {
  const { openapi, paths } = await description()
  expect(openapi).toBe('3.1.0')
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method} ${path}`)
  )
  const routes = node.server.routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')}`
  )
  expect(described.sort()).toEqual(routes.sort())
  const names = Object.values(paths).flatMap(methods => Object.values(methods).map(each => each.operationId))
  expect(new Set(names).size).toBe(names.length)
  // Two templates of one shape would be the same path.
  const shapes = Object.keys(paths).map(path => path.replaceAll(/\{\w+\}/g, '{}'))
  expect(new Set(shapes).size).toBe(shapes.length)
})

it('names the parameters of each path, refers only to what is there, and is plain JSON Schema', async () => {
  const whole = await description()
  for (const [path, methods] of Object.entries(whole.paths)) {
    for (const { parameters, responses } of Object.values(methods)) {
      const named = parameters.filter(each => each.in === 'path').map(({ name }) => name)
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(parameters.filter(each => each.in === 'path').every(each => each.required)).toBe(true)
      expect(Object.keys(responses)).toContain('default')
    }
  }
  const text = JSON.stringify(whole)
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!)
  expect(references.length).toBeGreaterThan(0)
  for (const name of references) expect(Object.keys(whole.components.schemas)).toContain(name)
  expect(text).not.toContain('$id')
})

it('says what is behind a token, and what a header holds', async () => {
  const { paths } = await description()
  expect(paths['/admin/evict']?.['post']?.security).toEqual([{ token: [] }])
  expect(paths['/submit']?.['post']?.security).toBeUndefined()
  const [topics] = paths['/submit']!['post']!.parameters
  expect(topics).toMatchObject({ name: 'x-topics', in: 'header', required: true })
  expect(topics?.schema).toMatchObject({ type: 'string', maxLength: 13202 })
})

it('is a page for people, that loads nothing from anywhere', async () => {
  for (const path of ['/', '/docs']) {
    const response = await node.get(path)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await response.text()
    expect(html).toContain('/txo/outpoint/{outpoint}')
    expect(html).not.toMatch(/<script|src=|https?:\/\//)
  }
})
