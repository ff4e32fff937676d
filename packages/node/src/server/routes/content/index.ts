/** Content of outputs as an ordinal file system: files, directories, files in parts, metadata and previews. */
import type { Route } from '@quoin/http'
import type { Context } from '../../context.ts'
import { contentFileRoute } from './file.ts'
import { metadataRoutes } from './metadata.ts'
import { previewRoutes } from './preview.ts'
import { contentStreamRoute } from './stream.ts'

export const contentRoutes = (context: Context): Route[] => {
  const { content } = context.options
  if (content === false) return []
  const origin = content?.origin
  return [
    contentFileRoute(context, origin),
    contentStreamRoute(context, origin),
    ...metadataRoutes(context),
    ...previewRoutes(origin)
  ]
}
