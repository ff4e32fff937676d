/** The form that the routes of the admin plane share. */

import { JSON_TYPE, json, type Method, type RouteResponse } from '@quoin/http'
import { Type } from '@sinclair/typebox'

const Data = Type.Object({ status: Type.Literal('success'), data: Type.Unknown() })
const DONE = { 200: { description: 'Done.', content: { [JSON_TYPE]: Data } } }

/** As overlay-express has it. */
export const success = (data: unknown): RouteResponse => json({ status: 'success', data })

export const admin = (method: Method, path: string, name: string, summary: string) => ({
  method,
  path: `/admin/${path}`,
  name,
  summary,
  tag: 'admin' as const,
  responses: DONE
})
