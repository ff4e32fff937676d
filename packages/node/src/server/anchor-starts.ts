/**
 * The first heights of anchors by network, for topics that declare none. They are part of what nodes agree on: another
 * height gives every such topic other anchors. On mainnet it is before the first tokens of BSV21.
 */
import type { NetworkName } from '@quoin/chain'

export const ANCHOR_STARTS: Readonly<Record<NetworkName, number>> = {
  main: 780_000,
  test: 1_500_000,
  regtest: 0
}
