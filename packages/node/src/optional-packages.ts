/** Packages that a node mounts where they are installed. */
import type { AnyKeyspace } from '@quoin/keyspace'
import type { MountedRoutes } from './server/context.ts'

/** The module, or undefined where its package is not installed. */
const whenInstalled = async <T>(name: string, load: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) return undefined
    throw error
  }
}

const LIQUIDITY = '@quoin/liquidity'

export const liquidityCommand = () => whenInstalled(LIQUIDITY, () => import('@quoin/liquidity/command'))
export const liquidityComponents = () => whenInstalled(LIQUIDITY, () => import('@quoin/liquidity/components'))

export const mountedRoutes = async (): Promise<MountedRoutes[]> => {
  const routes = await whenInstalled(LIQUIDITY, () => import('@quoin/liquidity/routes'))
  return routes ? [routes.liquidityRoutes] : []
}

/** The keyspaces of each profile of concentrated liquidity. */
export const liquidityProfiles = async (): Promise<(readonly AnyKeyspace[])[]> => {
  const liquidity = await whenInstalled(LIQUIDITY, () => import('@quoin/liquidity'))
  return liquidity ? [liquidity.profileKeyspaces('seed'), liquidity.profileKeyspaces('chain')] : []
}
