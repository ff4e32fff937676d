/** Fingerprints of sound keyspaces, written by `npm run prove`. */
export const PROVED: readonly string[] = [
  // liquidity-beside
  '7b44a8a11c3b5f22fdae16fb3a',
  // liquidity-chain
  '272768c62e96da041c62d479be',
  // liquidity-seed
  '464dcc33b84146f92f26a92bf4',
  // liquidity-seed-beside
  '652d04b5a835d24d0dad5ad498'
]
