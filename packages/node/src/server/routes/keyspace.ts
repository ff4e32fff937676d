/** The keys of the store as they are declared, and raw keys explained. */

import { JSON_TYPE, json, type Route, type RouteResponse, route } from '@quoin/http'
import { type AnyKeyspace, describeKeyspace } from '@quoin/keyspace'
import { fromHex } from '@quoin/primitives'
import { Type } from '@sinclair/typebox'
import type { Context } from '../context.ts'

export const keyspaceRoutes = ({ options }: Context): Route[] => {
  // Declarations are proved when they are loaded, which a node that nobody asks need not wait for.
  const spaces = async (): Promise<readonly AnyKeyspace[]> =>
    options.keyspaces ?? (await (await import('../../keyspaces.ts')).storeKeyspaces())
  let described: RouteResponse | undefined
  return [
    route({
      method: 'get',
      path: '/keyspace',
      name: 'keyspaces',
      summary: 'Every collection of keys that a store may hold.',
      tag: 'keyspace',
      responses: {
        200: {
          description: 'As it is declared.',
          content: {
            [JSON_TYPE]: Type.Object({ keyspaces: Type.Array(KeyspaceDescription) })
          }
        }
      },
      async handle() {
        described ??= json({ keyspaces: (await spaces()).map(withVerdicts) })
        return described
      }
    }),
    route({
      method: 'get',
      path: '/keyspace/explain/:hex',
      name: 'explainKey',
      summary: 'The meaning of a raw key, byte by byte.',
      tag: 'keyspace',
      params: { hex: Type.String({ pattern: '^([0-9a-fA-F]{2}){0,2048}$' }) },
      responses: {
        200: {
          description: 'The collection of the key, or the nearest collection.',
          content: { [JSON_TYPE]: Explained }
        }
      },
      async handle({ params: { hex } }) {
        const key = fromHex(hex)
        const explained = (await spaces()).map(each => each.explain(key))
        const matches = explained.flatMap(each =>
          each.found ? [{ keyspace: each.keyspace, collection: each.collection, spans: each.spans }] : []
        )
        const [nearest = null] = explained
          .flatMap(each => (each.found || !each.nearest ? [] : [each.nearest]))
          .sort((a, b) => b.offset - a.offset)
        const found = matches.length > 0
        return json({ key: hex.toLowerCase(), found, matches, nearest: found ? null : nearest })
      }
    })
  ]
}

/** With its proof. */
const withVerdicts = (each: AnyKeyspace) => ({
  ...describeKeyspace(each),
  verdicts: each.proof.verdicts.map(({ property, holds, checks }) => ({ property, holds, checks }))
})

const KeyspaceDescription = Type.Object(
  {
    name: Type.String(),
    about: Type.String(),
    collections: Type.Array(
      Type.Object({
        name: Type.String(),
        about: Type.String(),
        key: Type.String({ description: 'The key as a pattern.' }),
        parts: Type.Array(
          Type.Union([
            Type.Object({ literal: Type.String({ description: 'In hex.' }) }),
            Type.Object({ component: Type.String(), codec: Type.String(), walksBy: Type.String() })
          ])
        ),
        minLength: Type.Integer(),
        maxLength: Type.Union([Type.Integer(), Type.Null()]),
        scans: Type.Array(Type.Object({ components: Type.Array(Type.String()), order: Type.String() })),
        holds: Type.String()
      })
    ),
    verdicts: Type.Array(
      Type.Object({
        property: Type.String({ description: 'P1 to P7.' }),
        holds: Type.Boolean(),
        checks: Type.Integer({ description: 'How many things were decided.' })
      })
    )
  },
  { $id: 'Keyspace' }
)

const Explained = Type.Object({
  key: Type.String(),
  found: Type.Boolean(),
  matches: Type.Array(
    Type.Object({
      keyspace: Type.String(),
      collection: Type.String(),
      spans: Type.Array(
        Type.Object({
          start: Type.Integer(),
          end: Type.Integer(),
          hex: Type.String(),
          component: Type.Optional(Type.String()),
          codec: Type.Optional(Type.String()),
          text: Type.String()
        })
      )
    })
  ),
  nearest: Type.Union([
    Type.Object({
      keyspace: Type.String(),
      collection: Type.String(),
      offset: Type.Integer(),
      expected: Type.String(),
      message: Type.String()
    }),
    Type.Null()
  ])
})
