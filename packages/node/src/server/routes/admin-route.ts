/** The form that the routes of the admin plane share. */
import { Type } from '@sinclair/typebox'
import { type Answer, JSON_TYPE, json, type Method } from '../route.ts'

const Data = Type.Object({ status: Type.Literal('success'), data: Type.Unknown() })
const DONE = { 200: { about: 'Done.', content: { [JSON_TYPE]: Data } } }

/** As overlay-express has it. */
export const success = (data: unknown): Answer => json({ status: 'success', data })

export const admin = (method: Method, path: string, name: string, about: string) => ({
  method,
  path: `/admin/${path}`,
  name,
  about,
  family: 'admin' as const,
  answers: DONE
})
