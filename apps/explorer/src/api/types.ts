/** Written by `npm run explorer:types` from the description of the routes. */

export type BlockHeader = {
  readonly version: number
  readonly previousHash: string
  readonly merkleRoot: string
  readonly time: number
  readonly bits: number
  readonly nonce: number
  readonly height: number
  readonly hash: string
  /** `previousHash` under the name that `@1sat/client` has. */
  readonly prevHash: string
}

export type ChaintracksHeader = {
  readonly version: number
  readonly previousHash: string
  readonly merkleRoot: string
  readonly time: number
  readonly bits: number
  readonly nonce: number
  readonly height: number
  readonly hash: string
}

export type Completeness = {
  /** No work is pending that may change the answer, and each source that knows its end has reached it. */
  readonly complete: boolean
  /** The last block whose header the node has; null without headers. */
  readonly height: number | null
  /** Positions: blocks of JungleBus, changes of a node. The process that follows a source knows its end. */
  readonly sources: readonly {
    readonly name: string
    readonly at: number | null
    readonly end: number | null
  }[]
  readonly pending: {
    readonly due: number
    readonly leased: number
    /** For transactions that are not known. */
    readonly waiting: number
    /** Dead letters: refused, or attempted in vain. */
    readonly dead: number
  }
  /** Transactions whose tokens are not known yet. */
  readonly discovery: {
    readonly due: number
    readonly leased: number
    /** For transactions that are not known. */
    readonly waiting: number
    /** Dead letters: refused, or attempted in vain. */
    readonly dead: number
  }
}

export type ContentMetadata = {
  readonly outpoint: string
  readonly origin?: string
  readonly sequence: number
  /** Empty for an output with metadata alone. */
  readonly contentType: string
  readonly contentLength: number
  readonly map?: Readonly<Record<string, unknown>>
  readonly parent?: string
}

export type Failure = {
  readonly status: 'error'
  /** Stable: `ERR_…`. */
  readonly code: string
  readonly message: string
  readonly description: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly requestId?: string
}

export type HealthReport = {
  readonly status: 'ok' | 'degraded' | 'error'
  readonly live: boolean
  readonly ready: boolean
  readonly service: {
    readonly name: string
    readonly version: string
    readonly startedAt: string
    readonly uptimeMs: number
  }
  readonly checks: readonly Part[]
  readonly context: Readonly<Record<string, unknown>>
}

export type IndexedOutput = {
  /** `txid_vout` */
  readonly outpoint: string
  /** `height + index/1e9` when mined, unix seconds when not. */
  readonly score: number
  readonly satoshis?: number
  /** Present for mined outputs. */
  readonly blockHeight?: number
  readonly blockIdx?: number
  /** As people see it, 64 digits. */
  readonly spend?: string
  readonly events?: readonly string[]
  readonly data?: Readonly<Record<string, unknown>>
}

export type Keyspace = {
  readonly name: string
  readonly about: string
  readonly collections: readonly {
    readonly name: string
    readonly about: string
    /** The key as a pattern. */
    readonly key: string
    readonly parts: readonly (
      | {
          /** In hex. */
          readonly literal: string
        }
      | {
          readonly component: string
          readonly codec: string
          readonly walksBy: string
        }
    )[]
    readonly minLength: number
    readonly maxLength: number | null
    readonly scans: readonly {
      readonly components: readonly string[]
      readonly order: string
    }[]
    readonly holds: string
  }[]
  readonly verdicts: readonly {
    /** P1 to P7. */
    readonly property: string
    readonly holds: boolean
    /** How many things were decided. */
    readonly checks: number
  }[]
}

export type KvEntry = {
  /** `txid.vout` */
  readonly outpoint: string
  readonly protocolID: readonly unknown[]
  readonly key: string
  /** As UTF-8; with U+FFFD for other bytes. */
  readonly value: string
  /** The bytes of a value that is not UTF-8. */
  readonly valueHex?: string
  readonly controller: string
  readonly tags: readonly string[]
  /** Of its block; null when it is not mined. */
  readonly height: number | null
  /** `height + index/1e9` when mined, unix seconds when not. */
  readonly score: number
  /** Whether its tuple has more than one live token. */
  readonly ambiguous: boolean
}

export type LiquidityDepth = {
  /** A number as text. */
  readonly pool: string
  readonly token0: string
  readonly token1: string
  /** A decimal as text, with all its places. */
  readonly price: string
  readonly bids: readonly {
    readonly tick: string
    /** A decimal as text, with all its places. */
    readonly price: string
    /** A decimal as text, with all its places. */
    readonly liquidity: string
    readonly amount0: string
    readonly amount1: string
  }[]
  readonly asks: readonly {
    readonly tick: string
    /** A decimal as text, with all its places. */
    readonly price: string
    /** A decimal as text, with all its places. */
    readonly liquidity: string
    readonly amount0: string
    readonly amount1: string
  }[]
  /** Whether all ticks that far were looked at. */
  readonly isWhole: boolean
}

export type LiquidityIncentive = {
  /** A number as text. */
  readonly pool: string
  readonly uptime: number
  readonly uptimeSeconds: number
  /** A number as text. */
  readonly id?: string
  readonly creator?: string
  readonly remaining: {
    readonly denom: string
    /** A decimal as text, with all its places. */
    readonly amount: string
  }
  /** A decimal as text, with all its places. */
  readonly emissionRate: string
  readonly startTime: string
}

export type LiquidityPool = {
  /** A number as text. */
  readonly id: string
  readonly token0: string
  readonly token1: string
  /** A decimal as text, with all its places. */
  readonly price: string
  /** A decimal as text, with all its places. */
  readonly sqrtPrice: string
  readonly tick: string
  /** A decimal as text, with all its places. */
  readonly liquidity: string
  /** A number as text. */
  readonly tickSpacing: string
  readonly exponentAtPriceOne: string
  /** A decimal as text, with all its places. */
  readonly spreadFactor: string
  readonly address: string
  readonly incentivesAddress: string
  readonly spreadRewardsAddress: string
  readonly lastLiquidityUpdate: string
  /** A number as text. */
  readonly reserve0?: string
  /** A number as text. */
  readonly reserve1?: string
}

export type LiquidityPosition = {
  /** A number as text. */
  readonly id: string
  readonly owner: string
  /** A number as text. */
  readonly pool: string
  readonly lowerTick: string
  readonly upperTick: string
  /** A decimal as text, with all its places. */
  readonly liquidity: string
  readonly joinTime: string
  /** A number as text. */
  readonly lock?: string
  readonly inRange?: boolean
  readonly amount0?: string
  readonly amount1?: string
}

export type LiquidityQuote = {
  /** A number as text. */
  readonly pool: string
  readonly paid: {
    readonly denom: string
    /** A number as text. */
    readonly amount: string
  }
  readonly bought: {
    readonly denom: string
    /** A number as text. */
    readonly amount: string
  }
  readonly spreadReward: {
    readonly denom: string
    /** A number as text. */
    readonly amount: string
  }
  /** A decimal as text, with all its places. */
  readonly price: string
  /** A decimal as text, with all its places. */
  readonly sqrtPrice: string
  readonly tick: string
  /** A decimal as text, with all its places. */
  readonly liquidity: string
  readonly ticksCrossed: number
}

export type LiquidityTick = {
  readonly tick: string
  /** A decimal as text, with all its places. */
  readonly price: string
  /** A decimal as text, with all its places. */
  readonly liquidityGross: string
  /** A decimal as text, with all its places. */
  readonly liquidityNet: string
  readonly spreadRewardGrowth: readonly {
    readonly denom: string
    /** A decimal as text, with all its places. */
    readonly amount: string
  }[]
  readonly uptimeGrowth: readonly (readonly {
    readonly denom: string
    /** A decimal as text, with all its places. */
    readonly amount: string
  }[])[]
}

export type Output = {
  /** `txid.vout` */
  readonly outpoint: string
  /** `height + index/1e9` when mined, unix seconds when not. */
  readonly score: number
  /** The event that found it. */
  readonly key?: string
  readonly satoshis?: number | null
  /** The spender. */
  readonly spend?: string | null
  readonly events?: readonly string[]
  readonly topics?: readonly string[]
  readonly block?: {
    readonly height: number
    readonly index: number
  } | null
  readonly data?: Readonly<Record<string, unknown>>
  readonly output?: {
    readonly satoshis: number
    readonly script: string
  } | null
  readonly rawtx?: string | null
  /** A BUMP. */
  readonly proof?: string | null
}

export type Part = {
  readonly name: string
  /** `error` makes the node unready, `degraded` does not. */
  readonly status: 'ok' | 'degraded' | 'error'
  readonly message?: string
  /** Unix milliseconds. */
  readonly since?: number
  /** Unix milliseconds. */
  readonly lastSuccess?: number
  readonly lastError?: string
  /** Unix milliseconds. */
  readonly lastErrorAt?: number
}

export type Status = {
  readonly service: {
    readonly name: string
    readonly version: string
    readonly startedAt: string
    readonly uptimeMs: number
  }
  /** The parts of a node that this process runs. */
  readonly roles: readonly ('api' | 'worker' | 'sources')[]
  /** Tasks that run in one of the processes on the store, and whether this process runs them. */
  readonly leases: Readonly<Record<string, boolean>>
  readonly parts: readonly Part[]
  readonly store: {
    readonly engine: string
    readonly bytes: number
    /** Of PostgreSQL: whether an acknowledged commit is on a synchronous standby too, or on one server alone, with which the last commits may be lost. */
    readonly durability?: 'standby' | 'server'
    /** Why the server may lose commits. */
    readonly warning?: string
  }
  readonly journal: {
    /** Of the last change. */
    readonly position: number
  }
  /** Null when the node keeps no headers. */
  readonly chain: {
    readonly height: number
    readonly hash: string
    /** Of the last block, in unix seconds. */
    readonly time: number
  } | null
  readonly topics: readonly string[]
  /** The last anchor of each topic that has anchors (BRC-136). */
  readonly anchors: Readonly<
    Record<
      string,
      {
        /** The first height of the anchors. */
        readonly start: number
        /** The last height, below the start if there is none. */
        readonly height: number
        /** The anchor at that height. */
        readonly tac?: string
      }
    >
  >
  readonly lookups: readonly string[]
  /** Submissions, and the outputs that topics admitted, since the process began. */
  readonly totals: {
    readonly submits: number
    readonly refused: number
    readonly admitted: number
  }
  readonly queues: Readonly<
    Record<
      string,
      {
        readonly due: number
        readonly leased: number
        readonly waiting: number
        readonly dead: number
        readonly age?: number | null
      }
    >
  >
  readonly sync: readonly {
    readonly topic: string
    readonly peer: string
    /** Stalled: it takes questions and does not answer. */
    readonly state: 'untried' | 'working' | 'failing' | 'stalled'
    /** When the state began, in unix milliseconds. */
    readonly since: number
    readonly running: boolean
    /** Whether the stream of its changes is open. */
    readonly live: boolean
    /** Unix milliseconds. */
    readonly lastRun?: number
    /** Unix milliseconds. */
    readonly lastSuccess?: number
    readonly lastError?: string
    readonly lastReport?: unknown
    /** Whether its anchors agree, if both nodes have anchors of the topic. */
    readonly agrees?: boolean
    readonly queued: number
    readonly dead: number
    /** Seconds that the oldest item to fetch has waited. */
    readonly lag: number
  }[]
  /** The token pipeline: how far its sources are, and the tokens that have something to do. */
  readonly tokens: {
    readonly sources: readonly Readonly<Record<string, unknown>>[]
    readonly ready: number
    readonly idle: number
    readonly discovery: {
      readonly due: number
      readonly leased: number
      /** For transactions that are not known. */
      readonly waiting: number
      /** Dead letters: refused, or attempted in vain. */
      readonly dead: number
    }
    /** Unspent outputs whose spenders a service was asked for, and unknown ones that it had. */
    readonly spends?: {
      readonly asked: number
      readonly found: number
      readonly sweptAt?: number
    }
    readonly completeness: Completeness
  } | null
  /** Transactions on their way into the network, those that are not mined and those that are refused. */
  readonly broadcast: {
    readonly when: 'before' | 'with'
    readonly processors: readonly {
      readonly name: string
      /** Stalled: it takes questions and does not answer. */
      readonly state: 'untried' | 'working' | 'failing' | 'stalled'
      /** Unix milliseconds. */
      readonly lastSuccess?: number
      readonly lastError?: string
    }[]
    readonly transactions: {
      readonly queued: number
      readonly sent: number
      readonly seen: number
      readonly rejected: number
    }
  } | null
  readonly streams: number
}

export type TokenDetails = {
  readonly tokenId: string
  readonly token: {
    readonly id: string
    readonly op: string
    /** A whole number as text. */
    readonly amt: string
    readonly sym?: string
    readonly dec: number
    readonly icon?: string
    /** The form of the deployment: an inscription (BRC-161), or pushed fields (BRC-162). */
    readonly encoding: 'json' | 'binary'
  }
  readonly status: {
    readonly token_id: string
    readonly is_active: boolean
    /** Why it is active, or not. */
    readonly reason: string
    /** Satoshis that are left of the credits. */
    readonly balance: number
    readonly credits: number
    readonly debits: number
    readonly output_count: number
    readonly fee_per_output: number
    /** Empty when nothing can be paid for. */
    readonly fee_address: string
    readonly is_whitelisted: boolean
    readonly is_blacklisted: boolean
  }
}

export type TokenDigest = {
  readonly id: string
  /** A whole number as text. */
  readonly minted: string
  /** A whole number as text. */
  readonly supply: string
  /** A whole number as text. */
  readonly listed: string
  readonly holders: number
  /** Outputs in the topic, spent or not. */
  readonly outputs: number
  /** Null of more outputs than one answer digests: ask for ranges. */
  readonly outputsDigest: string | null
  readonly holdersDigest: string | null
  /** Whether the node still has work on the token. */
  readonly pending: boolean
}

export type TransactionStatus = {
  readonly txid: string
  /** In the words of ARC and Arcade: `SEEN_ON_NETWORK`, `MINED`, `REJECTED`. */
  readonly txStatus: string
  readonly timestamp: string
  readonly blockHash?: string
  readonly blockHeight?: number
  /** A BUMP (BRC-74) in hex. */
  readonly merklePath?: string
  readonly extraInfo?: string
  readonly competingTxs?: readonly string[]
}

/** Requests and responses of the routes. */

export interface Routes {
  /** Takes a token off the blacklist. */
  'DELETE /1sat/admin/api/blacklist/{token}': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly message: string
      readonly token: string
      readonly topic: string
    }
  }
  /** Takes a token off the whitelist. */
  'DELETE /1sat/admin/api/whitelist/{token}': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly message: string
      readonly token: string
      readonly topic: string
    }
  }
  /** Takes an item out of a queue. */
  'DELETE /admin/queues/{queue}/items/{item}': {
    readonly path: {
      readonly queue: string
      readonly item: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The documentation of the routes as a page. */
  'GET /': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The tokens on the blacklist. */
  'GET /1sat/admin/api/blacklist': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly string[]
  }
  /** The lookup services. */
  'GET /1sat/admin/api/lookups/active': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly string[]
  }
  /** The next block of each subscription. */
  'GET /1sat/admin/api/progress': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly {
      readonly id: string
      readonly block: number
    }[]
  }
  /** Whether there is an admin token. */
  'GET /1sat/admin/api/status': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly configured: boolean
    }
  }
  /** The topics, without the topics of tokens. */
  'GET /1sat/admin/api/topics/active': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly string[]
  }
  /** The tokens on the whitelist. */
  'GET /1sat/admin/api/whitelist': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly string[]
  }
  /** Changes of statuses as they happen: of submissions with a token, or of all. They continue after `Last-Event-ID`; an event `gap` says that some are lost. */
  'GET /1sat/arcade/events': {
    readonly path: undefined
    readonly query: {
      readonly token?: string
      readonly callbackToken?: string
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The mining policy, as the first processor that answers states it; its fields beside `policy` too. */
  'GET /1sat/arcade/policy': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly policy: Readonly<Record<string, unknown>>
      readonly timestamp: string
    }
  }
  /** The status of a transaction on the network. */
  'GET /1sat/arcade/tx/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: TransactionStatus
  }
  /** A transaction with its ancestry and merkle paths, as Atomic BEEF (BRC-95). */
  'GET /1sat/beef/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The proof of a transaction that is mined, as a BUMP (BRC-74). */
  'GET /1sat/beef/{txid}/proof': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** A transaction alone. */
  'GET /1sat/beef/{txid}/tx': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Sums of tokens, and digests of their outputs and holders, in the order of token ids. */
  'GET /1sat/bsv21/digests': {
    readonly path: undefined
    readonly query: {
      readonly after?: string
      readonly limit?: number
    }
    readonly body: undefined
    readonly answer: {
      readonly tokens: readonly TokenDigest[]
      readonly hasMore: boolean
    }
  }
  /** Tokens in the order of deployment, or by the beginning of their symbols in the order of the symbols. */
  'GET /1sat/bsv21/tokens': {
    readonly path: undefined
    readonly query: {
      readonly sym?: string
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly tokens: readonly {
        readonly id: string
        readonly op: string
        /** A whole number as text. */
        readonly amt: string
        readonly sym?: string
        readonly dec: number
        readonly icon?: string
        /** The form of the deployment: an inscription (BRC-161), or pushed fields (BRC-162). */
        readonly encoding: 'json' | 'binary'
      }[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** A token as it was deployed, and whether it is indexed. */
  'GET /1sat/bsv21/{token}': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly tokenId: string
      readonly token: {
        readonly id: string
        readonly op: string
        /** A whole number as text. */
        readonly amt: string
        readonly sym?: string
        readonly dec: number
        readonly icon?: string
        /** The form of the deployment: an inscription (BRC-161), or pushed fields (BRC-162). */
        readonly encoding: 'json' | 'binary'
      }
      readonly status: {
        readonly token_id: string
        readonly is_active: boolean
        /** Why it is active, or not. */
        readonly reason: string
        /** Satoshis that are left of the credits. */
        readonly balance: number
        readonly credits: number
        readonly debits: number
        readonly output_count: number
        readonly fee_per_output: number
        /** Empty when nothing can be paid for. */
        readonly fee_address: string
        readonly is_whitelisted: boolean
        readonly is_blacklisted: boolean
      }
      readonly completeness: Completeness
    }
  }
  /** Sums of a token, and digests of its outputs and holders. */
  'GET /1sat/bsv21/{token}/digest': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: TokenDigest
  }
  /** The digest of the outputs of a token in a range of scores, with their spenders. */
  'GET /1sat/bsv21/{token}/digests': {
    readonly path: {
      readonly token: string
    }
    readonly query: {
      readonly from: number
      readonly to: number
      readonly limit?: number
      readonly list?: boolean
    }
    readonly body: undefined
    readonly answer: {
      readonly outputs: number
      readonly digest: string
      /** The score at which the limit ended it. */
      readonly next: number | null
      readonly rows?: readonly {
        readonly outpoint: string
        readonly spender: string | null
      }[]
    }
  }
  /** The holders of a token, the largest first. */
  'GET /1sat/bsv21/{token}/holders': {
    readonly path: {
      readonly token: string
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly holders: readonly {
        readonly address: string
        /** A whole number as text. */
        readonly amount: string
        /** The amounts, by lock. */
        readonly locks: Readonly<
          Record<
            string,
            {
              /** A whole number as text. */
              readonly amount: string
              readonly outputs: number
            }
          >
        >
      }[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
      readonly completeness: Completeness
    }
  }
  /** The listings of a token, with their prices in satoshis. */
  'GET /1sat/bsv21/{token}/listings': {
    readonly path: {
      readonly token: string
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly listings: readonly {
        readonly outpoint: string
        readonly score: number
        readonly seller: string
        /** A whole number as text. */
        readonly amount: string
        /** For all of it. */
        readonly price: number
      }[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
      readonly completeness: Completeness
    }
  }
  /** Changes of a token as they are committed, as server-sent events: `saved`, `moved` and `removed`, each with the outputs of the token that are made and spent by it. */
  'GET /1sat/bsv21/{token}/live': {
    readonly path: {
      readonly token: string
    }
    readonly query: {
      readonly after?: number
    }
    readonly body: undefined
    readonly answer: string
  }
  /** An output, if it is a good output of the token. */
  'GET /1sat/bsv21/{token}/outputs/{outpoint}': {
    readonly path: {
      readonly token: string
      readonly outpoint: string
    }
    readonly query: {
      readonly unspent?: boolean
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: undefined
    readonly answer: IndexedOutput
  }
  /** A packet that proves a valid output of a token with headers alone (BRC-176), as Outpoint BEEF (BRC-158). */
  'GET /1sat/bsv21/{token}/proof/{outpoint}': {
    readonly path: {
      readonly token: string
      readonly outpoint: string
    }
    readonly query: {
      readonly version?: 1
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Whether a token is indexed and why, and its pending transactions. */
  'GET /1sat/bsv21/{token}/status': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly token_id: string
      readonly is_active: boolean
      /** Why it is active, or not. */
      readonly reason: string
      /** Satoshis that are left of the credits. */
      readonly balance: number
      readonly credits: number
      readonly debits: number
      readonly output_count: number
      readonly fee_per_output: number
      /** Empty when nothing can be paid for. */
      readonly fee_address: string
      readonly is_whitelisted: boolean
      readonly is_blacklisted: boolean
      readonly discovered: boolean
      readonly queue: {
        readonly due: number
        readonly leased: number
        /** For transactions that are not known. */
        readonly waiting: number
        /** Dead letters: refused, or attempted in vain. */
        readonly dead: number
      }
      readonly completeness: Completeness
    }
  }
  /** Minted, existing and burned amounts of a token; of the existing amount, the parts for sale and under contracts. */
  'GET /1sat/bsv21/{token}/supply': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      /** A whole number as text. */
      readonly minted: string
      /** A whole number as text. */
      readonly supply: string
      /** A whole number as text. */
      readonly burned: string
      /** A whole number as text. */
      readonly listed: string
      /** A whole number as text. */
      readonly ltm: string
      /** A whole number as text. */
      readonly pow20: string
      readonly holders: number
      readonly listings: number
      readonly completeness: Completeness
    }
  }
  /** The valid outputs of a token that a transaction spends and creates. */
  'GET /1sat/bsv21/{token}/tx/{txid}': {
    readonly path: {
      readonly token: string
      readonly txid: string
    }
    readonly query: {
      readonly beef?: boolean
    }
    readonly body: undefined
    readonly answer: {
      /** As people see it, 64 digits. */
      readonly txid: string
      readonly inputs: readonly {
        /** As people see it, 64 digits. */
        readonly txid?: string
        readonly vout: number
        readonly data: Readonly<Record<string, unknown>>
        /** As people see it, 64 digits. */
        readonly spend?: string
      }[]
      readonly outputs: readonly {
        /** As people see it, 64 digits. */
        readonly txid?: string
        readonly vout: number
        readonly data: Readonly<Record<string, unknown>>
        /** As people see it, 64 digits. */
        readonly spend?: string
      }[]
      readonly beef?: string
      readonly block_height?: number
      readonly completeness: Completeness
    }
  }
  /** Why an output is a good output of a token, or is not. */
  'GET /1sat/bsv21/{token}/why/{outpoint}': {
    readonly path: {
      readonly token: string
      readonly outpoint: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
  }
  /** The balance of a token at an address. */
  'GET /1sat/bsv21/{token}/{lock}/{address}/balance': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
      readonly address: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly balance: number
      readonly utxoCount: number
      /** A whole number as text. */
      readonly amount: string
      readonly completeness: Completeness
    }
  }
  /** All outputs, spent or not, of a token that an address has. */
  'GET /1sat/bsv21/{token}/{lock}/{address}/history': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
      readonly address: string
    }
    readonly query: {
      readonly from?: number
      readonly to?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: readonly IndexedOutput[]
  }
  /** Unspent outputs of a token that an address has, with a packet that proves them (BRC-176). That they are unspent is not proved. */
  'GET /1sat/bsv21/{token}/{lock}/{address}/proof': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
      readonly address: string
    }
    readonly query: {
      readonly version?: 1
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly version: number
      readonly assetId: string
      /** The outputs, `txid.vout`. */
      readonly subjects: readonly string[]
      /** A whole number as text. */
      readonly amount: string
      /** The packet in base64: a BEEF, which proves the subjects. */
      readonly beef: string
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** Unspent outputs of a token that an address has. */
  'GET /1sat/bsv21/{token}/{lock}/{address}/unspent': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
      readonly address: string
    }
    readonly query: {
      readonly from?: number
      readonly to?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: readonly IndexedOutput[]
  }
  /** The hash of the last block. */
  'GET /1sat/chaintracks/findChainTipHashHex': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** The header of the last block. */
  'GET /1sat/chaintracks/findChainTipHeaderHex': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The header of a block of the chain by its hash; without a value when there is none. */
  'GET /1sat/chaintracks/findHeaderHexForBlockHash': {
    readonly path: undefined
    readonly query: {
      readonly hash: string
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The header at a height; without a value when there is none. */
  'GET /1sat/chaintracks/findHeaderHexForHeight': {
    readonly path: undefined
    readonly query: {
      readonly height: number
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The network of the headers. */
  'GET /1sat/chaintracks/getChain': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** Headers one after the other in hex; fewer where the chain ends. */
  'GET /1sat/chaintracks/getHeaders': {
    readonly path: undefined
    readonly query: {
      readonly height: number
      readonly count: number
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** The network and the height of the headers. */
  'GET /1sat/chaintracks/getInfo': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: {
        readonly chain: string
        readonly heightBulk: number
        readonly heightLive: number
        readonly storage: string
      }
    }
  }
  /** The height of the last block. */
  'GET /1sat/chaintracks/getPresentHeight': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: number
    }
  }
  /** The header of a block by its hash; its bytes for `{hash}.bin`. */
  'GET /1sat/chaintracks/header/hash/{hash}': {
    readonly path: {
      readonly hash: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: BlockHeader
  }
  /** The header of the block at a height; its bytes for `{height}.bin`. */
  'GET /1sat/chaintracks/header/height/{height}': {
    readonly path: {
      readonly height: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: BlockHeader
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /1sat/chaintracks/headers': {
    readonly path: undefined
    readonly query: {
      readonly height: string
      readonly count: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /1sat/chaintracks/headers.bin': {
    readonly path: undefined
    readonly query: {
      readonly height: string
      readonly count: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The height of the last block. */
  'GET /1sat/chaintracks/height': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly height: number
    }
  }
  /** Which network the node is on. */
  'GET /1sat/chaintracks/network': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly network: string
    }
  }
  /** Each reorg: the hashes of the blocks that left, the last common block, the tip, and how many left. */
  'GET /1sat/chaintracks/reorg/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The header of the last block. */
  'GET /1sat/chaintracks/tip': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: BlockHeader
  }
  /** The header of the last block, 80 bytes. */
  'GET /1sat/chaintracks/tip.bin': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The header of the last block, and of each that becomes it. */
  'GET /1sat/chaintracks/tip/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The media type, length and metadata of the content of an output. */
  'GET /1sat/ordfs/metadata/{pointer}': {
    readonly path: {
      readonly pointer: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ContentMetadata
  }
  /** HTML from the path, in base64. */
  'GET /1sat/ordfs/preview/{html}': {
    readonly path: {
      readonly html: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The content of an output, with the parts (`ordfs/stream`) that follow it in its ordinal. */
  'GET /1sat/ordfs/stream/{outpoint}': {
    readonly path: {
      readonly outpoint: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The documentation of a lookup service. */
  'GET /1sat/overlay/getDocumentationForLookupServiceProvider': {
    readonly path: undefined
    readonly query: {
      readonly lookupService?: string
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The documentation of a topic. */
  'GET /1sat/overlay/getDocumentationForTopicManager': {
    readonly path: undefined
    readonly query: {
      readonly manager?: string
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The lookup services, by name. */
  'GET /1sat/overlay/listLookupServiceProviders': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly name: string
          readonly shortDescription: string
          readonly iconURL?: string
          readonly version?: string
          readonly informationURL?: string
        }
      >
    >
  }
  /** The topics, by name. */
  'GET /1sat/overlay/listTopicManagers': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly name: string
          readonly shortDescription: string
          readonly iconURL?: string
          readonly version?: string
          readonly informationURL?: string
        }
      >
    >
  }
  /** Everything that addresses got and spent, in the order of the scores: an output when it came, and again when it was spent. Then `done`. */
  'GET /1sat/owner/sync': {
    readonly path: undefined
    readonly query: {
      readonly owner: readonly string[]
      readonly from?: number
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The balances of all tokens at an address, in the order of token ids. */
  'GET /1sat/owner/{address}/tokens': {
    readonly path: {
      readonly address: string
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly tokens: readonly {
        readonly id: string
        readonly sym?: string
        readonly dec: number
        readonly icon?: string
        /** A whole number as text. */
        readonly amount: string
        /** The amounts, by lock. */
        readonly locks: Readonly<
          Record<
            string,
            {
              /** A whole number as text. */
              readonly amount: string
              readonly outputs: number
            }
          >
        >
      }[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
      readonly completeness: Completeness
    }
  }
  /** The sum of the unspent outputs of an address. */
  'GET /1sat/owner/{owner}/balance': {
    readonly path: {
      readonly owner: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly balance: number
      readonly count: number
      /** A whole number as text. */
      readonly satoshis: string
    }
  }
  /** The outputs of an address, one `txo` after the other, and then `done`. */
  'GET /1sat/owner/{owner}/txos': {
    readonly path: {
      readonly owner: string
    }
    readonly query: {
      readonly from?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly unspent?: boolean
      readonly refresh?: boolean
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The status of a transaction on the network. */
  'GET /1sat/tx/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: TransactionStatus
  }
  /** Outputs with any of these events, in the order of their scores. */
  'GET /1sat/txo/search': {
    readonly path: undefined
    readonly query: {
      readonly key: readonly string[]
      readonly from?: number
      readonly to?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly unspent?: boolean
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: undefined
    readonly answer: readonly IndexedOutput[]
  }
  /** The outputs of a transaction, in order; none when it is not known. */
  'GET /1sat/txo/tx/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: {
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: undefined
    readonly answer: readonly IndexedOutput[]
  }
  /** One output. */
  'GET /1sat/txo/{outpoint}': {
    readonly path: {
      readonly outpoint: string
    }
    readonly query: {
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: undefined
    readonly answer: IndexedOutput
  }
  /** The spender of an output; null when none is known. */
  'GET /1sat/txo/{outpoint}/spend': {
    readonly path: {
      readonly outpoint: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly spendTxid: string | null
    }
  }
  /** The banned hosts and advertisements, which answers leave out. */
  'GET /admin/bans': {
    readonly path: undefined
    readonly query: {
      readonly type?: 'domain' | 'outpoint'
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The network, where its headers begin, and the last. */
  'GET /admin/headers': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The header at a height of the chain of most work. */
  'GET /admin/headers/{height}': {
    readonly path: {
      readonly height: number
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The advertised hosts that were checked, with their health. */
  'GET /admin/hosts': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The lookup services: deliveries, processes, errors. */
  'GET /admin/lookups': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The queues: how many items are due, leased, waiting and dead. */
  'GET /admin/queues': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Items of a queue: the dead with the reasons. */
  'GET /admin/queues/{queue}/{state}': {
    readonly path: {
      readonly queue: string
      readonly state: 'due' | 'leased' | 'waiting' | 'dead'
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** The topics, with how much is in them. */
  'GET /admin/topics': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** A transaction with its ancestry and merkle paths, as Atomic BEEF (BRC-95). */
  'GET /beef/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The proof of a transaction that is mined, as a BUMP (BRC-74). */
  'GET /beef/{txid}/proof': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** A transaction alone. */
  'GET /beef/{txid}/tx': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Which parts of the 1Sat API the node has. */
  'GET /capabilities': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: readonly string[]
  }
  /** The hash of the last block. */
  'GET /chaintracks/v2/findChainTipHashHex': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** The header of the last block. */
  'GET /chaintracks/v2/findChainTipHeaderHex': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The header of a block of the chain by its hash; without a value when there is none. */
  'GET /chaintracks/v2/findHeaderHexForBlockHash': {
    readonly path: undefined
    readonly query: {
      readonly hash: string
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The header at a height; without a value when there is none. */
  'GET /chaintracks/v2/findHeaderHexForHeight': {
    readonly path: undefined
    readonly query: {
      readonly height: number
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: ChaintracksHeader
    }
  }
  /** The network of the headers. */
  'GET /chaintracks/v2/getChain': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** Headers one after the other in hex; fewer where the chain ends. */
  'GET /chaintracks/v2/getHeaders': {
    readonly path: undefined
    readonly query: {
      readonly height: number
      readonly count: number
    }
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: string
    }
  }
  /** The network and the height of the headers. */
  'GET /chaintracks/v2/getInfo': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: {
        readonly chain: string
        readonly heightBulk: number
        readonly heightLive: number
        readonly storage: string
      }
    }
  }
  /** The height of the last block. */
  'GET /chaintracks/v2/getPresentHeight': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value?: number
    }
  }
  /** The header of a block by its hash; its bytes for `{hash}.bin`. */
  'GET /chaintracks/v2/header/hash/{hash}': {
    readonly path: {
      readonly hash: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ChaintracksHeader
  }
  /** The header of the block at a height; its bytes for `{height}.bin`. */
  'GET /chaintracks/v2/header/height/{height}': {
    readonly path: {
      readonly height: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: ChaintracksHeader
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /chaintracks/v2/headers': {
    readonly path: undefined
    readonly query: {
      readonly height: string
      readonly count: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /chaintracks/v2/headers.bin': {
    readonly path: undefined
    readonly query: {
      readonly height: string
      readonly count: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The height of the last block. */
  'GET /chaintracks/v2/height': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly height: number
    }
  }
  /** Which network the node is on. */
  'GET /chaintracks/v2/network': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly network: string
    }
  }
  /** Each reorg: the hashes of the blocks that left, the last common block, the tip, and how many left. */
  'GET /chaintracks/v2/reorg/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The header of the last block. */
  'GET /chaintracks/v2/tip': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: ChaintracksHeader
  }
  /** The header of the last block, 80 bytes. */
  'GET /chaintracks/v2/tip.bin': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The header of the last block, and of each that becomes it. */
  'GET /chaintracks/v2/tip/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The content of an output: an inscription, a B file, or a file of a directory. */
  'GET /content/{path}': {
    readonly path: {
      readonly path: string
    }
    readonly query: {
      readonly map?: boolean
      readonly parent?: boolean
      readonly raw?: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** A transaction of the development chain with its ancestry to proofs. */
  'GET /dev/beef/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly beef: string
    }
  }
  /** The documentation of the routes as a page. */
  'GET /docs': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The documentation of a lookup service. */
  'GET /getDocumentationForLookupServiceProvider': {
    readonly path: undefined
    readonly query: {
      readonly lookupService?: string
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The documentation of a topic. */
  'GET /getDocumentationForTopicManager': {
    readonly path: undefined
    readonly query: {
      readonly manager?: string
    }
    readonly body: undefined
    readonly answer: string
  }
  /** Readiness, as `/health/ready` has it. */
  'GET /health': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: HealthReport
  }
  /** Whether the process answers at all. */
  'GET /health/live': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: HealthReport
  }
  /** Whether to send requests here. */
  'GET /health/ready': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: HealthReport
  }
  /** Every collection of keys that a store may hold. */
  'GET /keyspace': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly keyspaces: readonly Keyspace[]
    }
  }
  /** The meaning of a raw key, byte by byte. */
  'GET /keyspace/explain/{hex}': {
    readonly path: {
      readonly hex: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly key: string
      readonly found: boolean
      readonly matches: readonly {
        readonly keyspace: string
        readonly collection: string
        readonly spans: readonly {
          readonly start: number
          readonly end: number
          readonly hex: string
          readonly component?: string
          readonly codec?: string
          readonly text: string
        }[]
      }[]
      readonly nearest: {
        readonly keyspace: string
        readonly collection: string
        readonly offset: number
        readonly expected: string
        readonly message: string
      } | null
    }
  }
  /** Live entries of the key-value store, with at least one of key, controller, protocolID and tag. */
  'GET /kv': {
    readonly path: undefined
    readonly query: {
      readonly key?: string
      readonly controller?: string
      readonly protocolID?: string
      readonly tag?: readonly string[]
      readonly mode?: 'all' | 'any'
      readonly sort?: 'asc' | 'desc'
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly entries: readonly KvEntry[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** Changes of entries as they are committed, as server-sent events: `saved`, `moved` and `removed`, each with its new live entries and the outpoints of ended ones. */
  'GET /kv/live': {
    readonly path: undefined
    readonly query: {
      readonly key?: string
      readonly controller?: string
      readonly protocolID?: string
      readonly tag?: readonly string[]
      readonly mode?: 'all' | 'any'
      readonly after?: number
    }
    readonly body: undefined
    readonly answer: string
  }
  /** The live entries of a key: one for each protocol, and more where they are ambiguous. */
  'GET /kv/{controller}/{key}': {
    readonly path: {
      readonly controller: string
      readonly key: string
    }
    readonly query: {
      readonly protocolID?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly entries: readonly KvEntry[]
    }
  }
  /** The history of the live entries of a key, each from the oldest value to the newest. */
  'GET /kv/{controller}/{key}/history': {
    readonly path: {
      readonly controller: string
      readonly key: string
    }
    readonly query: {
      readonly protocolID?: string
      readonly limit?: number
      readonly before?: readonly string[]
    }
    readonly body: undefined
    readonly answer: {
      readonly histories: readonly {
        /** Of the live entry. */
        readonly outpoint: string
        readonly entries: readonly KvEntry[]
        /** For the next page; empty on the last. */
        readonly before: readonly string[]
      }[]
    }
  }
  /** The meaning of a raw key of the chain, and of its value: the one given, or this store's. */
  'GET /liquidity/explain/{key}': {
    readonly path: {
      readonly key: string
    }
    readonly query: {
      readonly value?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly profile: string
      readonly collection: string
      readonly about: string
      readonly spans: readonly Readonly<Record<string, unknown>>[]
      readonly value?: unknown
    }
  }
  /** Positions of an owner, or of an owner in a pool, in the order of their keys. */
  'GET /liquidity/owners/{owner}/positions': {
    readonly path: {
      readonly owner: string
    }
    readonly query: {
      readonly pool?: string
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly positions: readonly LiquidityPosition[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** The pools of concentrated liquidity, in the order of their keys. */
  'GET /liquidity/pools': {
    readonly path: undefined
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly pools: readonly LiquidityPool[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** A pool, its reserves, and its liquidity over the whole range. */
  'GET /liquidity/pools/{pool}': {
    readonly path: {
      readonly pool: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly pool: LiquidityPool
      /** A decimal as text, with all its places. */
      readonly fullRangeLiquidity: string
    }
  }
  /** How far the price of a pool goes for how much. */
  'GET /liquidity/pools/{pool}/depth': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly percent?: number
      readonly ticks?: number
    }
    readonly body: undefined
    readonly answer: LiquidityDepth
  }
  /** How far the price of a pool goes for how much, as a picture. */
  'GET /liquidity/pools/{pool}/depth.svg': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly percent?: number
      readonly ticks?: number
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Incentive records of a pool, or of a pool and an uptime. */
  'GET /liquidity/pools/{pool}/incentives': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly uptime?: number
      readonly limit?: number
    }
    readonly body: undefined
    readonly answer: {
      readonly incentives: readonly LiquidityIncentive[]
      readonly more: boolean
    }
  }
  /** Positions of a pool, in the order of their numbers. */
  'GET /liquidity/pools/{pool}/positions': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly limit?: number
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly positions: readonly LiquidityPosition[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** The result or the cost of a swap. Exactly one of `pay` and `buy`. */
  'GET /liquidity/pools/{pool}/quote': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly pay?: string
      readonly buy?: string
    }
    readonly body: undefined
    readonly answer: LiquidityQuote
  }
  /** Ticks of a pool from most negative to most positive, or back; from any tick. */
  'GET /liquidity/pools/{pool}/ticks': {
    readonly path: {
      readonly pool: string
    }
    readonly query: {
      readonly from?: string
      readonly exclusive?: boolean
      readonly reverse?: boolean
      readonly limit?: number
    }
    readonly body: undefined
    readonly answer: {
      /** A number as text. */
      readonly pool: string
      readonly ticks: readonly LiquidityTick[]
      readonly more: boolean
    }
  }
  /** A position, and its value at the price of its pool. */
  'GET /liquidity/positions/{position}': {
    readonly path: {
      readonly position: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly position: LiquidityPosition
    }
  }
  /** The reserves of all pools, by denom. */
  'GET /liquidity/total': {
    readonly path: undefined
    readonly query: {
      readonly limit?: number
    }
    readonly body: undefined
    readonly answer: {
      readonly profile: string
      readonly total: readonly {
        readonly denom: string
        /** A number as text. */
        readonly amount: string
      }[]
      readonly more: boolean
    }
  }
  /** The lookup services, by name. */
  'GET /listLookupServiceProviders': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly name: string
          readonly shortDescription: string
          readonly iconURL?: string
          readonly version?: string
          readonly informationURL?: string
        }
      >
    >
  }
  /** The topics, by name. */
  'GET /listTopicManagers': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly name: string
          readonly shortDescription: string
          readonly iconURL?: string
          readonly version?: string
          readonly informationURL?: string
        }
      >
    >
  }
  /** Changes as they are committed: `saved`, `moved` and `removed`, with the events and topics that the outputs have when they are sent. When the journal no longer has the entries after a position: 410, or on an open stream an event `gone`. */
  'GET /live': {
    readonly path: undefined
    readonly query: {
      readonly events?: readonly string[]
      readonly topics?: readonly string[]
      readonly after?: number
    }
    readonly body: undefined
    readonly answer: string
  }
  /** For Prometheus. */
  'GET /metrics': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** This description. */
  'GET /openapi.json': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: unknown
  }
  /** Topics, lookups, chain, queues and health of the node. */
  'GET /status': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Status
  }
  /** What became of a transaction on the network. */
  'GET /tx/{txid}/status': {
    readonly path: {
      readonly txid: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly txid: string
      readonly status: 'queued' | 'sent' | 'seen' | 'mined' | 'rejected' | 'unknown'
      /** In the words of the processor. */
      readonly txStatus?: string
      readonly processor?: string
      readonly reason?: string
      readonly competing?: readonly string[]
      /** Unix seconds. */
      readonly since?: number
      /** Unix seconds. */
      readonly at?: number
      /** Submissions that a processor accepted. */
      readonly submissions?: number
      readonly height?: number
      readonly blockHash?: string
    }
  }
  /** The sum of the unspent outputs with any of these events. Where no balance is kept, a page of them is summed, and the cursor leads to the rest. */
  'GET /txo/balance': {
    readonly path: undefined
    readonly query: {
      readonly events: readonly string[]
      readonly cursor?: string
    }
    readonly body: undefined
    readonly answer: {
      /** A whole number as text. */
      readonly satoshis: string
      readonly outputs: number
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** Outputs with these events, spent or not. */
  'GET /txo/history': {
    readonly path: undefined
    readonly query: {
      readonly events: readonly string[]
      readonly from?: number
      readonly to?: number
      readonly reverse?: boolean
      readonly limit?: number
      readonly cursor?: string
      readonly include?: readonly (
        | 'satoshis'
        | 'spend'
        | 'events'
        | 'topics'
        | 'block'
        | 'data'
        | 'output'
        | 'rawtx'
        | 'proof'
      )[]
      readonly tags?: readonly string[]
    }
    readonly body: undefined
    readonly answer: {
      readonly outputs: readonly Output[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** One output. */
  'GET /txo/outpoint/{outpoint}': {
    readonly path: {
      readonly outpoint: string
    }
    readonly query: {
      readonly include?: readonly (
        | 'satoshis'
        | 'spend'
        | 'events'
        | 'topics'
        | 'block'
        | 'data'
        | 'output'
        | 'rawtx'
        | 'proof'
      )[]
      readonly tags?: readonly string[]
    }
    readonly body: undefined
    readonly answer: Output
  }
  /** Outputs by events and topics, joined. */
  'GET /txo/search': {
    readonly path: undefined
    readonly query: {
      readonly key: readonly string[]
      readonly join?: 'union' | 'intersect' | 'difference'
      readonly unspent?: boolean
      readonly from?: number
      readonly to?: number
      readonly reverse?: boolean
      readonly limit?: number
      readonly cursor?: string
      readonly include?: readonly (
        | 'satoshis'
        | 'spend'
        | 'events'
        | 'topics'
        | 'block'
        | 'data'
        | 'output'
        | 'rawtx'
        | 'proof'
      )[]
      readonly tags?: readonly string[]
    }
    readonly body: undefined
    readonly answer: {
      readonly outputs: readonly Output[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** The outputs of a transaction, in order; with a topic, the admitted ones. */
  'GET /txo/tx/{txid}': {
    readonly path: {
      readonly txid: string
    }
    readonly query: {
      readonly topic?: string
      readonly include?: readonly (
        | 'satoshis'
        | 'spend'
        | 'events'
        | 'topics'
        | 'block'
        | 'data'
        | 'output'
        | 'rawtx'
        | 'proof'
      )[]
      readonly tags?: readonly string[]
    }
    readonly body: undefined
    readonly answer: {
      /** As people see it, 64 digits. */
      readonly txid: string
      readonly outputs: readonly Output[]
    }
  }
  /** Outputs with these events that are not spent. */
  'GET /txo/unspent': {
    readonly path: undefined
    readonly query: {
      readonly events: readonly string[]
      readonly from?: number
      readonly to?: number
      readonly reverse?: boolean
      readonly limit?: number
      readonly cursor?: string
      readonly include?: readonly (
        | 'satoshis'
        | 'spend'
        | 'events'
        | 'topics'
        | 'block'
        | 'data'
        | 'output'
        | 'rawtx'
        | 'proof'
      )[]
      readonly tags?: readonly string[]
    }
    readonly body: undefined
    readonly answer: {
      readonly outputs: readonly Output[]
      /** For the next page; null on the last. */
      readonly cursor: string | null
    }
  }
  /** The header of a block by its hash; its bytes for `{hash}.bin`. */
  'GET /v2/header/hash/{hash}': {
    readonly path: {
      readonly hash: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value: ChaintracksHeader
    }
  }
  /** The header of the block at a height; its bytes for `{height}.bin`. */
  'GET /v2/header/height/{height}': {
    readonly path: {
      readonly height: string
    }
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value: ChaintracksHeader
    }
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /v2/headers': {
    readonly path: undefined
    readonly query: {
      readonly height?: string
      readonly count?: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** Headers one after the other, 80 bytes each; fewer where the chain ends. */
  'GET /v2/headers.bin': {
    readonly path: undefined
    readonly query: {
      readonly height?: string
      readonly count?: string
    }
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The height of the last block. */
  'GET /v2/height': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value: number
    }
  }
  /** Which network the node is on. */
  'GET /v2/network': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value: string
    }
  }
  /** Each reorg: the hashes of the blocks that left, the last common block, the tip, and how many left. */
  'GET /v2/reorg/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** The header of the last block. */
  'GET /v2/tip': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly value: ChaintracksHeader
    }
  }
  /** The header of the last block, 80 bytes. */
  'GET /v2/tip.bin': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: Uint8Array
  }
  /** The header of the last block, and of each that becomes it. */
  'GET /v2/tip/stream': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: string
  }
  /** Why an output is, or is not, admitted, indexed, spent or waiting. */
  'GET /why/{outpoint}': {
    readonly path: {
      readonly outpoint: string
    }
    readonly query: {
      readonly topic?: string
    }
    readonly body: undefined
    readonly answer: {
      readonly outpoint: string
      readonly reasons: readonly {
        readonly code: string
        readonly message: string
        readonly topic?: string
        readonly details?: Readonly<Record<string, unknown>>
      }[]
    }
  }
  /** Puts a token on the blacklist. */
  'POST /1sat/admin/api/blacklist': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A token id, or the name of its topic. */
      readonly topic: string
    }
    readonly answer: {
      readonly message: string
      readonly token: string
      readonly topic: string
    }
  }
  /** That the node is set up: its admin token comes from its settings. */
  'POST /1sat/admin/api/setup': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly message: string
    }
  }
  /** Puts a token on the whitelist. */
  'POST /1sat/admin/api/whitelist': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A token id, or the name of its topic. */
      readonly topic: string
    }
    readonly answer: {
      readonly message: string
      readonly token: string
      readonly topic: string
    }
  }
  /** Gives a transaction to the network: BEEF, Extended Format or raw, in bytes, in hex, or as `{rawTx}`. */
  'POST /1sat/arcade/tx': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: TransactionStatus
  }
  /** Gives transactions to the network, in order. */
  'POST /1sat/arcade/txs': {
    readonly path: undefined
    readonly query: undefined
    readonly body: readonly {
      readonly rawTx: string
    }[]
    readonly answer: readonly TransactionStatus[]
  }
  /** Tokens by their ids; unknown ones are left out. */
  'POST /1sat/bsv21/lookup': {
    readonly path: undefined
    readonly query: undefined
    readonly body: readonly string[]
    readonly answer: readonly TokenDetails[]
  }
  /** Submits a transaction to topics. Answered when everything is durable. */
  'POST /1sat/bsv21/overlay/submit': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly outputsToAdmit: readonly number[]
          readonly coinsToRetain: readonly number[]
          readonly coinsRemoved: readonly number[]
          readonly error?: {
            readonly code: string
            readonly message: string
          }
        }
      >
    >
  }
  /** Tokens by their ids; unknown ones are left out. */
  'POST /1sat/bsv21/tokens': {
    readonly path: undefined
    readonly query: undefined
    readonly body: readonly string[]
    readonly answer: readonly TokenDetails[]
  }
  /** The valid outputs of the token among the given outputs. */
  'POST /1sat/bsv21/{token}/outputs': {
    readonly path: {
      readonly token: string
    }
    readonly query: {
      readonly unspent?: boolean
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: readonly string[]
    readonly answer: readonly IndexedOutput[]
  }
  /** The states of outputs, in their order. */
  'POST /1sat/bsv21/{token}/outputs/status': {
    readonly path: {
      readonly token: string
    }
    readonly query: undefined
    readonly body: readonly string[]
    readonly answer: readonly {
      readonly outpoint: string
      /** `valid` and unspent, `spent`, `queued`: its transaction has come and is not indexed, or `unknown` to the token. */
      readonly state: 'valid' | 'spent' | 'queued' | 'unknown'
    }[]
  }
  /** The balance of a token at several addresses, summed. */
  'POST /1sat/bsv21/{token}/{lock}/balance': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
    }
    readonly query: undefined
    readonly body: readonly string[]
    readonly answer: {
      readonly balance: number
      readonly utxoCount: number
      /** A whole number as text. */
      readonly amount: string
      readonly completeness: Completeness
    }
  }
  /** All outputs, spent or not, of a token that addresses have. */
  'POST /1sat/bsv21/{token}/{lock}/history': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
    }
    readonly query: {
      readonly from?: number
      readonly to?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly cursor?: string
    }
    readonly body: readonly string[]
    readonly answer: readonly IndexedOutput[]
  }
  /** Unspent outputs of a token that addresses have. */
  'POST /1sat/bsv21/{token}/{lock}/unspent': {
    readonly path: {
      readonly token: string
      readonly lock: 'p2pkh' | 'cos' | 'list'
    }
    readonly query: {
      readonly from?: number
      readonly to?: number
      readonly limit?: number
      readonly rev?: boolean
      readonly cursor?: string
    }
    readonly body: readonly string[]
    readonly answer: readonly IndexedOutput[]
  }
  /** The metadata of many outputs by their pointers as given; null for an output without any. */
  'POST /1sat/ordfs/metadata': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly outpoints: readonly string[]
    }
    readonly answer: Readonly<Record<string, ContentMetadata | null>>
  }
  /** The body, with the media type of the request. */
  'POST /1sat/ordfs/preview': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: Uint8Array
  }
  /** Asks a lookup service. With `x-aggregation: yes` the outputs come with one BEEF for all of them, as bytes. */
  'POST /1sat/overlay/lookup': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly service: string
      /** A query in the form of the service. */
      readonly query?: unknown
    }
    readonly answer: {
      readonly type: 'output-list'
      readonly outputs: readonly {
        readonly beef: readonly number[]
        readonly outputIndex: number
        readonly context?: readonly number[]
      }[]
    }
  }
  /** A transaction of the ancestry of an output, with its proof if it has one. */
  'POST /1sat/overlay/requestForeignGASPNode': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A txid and an output number: `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`. */
      readonly graphID: string
      /** As people see it, 64 digits. */
      readonly txid: string
      readonly outputIndex: number
      readonly metadata?: unknown
    }
    readonly answer: {
      readonly graphID: string
      readonly rawTx: string
      readonly outputIndex: number
      readonly proof?: string
    }
  }
  /** The live outputs of a topic, in the order in which they came into it, from a score on. */
  'POST /1sat/overlay/requestSyncResponse': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** Of GASP: 1. */
      readonly version: number
      /** The last score that was seen, 0 before the first. */
      readonly since: number
      readonly limit?: number | null
      /** An extension: transactions from this position on instead. */
      readonly applied?: number
      /** An extension: heights whose anchors are equal; transactions of these blocks are left out. */
      readonly anchored?: {
        readonly from: number
        readonly to: number
      }
    }
    readonly answer: {
      readonly UTXOList: readonly {
        /** As people see it, 64 digits. */
        readonly txid: string
        readonly outputIndex: number
        readonly score: number
      }[]
      readonly since: number
      readonly applied?: {
        readonly transactions: readonly {
          /** As people see it, 64 digits. */
          readonly txid: string
          readonly score: number
        }[]
        readonly last: number
      }
    }
  }
  /** Submits a transaction to topics. Answered when everything is durable. */
  'POST /1sat/overlay/submit': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly outputsToAdmit: readonly number[]
          readonly coinsToRetain: readonly number[]
          readonly coinsRemoved: readonly number[]
          readonly error?: {
            readonly code: string
            readonly message: string
          }
        }
      >
    >
  }
  /** Gives a transaction to the network: BEEF, Extended Format or raw, in bytes, in hex, or as `{rawTx}`. */
  'POST /1sat/tx': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: TransactionStatus
  }
  /** Outputs; null for one that is not known. */
  'POST /1sat/txo/outpoints': {
    readonly path: undefined
    readonly query: {
      readonly tags?: readonly string[]
      readonly sats?: boolean
      readonly spend?: boolean
      readonly events?: boolean
      readonly block?: boolean
    }
    readonly body: readonly string[]
    readonly answer: readonly (IndexedOutput | null)[]
  }
  /** The spenders of outputs. */
  'POST /1sat/txo/spends': {
    readonly path: undefined
    readonly query: undefined
    readonly body: readonly string[]
    readonly answer: readonly {
      readonly spendTxid: string | null
    }[]
  }
  /** Writes a copy of the store, as it is now, and reads it back. */
  'POST /admin/backup': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A directory in that of the backups; the time unless given. */
      readonly name?: string
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Bans a host or an advertisement. */
  'POST /admin/ban': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** `domain`: a host, in any spelling and for any scheme; `outpoint`: one advertisement. */
      readonly type: 'domain' | 'outpoint'
      /** A URI as https://node.example.com, a host name, or an outpoint. */
      readonly value: string
      readonly reason?: string
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Takes an output out of all topics, and everything known of it. */
  'POST /admin/evict': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A txid and an output number: `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`. */
      readonly outpoint: string
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** `/admin/evict` in the form of overlay-express. */
  'POST /admin/evictOutpoint': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** As people see it, 64 digits. */
      readonly txid: string
      readonly outputIndex: number
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Adds headers, 80 bytes each, parents first. */
  'POST /admin/headers': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Asks each advertised host for its health, once. */
  'POST /admin/janitor': {
    readonly path: undefined
    readonly query: undefined
    readonly body: undefined
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Delivers the changes of topics to a lookup service again, from a position of their logs. */
  'POST /admin/lookups/{service}/replay': {
    readonly path: {
      readonly service: string
    }
    readonly query: undefined
    readonly body: {
      /** All topics unless given. */
      readonly topic?: string
      /** The position of the log of `topic` after which to begin; 0 is the whole log. */
      readonly after?: number
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Dead items become due again: one, or up to 1,000. */
  'POST /admin/queues/{queue}/retry': {
    readonly path: {
      readonly queue: string
    }
    readonly query: undefined
    readonly body: {
      /** A txid, an outpoint, or an entry of a membership log, as the list of items has it. */
      readonly item?: string
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Lifts a ban. */
  'POST /admin/unban': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** `domain`: a host, in any spelling and for any scheme; `outpoint`: one advertisement. */
      readonly type: 'domain' | 'outpoint'
      /** A URI as https://node.example.com, a host name, or an outpoint. */
      readonly value: string
    }
    readonly answer: {
      readonly status: 'success'
      readonly data: unknown
    }
  }
  /** Pays satoshis of the development chain to an address or a script. They wait for the next block. */
  'POST /dev/fund': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly address?: string
      readonly script?: string
      readonly satoshis: number
    }
    readonly answer: {
      readonly txid: string
      readonly vout: number
      readonly beef: string
    }
  }
  /** Mines blocks, the first of them with all that waits. */
  'POST /dev/mine': {
    readonly path: undefined
    readonly query: {
      readonly count?: number
    }
    readonly body: undefined
    readonly answer: {
      readonly blocks: readonly {
        readonly height: number
        readonly hash: string
      }[]
    }
  }
  /** Replaces the last blocks by one block more, with their transactions. */
  'POST /dev/reorg': {
    readonly path: undefined
    readonly query: {
      readonly depth?: number
    }
    readonly body: undefined
    readonly answer: {
      readonly fork: number
      readonly blocks: readonly {
        readonly height: number
        readonly hash: string
      }[]
    }
  }
  /** Gives the development chain a transaction with its unmined ancestors. No topic sees it. */
  'POST /dev/submit': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A BEEF in hex. */
      readonly beef: string
    }
    readonly answer: {
      readonly txid: string
    }
  }
  /** Asks a lookup service. With `x-aggregation: yes` the outputs come with one BEEF for all of them, as bytes. */
  'POST /lookup': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly service: string
      /** A query in the form of the service. */
      readonly query?: unknown
    }
    readonly answer: {
      readonly type: 'output-list'
      readonly outputs: readonly {
        readonly beef: readonly number[]
        readonly outputIndex: number
        readonly context?: readonly number[]
      }[]
    }
  }
  /** The transactions that a topic admitted from a block, in block order (BRC-136). */
  'POST /requestAdmittedList': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly blockHeight: number
      /** In display order. */
      readonly blockHash?: string
    }
    readonly answer: {
      /** The name of a topic. */
      readonly topic: string
      readonly blockHeight: number
      /** In display order. */
      readonly blockHash?: string
      readonly admitted: readonly {
        /** As people see it, 64 digits. */
        readonly txid: string
        readonly blockIndex: number
      }[]
    }
  }
  /** One BUMP of admitted transactions of a block (BRC-136). */
  'POST /requestCompoundMerklePath': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly blockHeight: number
      readonly txids: readonly string[]
    }
    readonly answer: {
      /** The name of a topic. */
      readonly topic: string
      readonly blockHeight: number
      readonly txids: readonly string[]
      readonly merklePath: string
    }
  }
  /** A transaction of the ancestry of an output, with its proof if it has one. */
  'POST /requestForeignGASPNode': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** A txid and an output number: `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`. */
      readonly graphID: string
      /** As people see it, 64 digits. */
      readonly txid: string
      readonly outputIndex: number
      readonly metadata?: unknown
    }
    readonly answer: {
      readonly graphID: string
      readonly rawTx: string
      readonly outputIndex: number
      readonly proof?: string
    }
  }
  /** Raw transactions by txid, without a topic (BRC-136). */
  'POST /requestRawTransactions': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly txids: readonly string[]
    }
    readonly answer: {
      readonly transactions: readonly {
        /** As people see it, 64 digits. */
        readonly txid: string
        readonly rawTx: string
      }[]
      readonly missing: readonly string[]
    }
  }
  /** The live outputs of a topic, in the order in which they came into it, from a score on. */
  'POST /requestSyncResponse': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** Of GASP: 1. */
      readonly version: number
      /** The last score that was seen, 0 before the first. */
      readonly since: number
      readonly limit?: number | null
      /** An extension: transactions from this position on instead. */
      readonly applied?: number
      /** An extension: heights whose anchors are equal; transactions of these blocks are left out. */
      readonly anchored?: {
        readonly from: number
        readonly to: number
      }
    }
    readonly answer: {
      readonly UTXOList: readonly {
        /** As people see it, 64 digits. */
        readonly txid: string
        readonly outputIndex: number
        readonly score: number
      }[]
      readonly since: number
      readonly applied?: {
        readonly transactions: readonly {
          /** As people see it, 64 digits. */
          readonly txid: string
          readonly score: number
        }[]
        readonly last: number
      }
    }
  }
  /** The anchors of up to 1024 heights, both ends included (BRC-136). */
  'POST /requestTopicAnchorRange': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      readonly fromHeight: number
      readonly toHeight: number
      /** An extension: the anchors in short, if there are few. */
      readonly short?: boolean
    }
    readonly answer: {
      /** The name of a topic. */
      readonly topic: string
      readonly anchors: readonly {
        readonly blockHeight: number
        /** In display order. */
        readonly blockHash: string
        /** The merkle root over the admitted txids of the block, zero without any. */
        readonly basmRoot: string
        readonly admittedCount: number
        /** The hash of the anchor before, the block hash and the root. */
        readonly tac: string
      }[]
      readonly short?: {
        readonly roots: readonly string[]
        readonly prefixes: readonly string[]
        /** The anchor of the last height. */
        readonly tac: string
      }
    }
  }
  /** The last anchor of a topic; height -1 without any (BRC-136). */
  'POST /requestTopicAnchorTip': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Readonly<Record<string, never>>
    readonly answer: {
      /** The name of a topic. */
      readonly topic: string
      readonly blockHeight: number
      /** In display order. */
      readonly blockHash?: string
      /** The merkle root over the admitted txids of the block, zero without any. */
      readonly basmRoot?: string
      readonly admittedCount?: number
      /** In display order. */
      readonly tac: string
    }
  }
  /** Transactions of a topic in one BEEF, each with the unproved ancestors that the topic does not list. An extension of GASP for `quoin bootstrap` and the sync between Quoin nodes. */
  'POST /requestTransactions': {
    readonly path: undefined
    readonly query: undefined
    readonly body: {
      /** Of GASP: 1. */
      readonly version: number
      readonly txids?: readonly string[]
      /** In place of txids: positions in the admitted list of a block. */
      readonly block?: {
        readonly height: number
        readonly hash: string
        readonly positions: readonly number[]
      }
    }
    readonly answer: Uint8Array
  }
  /** Submits a transaction to topics. Answered when everything is durable. */
  'POST /submit': {
    readonly path: undefined
    readonly query: undefined
    readonly body: Uint8Array
    readonly answer: Readonly<
      Record<
        string,
        {
          readonly outputsToAdmit: readonly number[]
          readonly coinsToRetain: readonly number[]
          readonly coinsRemoved: readonly number[]
          readonly error?: {
            readonly code: string
            readonly message: string
          }
        }
      >
    >
  }
}
