/**
 * Block headers, as header services serve them (`dialect.ts`), so that wallets, overlay-express and other nodes verify
 * proofs with the headers of this node. None where the node keeps no headers.
 */
import type { Route } from '@quoin/http'
import type { Context } from '../../context.ts'
import { GO, ONE_SAT, SERVICE } from './dialect.ts'
import { headerRoutes } from './rest.ts'
import { serviceClientRoutes } from './service-client.ts'

export const chaintracksRoutes = (context: Context): Route[] => {
  const { headers } = context
  if (!headers) return []
  return [
    ...headerRoutes(context, headers, ONE_SAT),
    ...serviceClientRoutes(headers, ONE_SAT),
    ...headerRoutes(context, headers, GO),
    ...serviceClientRoutes(headers, GO),
    ...headerRoutes(context, headers, SERVICE)
  ]
}
