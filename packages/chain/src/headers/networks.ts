/** Networks: genesis headers, difficulty rules and checkpoints. */
import { fromHex } from '@quoin/primitives'

export type NetworkName = 'main' | 'test' | 'regtest'

export interface NetworkRules {
  readonly name: NetworkName
  /** Genesis header. */
  readonly genesis: Uint8Array
  /** Highest target, the lowest difficulty. */
  readonly powLimit: bigint
  /** Whether the difficulty changes at all. */
  readonly retargets: boolean
  /** Whether a block more than twenty minutes after its parent may have the lowest difficulty. */
  readonly lowestWhenLate: boolean
  /** Last block under the original rules; the emergency rule follows. */
  readonly uahfHeight: number
  /** Last block before the DAA. */
  readonly daaHeight: number
  /**
   * Blocks that every chain must contain, in display hex. Headers alone do not tell BSV from BTC and BCH, whose proof
   * of work is as valid, and more.
   */
  readonly checkpoints: ReadonlyMap<number, string>
}

/** Genesis headers of all networks have one coinbase transaction. */
const genesis = (timeBitsNonce: string): Uint8Array =>
  fromHex(
    `01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a${timeBitsNonce}`
  )

const POW_LIMIT = (1n << 224n) - 1n

const main: NetworkRules = {
  name: 'main',
  genesis: genesis('29ab5f49ffff001d1dac2b7c'),
  powLimit: POW_LIMIT,
  retargets: true,
  lowestWhenLate: false,
  uahfHeight: 478_558,
  daaHeight: 504_031,
  checkpoints: new Map([
    [11_111, '0000000069e244f73d78e8fd29ba2fd2ed618bd6fa2ee92559f542fdb26e7c1d'],
    [105_000, '00000000000291ce28027faea320c8d2b054b2e0fe44a773f3eefb151d6bdc97'],
    [210_000, '000000000000048b95347e83192f69cf0366076336c639f9b7228e9ba171342e'],
    [295_000, '00000000000000004d9b4ef50f0f9d686fd69db2e03af35a100370c64632a983'],
    [400_000, '000000000000000004ec466ce4732fe6f1ed1cddc2ed4b328fff5224276e3f6f'],
    // Last block shared with BTC.
    [478_558, '0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43'],
    // First block under the DAA is the next one, on the chain without SegWit.
    [504_031, '0000000000000000011ebf65b60d0a3de80b8175be709d653b4c1a1beeb6ab9c'],
    // First block that BCH does not have.
    [556_767, '000000000000000001d956714215d96ffc00e0afda4cd0a96c96f8d802b1662b'],
    [622_000, '00000000000000000211524bee9fa20b2087fc3d788ba9a4e3674e710061c4cf'],
    [698_000, '0000000000000000110bc09a369e0d34f6417c717bbd4a3a29a0c10b9e8ebf57'],
    [764_000, '0000000000000000069723c5340ea110786d2964c309450993c513f3ac0ee618'],
    [826_638, '000000000000000003e5bde94f05bd1798e57bfdf92df7218d75525f7fb726b7']
  ])
}

const test: NetworkRules = {
  name: 'test',
  genesis: genesis('dae5494dffff001d1aa4ae18'),
  powLimit: POW_LIMIT,
  retargets: true,
  lowestWhenLate: true,
  uahfHeight: 1_155_875,
  daaHeight: 1_188_697,
  checkpoints: new Map([
    [546, '000000002a936ca763904c3c35fce2f3556c559c0214345d31b1bcebf76acb70'],
    [1_155_875, '00000000f17c850672894b9a75b63a1e72830bbd5f4c8889b5c1a80e7faef138'],
    // No block since BCH left in 2018 is pinned: operators of this network give their own checkpoint.
    [1_188_697, '0000000000170ed0918077bde7b4d36cc4c91be69fa09211f748240dabe047fb']
  ])
}

const regtest: NetworkRules = {
  name: 'regtest',
  genesis: genesis('dae5494dffff7f2002000000'),
  powLimit: (1n << 255n) - 1n,
  retargets: false,
  lowestWhenLate: true,
  uahfHeight: 0,
  daaHeight: 0,
  checkpoints: new Map()
}

export const NETWORKS: Readonly<Record<NetworkName, NetworkRules>> = { main, test, regtest }
