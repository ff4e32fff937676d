import { Type } from './typebox.ts'

/** The schema of the cursor at the end of a page. */
export const Cursor = Type.Union([Type.String(), Type.Null()], {
  description: 'For the next page; null on the last.'
})
