/** All routes of a server. */

import type { Route } from '@quoin/http'
import type { Context } from '../context.ts'
import { describedRoutes } from '../openapi.ts'
import { adminRoutes } from './admin.ts'
import { anchorRoutes } from './anchors.ts'
import { arcIngestRoutes } from './arc-ingest.ts'
import { beefRoutes } from './beef.ts'
import { broadcastRoutes } from './broadcast.ts'
import { chaintracksRoutes } from './chaintracks/index.ts'
import { contentRoutes } from './content/index.ts'
import { devRoutes } from './dev.ts'
import { healthRoutes } from './health.ts'
import { keyspaceRoutes } from './keyspace.ts'
import { kvRoutes } from './kv.ts'
import { liveRoutes } from './live.ts'
import { liveLookupRoutes } from './live-lookups.ts'
import { oneSatRoutes } from './onesat/index.ts'
import { overlayRoutes } from './overlay.ts'
import { syncRoutes } from './sync.ts'
import { txoRoutes } from './txo.ts'

export const allRoutes = (context: Context): readonly Route[] => {
  if (context.options.roles?.includes('api') === false) return healthRoutes(context)
  const routes = [
    ...overlayRoutes(context),
    ...arcIngestRoutes(context),
    ...broadcastRoutes(context),
    ...syncRoutes(context),
    ...anchorRoutes(context),
    ...txoRoutes(context),
    ...beefRoutes(context),
    ...liveRoutes(context),
    ...liveLookupRoutes(context),
    ...kvRoutes(context),
    ...mountedRoutes(context),
    ...oneSatRoutes(context),
    ...chaintracksRoutes(context),
    ...contentRoutes(context),
    ...keyspaceRoutes(context),
    ...healthRoutes(context),
    ...devRoutes(context),
    ...adminRoutes(context)
  ]
  return [...routes, ...describedRoutes(routes)]
}

/** The routes of other packages, on the store of the node. */
const mountedRoutes = ({ engine, limits, options: { mounts = [] } }: Context): Route[] =>
  mounts.flatMap(routesOf => routesOf({ store: engine.outputs.store, limits }))
