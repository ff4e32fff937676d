/**
 * The settings of a node, each declared once: its key in a file, its environment variable, its option on the command
 * line, its default and its description all follow from here.
 */

import { PARSERS } from '@quoin/txo'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TRUST_PROXY_EXPECTS } from './client-address.ts'
import { LIMITS } from './limits.ts'
import { LEVELS } from './log.ts'
import { PluginSetting } from './plugin-settings.ts'
import { ROLES } from './roles.ts'

/** The annotations of a setting's schema. */
interface About {
  readonly description: string
  /** The expected value in words: `a whole number from 0 to 65535`. */
  readonly expects: string
  /** How the option is shown: `--port <number>`. */
  readonly argument: string
  readonly default?: unknown
  /** Never shown. */
  readonly secret?: boolean
  /** Its word in the option and the variable, instead of its keys: `--broadcast`. In a file, the group may be its value. */
  readonly word?: string
}

const text = (about: About, pattern?: string) => Type.String({ ...about, ...(pattern && { pattern }) })
const whole = (minimum: number, maximum: number, about: Omit<About, 'expects' | 'argument'>) =>
  Type.Integer({
    ...about,
    argument: 'number',
    expects: `a whole number from ${minimum} to ${maximum}`,
    minimum,
    maximum
  })
const choice = <const T extends readonly string[]>(values: T, about: Omit<About, 'expects'>) =>
  Type.Union(
    values.map(value => Type.Literal(value as T[number])),
    { ...about, expects: `one of ${values.join(', ')}` }
  )
const flag = (about: Omit<About, 'expects' | 'argument'>) =>
  Type.Boolean({ ...about, argument: 'true|false', expects: 'true or false' })
const token = (description: string) =>
  Type.Optional(
    text(
      {
        description,
        argument: 'token',
        expects: '16 to 512 printable characters without spaces',
        secret: true
      },
      '^[!-~]{16,512}$'
    )
  )

export const TOPIC_PATTERN = '^tm_[A-Za-z0-9_.-]{1,125}$'
const URL_PATTERN = '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$'

const schema = Type.Object(
  {
    store: text(
      {
        description: 'where everything is kept',
        argument: 'url',
        expects:
          'a store, for example lmdb:./quoin-data, level:./data, redis://localhost:6379, postgres://localhost/quoin or memory:',
        default: 'lmdb:./quoin-data'
      },
      // With -cluster, whose refusal names the alternative (`store/redis/url.ts`).
      '^(memory:$|(lmdb|level):.+|rediss?(-cluster)?://.+|postgres(ql)?://.+)'
    ),
    host: text(
      {
        description: 'the address to listen on',
        argument: 'address',
        expects: 'an address of this machine or a host name',
        default: '127.0.0.1'
      },
      '^[A-Za-z0-9.:_-]+$'
    ),
    port: whole(0, 65_535, { description: 'the port to listen on; 0 takes any that is free', default: 8080 }),
    roles: Type.Array(Type.Union(ROLES.map(role => Type.Literal(role))), {
      description:
        'the roles of this process over the store: api (HTTP and submissions), worker (token queues, deliveries and ' +
        're-evaluation), sources (headers, proofs, peers and sources of tokens, each in one process at a time)',
      argument: 'roles',
      expects: `a list of ${ROLES.join(', ')}`,
      default: ROLES,
      minItems: 1,
      uniqueItems: true
    }),
    readOnly: flag({
      description:
        'whether the process answers reads and lookups beside the process that writes the store, and refuses submissions; ' +
        'only with lmdb:PATH, as lmdb:PATH?read-only',
      default: false
    }),
    chain: text(
      {
        description:
          'which blocks there are: dev (mined by this node), headers:URL (a Chaintracks service), block-headers:URL ' +
          '(a Block Headers Service), headers (the stored ones), scripts-only (proofs are taken on trust)',
        argument: 'source',
        expects: 'dev, scripts-only, headers, headers:URL or block-headers:URL, with an http or https URL',
        default: 'dev'
      },
      `^(dev|scripts-only|headers|(block-)?headers:${URL_PATTERN.slice(1, -1)})$`
    ),
    network: Type.Optional(
      choice(['main', 'test', 'regtest'], {
        description: 'the network that the headers are of: main, or regtest for the chain dev',
        argument: 'name'
      })
    ),
    blockTime: whole(0, 86_400, {
      description: 'seconds after which the chain dev mines pending transactions; 0 mines on request only',
      default: 10
    }),
    chainToken: token('the bearer token for the service that the headers come from'),
    proofs: Type.Optional(
      text(
        {
          description:
            'a service that has merkle proofs, asked after each block and each reorg: GET URL/beef/{txid}/proof',
          argument: 'url',
          expects: 'an http or https URL'
        },
        URL_PATTERN
      )
    ),
    adminToken: token('the bearer token of the admin plane, which it turns on'),
    arcToken: token('the bearer token that a transaction processor sends to /arc-ingest, which it turns on'),
    broadcast: Type.Object(
      {
        processors: Type.Array(
          Type.String({ pattern: `^(arc|arcade):${URL_PATTERN.slice(1, -1)}$`, maxLength: 2048 }),
          {
            description:
              'the transaction processors that submitted transactions are broadcast through, in the order in which they are asked',
            argument: 'processor',
            expects: 'a list of arc:URL and arcade:URL, with http or https URLs, up to 8 different ones',
            default: [],
            maxItems: 8,
            uniqueItems: true,
            word: 'broadcast'
          }
        ),
        tokens: Type.Optional(
          Type.Array(Type.String({ pattern: '^[!-+\\--~]{0,512}$' }), {
            description:
              'the bearer tokens of the processors, in their order; an empty one where a processor needs none',
            argument: 'tokens',
            expects: 'a list of up to 512 printable characters each, without spaces and commas',
            maxItems: 8,
            secret: true
          })
        ),
        when: choice(['before', 'with'], {
          description:
            'when a submission is broadcast: before its admission, so that nothing enters that the network refuses, or with it, ' +
            'from an outbox, so that no submission waits for the network',
          argument: 'when',
          default: 'before'
        }),
        timeout: whole(100, 600_000, {
          description: 'milliseconds that a submission waits for the network, shared among the processors',
          default: 5000
        }),
        rebroadcast: whole(10, 1e6, {
          description:
            'seconds after which a transaction that is not mined is broadcast again, twice as many each time',
          default: 1800
        }),
        callback: Type.Optional(
          text(
            {
              description:
                'the public URL of /arc-ingest of this node, where processors report statuses with the arcToken',
              argument: 'url',
              expects: 'an http or https URL'
            },
            URL_PATTERN
          )
        )
      },
      { additionalProperties: false }
    ),
    backups: Type.Optional(
      text(
        {
          description: 'the directory for backups over HTTP, which it turns on',
          argument: 'path',
          expects: 'the path of a directory'
        },
        '^[^\\0]+$'
      )
    ),
    peers: Type.Record(
      Type.String({ pattern: TOPIC_PATTERN }),
      Type.Array(Type.String({ pattern: URL_PATTERN })),
      {
        description: 'nodes to sync topics with',
        argument: 'topic=url',
        expects: 'the names of topics (tm_…), each with a list of http or https URLs',
        default: {}
      }
    ),
    sync: Type.Object(
      {
        interval: whole(1, 86_400, {
          description: 'seconds between the end of a sync of a topic with its peers and the next',
          default: 60
        }),
        live: flag({
          description: 'whether the changes of peers are synced when they commit them, beside the interval',
          default: true
        }),
        discover: Type.Union(
          [
            Type.Literal('all'),
            Type.Literal('off'),
            Type.Array(Type.String({ pattern: '^tm_[A-Za-z0-9_.-]{1,125}$' }), {
              minItems: 1,
              uniqueItems: true
            })
          ],
          {
            description:
              'topics that are synced with the hosts that advertise them in tm_ship of this node, up to 8 of a topic, beside ' +
              'peers: all, off, or names',
            argument: 'topics',
            expects: 'all, off, or a list of names of topics (tm_…)',
            default: 'off'
          }
        )
      },
      { additionalProperties: false }
    ),
    anchors: Type.Record(
      Type.String({ pattern: TOPIC_PATTERN }),
      Type.Integer({ minimum: 0, maximum: 0xffffffff }),
      {
        description:
          'the first heights of the anchors of topics (BRC-136), in place of the ones that topics declare: the same as on the nodes that they are compared with',
        argument: 'topic=height',
        expects: 'the names of topics (tm_…), each with a height',
        default: {}
      }
    ),
    index: Type.Union(
      [
        Type.Literal('all'),
        Type.Literal('off'),
        Type.Array(Type.Union([...PARSERS.keys()].map(tag => Type.Literal(tag))), {
          minItems: 1,
          uniqueItems: true
        })
      ],
      {
        description:
          'outputs to index by owner and by the data of their scripts: all, off, or only these kinds of script',
        argument: 'kinds',
        expects: `all, off, or a list of ${[...PARSERS.keys()].join(', ')}`,
        default: 'all'
      }
    ),
    kvstore: flag({
      description: 'whether the node has the key-value store of BRC-35: tm_kvstore, ls_kvstore and /kv',
      default: true
    }),
    discovery: flag({
      description:
        'whether the node has the topics and lookup services of SHIP and SLAP, which say who hosts which',
      default: true
    }),
    content: Type.Object(
      {
        enabled: flag({
          description: 'whether the node serves the content of outputs: /content and /1sat/ordfs',
          default: true
        }),
        origin: Type.Optional(
          text(
            {
              description:
                'where content of outputs is served, apart from the pages of the node: other hosts redirect there, and it has ' +
                'nothing else',
              argument: 'url',
              expects: 'an http or https URL without a path'
            },
            '^https?://[^\\s/?#@]+$'
          )
        )
      },
      { additionalProperties: false }
    ),
    advertise: Type.Object(
      {
        uri: Type.Optional(
          text(
            {
              description:
                'the public address of the node, under which a process of it keeps its topics and lookup services ' +
                'advertised by SHIP and SLAP; not advertised unless set',
              argument: 'uri',
              expects: 'https and a host name that is not localhost, as https://node.example.com'
            },
            '^https://[^\\s/?#@]+/?$'
          )
        ),
        wallet: Type.Optional(
          text(
            {
              description:
                'the wallet that pays for advertisements and signs them: the URL of a BRC-100 wallet, or with the chain dev ' +
                'the file of a development wallet',
              argument: 'place',
              expects: 'an http or https URL, or the path of a file'
            },
            '^[^\\0]+$'
          )
        ),
        to: Type.Array(Type.String({ pattern: URL_PATTERN }), {
          description: 'trackers that get the advertisements too, and again when they lost them',
          argument: 'url',
          expects: 'a list of http or https URLs',
          default: []
        }),
        tracker: flag({
          description:
            'whether tm_ship, tm_slap, ls_ship and ls_slap are advertised too, for a network whose clients ask this node first',
          default: false
        }),
        interval: whole(10, 604_800, {
          description:
            'seconds between comparisons of the advertisements with the topics and lookup services of the node',
          default: 3600
        })
      },
      { additionalProperties: false }
    ),
    janitor: Type.Object(
      {
        interval: whole(0, 604_800, {
          description:
            'seconds between requests to /health of each host that is advertised in tm_ship and tm_slap of this node; ' +
            'hosts that fail three in a row are left out of answers. 0 asks none',
          default: 0
        })
      },
      { additionalProperties: false }
    ),
    liveLookups: flag({
      description:
        'whether the node answers live lookups of topics by long polls at /overlay/v1/lookup, as BRC-193 has them, which is a draft',
      default: false
    }),
    privateHosts: flag({
      description:
        'whether advertised hosts may have private addresses when the janitor or the sync connects to them, as in a ' +
        'network of one operator',
      default: false
    }),
    bsv21: Type.Object(
      {
        enabled: flag({
          description: 'whether the node has BSV21 tokens: tm_bsv21, a topic for each token, and /1sat/bsv21',
          default: true
        }),
        activation: choice(['listed', 'all'], {
          description:
            'which tokens are indexed: listed (whitelisted or paid for), or all; blacklisted ones never are',
          argument: 'which',
          default: 'listed'
        }),
        feeXpub: Type.Optional(
          text(
            {
              description:
                'the extended public key that fee addresses of tokens are derived from; without it nothing can be paid for',
              argument: 'xpub',
              expects: 'an extended public key, xpub…'
            },
            '^xpub[1-9A-HJ-NP-Za-km-z]{107,108}$'
          )
        ),
        feePerOutput: whole(0, 1e9, {
          description: 'satoshis that an indexed output costs a token that is paid for',
          default: 1000
        }),
        lifecycle: whole(1, 86_400, {
          description: 'seconds between looks at tokens that are not active',
          default: 300
        }),
        junglebus: Type.Optional(
          text(
            {
              description: 'a JungleBus to take transactions from',
              argument: 'url',
              expects: 'an http or https URL'
            },
            URL_PATTERN
          )
        ),
        subscription: Type.Optional(
          text(
            {
              description: 'the id of the JungleBus subscription',
              argument: 'id',
              expects: '64 hexadecimal digits'
            },
            '^[0-9a-f]{64}$'
          )
        ),
        fromBlock: whole(0, 0xffffffff, {
          description: 'the block that the subscription begins with, if nothing has come of it yet',
          default: 783_968
        }),
        reorgDepth: whole(0, 1000, {
          description: 'the last blocks of the subscription that are taken again after a restart',
          default: 6
        }),
        spendRate: whole(0, 1000, {
          description:
            'unspent outputs of tokens a second whose spenders JungleBus is asked for; 0 asks for none',
          default: 20
        }),
        mempool: flag({
          description: 'whether transactions that are not mined are taken from JungleBus',
          default: false
        }),
        peers: Type.Array(Type.String({ pattern: URL_PATTERN }), {
          description: 'other Quoin nodes to take token transactions from',
          argument: 'url',
          expects: 'a list of http or https URLs',
          default: []
        })
      },
      { additionalProperties: false }
    ),
    plugins: Type.Array(PluginSetting, {
      description:
        'modules with topics and lookup services, each [name=]module[#export] with the path of a file or the name of a ' +
        'package, as ./x.js or tm_x=./x.ts#X, or JSON as {"module":"./x.js","name":"ls_x","hydrateWith":"knex"}',
      argument: 'module',
      expects: 'a list of modules',
      default: []
    }),
    mongo: Type.Optional(
      text(
        {
          description:
            'the MongoDB database of plug-ins that are hydrated with mongo, as mongodb://localhost:27017/overlay',
          argument: 'url',
          expects: 'a mongodb:// or mongodb+srv:// URL'
        },
        '^mongodb(\\+srv)?://[^\\s]+$'
      )
    ),
    knex: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'the configuration of Knex for plug-ins that are hydrated with knex, JSON; SQLite in a file beside the store unless given',
        argument: 'json',
        expects:
          'an object, for example {"client":"better-sqlite3","connection":{"filename":"./plugins.sqlite"}}'
      })
    ),
    name: text(
      {
        description: 'the name of the node, for people',
        argument: 'name',
        expects: '1 to 100 characters',
        default: 'quoin'
      },
      '^.{1,100}$'
    ),
    trustProxy: Type.Array(Type.String(), {
      description:
        'proxies that are believed about the address of a client (x-forwarded-for): loopback, private (10.0.0.0/8, ' +
        '172.16.0.0/12, 192.168.0.0/16, fc00::/7), addresses and subnets',
      argument: 'addresses',
      expects: TRUST_PROXY_EXPECTS,
      default: []
    }),
    journal: whole(0, 1e9, {
      description: 'changes that the journal keeps for streams and followers',
      default: 100_000
    }),
    logLevel: choice(LEVELS, {
      description: 'lowest level to log: info, warn, error, or silent for none',
      argument: 'level',
      default: 'info'
    }),
    tracing: flag({
      description:
        'whether spans of requests, submissions, commits, calls of plug-ins and background tasks go to the SDK of ' +
        'OpenTelemetry that the process has registered',
      default: false
    }),
    limits: Type.Object(
      {
        body: whole(1024, 2 ** 31, { description: 'bytes that a request may have', default: LIMITS.body }),
        topics: whole(1, 10_000, { description: 'topics of a submission', default: LIMITS.topics }),
        page: whole(1, 100_000, { description: 'rows that a page may have', default: LIMITS.page }),
        events: whole(1, 10_000, { description: 'events of one question', default: LIMITS.events }),
        content: whole(1024, 2 ** 31, {
          description: 'bytes of the content of an output; longer content is not served',
          default: LIMITS.content
        }),
        streams: whole(0, 1e6, { description: 'live streams at once', default: LIMITS.streams }),
        rate: whole(0, 1e6, {
          description: 'requests a second from one address; 0 is as many as come',
          default: LIMITS.rate?.perSecond ?? 0
        }),
        burst: whole(1, 1e7, {
          description: 'requests that one address may make at once',
          default: LIMITS.rate?.burst ?? 1
        }),
        loopback: Type.Optional(
          flag({
            description:
              'whether requests of this machine count in limits.rate; not with the chain dev, unless set. A proxy on this ' +
              'machine that adds no header makes strangers look local'
          })
        ),
        topicTimeout: whole(10, 600_000, {
          description: 'milliseconds that a topic may take to judge a transaction',
          default: 10_000
        }),
        lookupTimeout: whole(10, 600_000, {
          description: 'milliseconds that a lookup service of a plug-in may take for one change of a topic',
          default: 10_000
        }),
        lookupAnswer: whole(0, 600_000, {
          description:
            'milliseconds that the answer to a lookup may take before it is refused with the reason; clients of @bsv/sdk wait ' +
            '2 s for a host. 0 is any time',
          default: 1900
        }),
        lookupWait: whole(0, 60_000, {
          description:
            'milliseconds that a submission waits for the lookup services of its topics; 0 does not wait',
          default: 250
        }),
        kvTags: whole(0, 1e6, {
          description: 'tags of an entry of the key-value store; an entry with more is not admitted',
          default: 1000
        }),
        kvTagBytes: whole(0, 1e7, {
          description: 'bytes of a tag of the key-value store; an entry with a longer one is not admitted',
          default: 10_000
        }),
        pluginMemory: whole(64, 1e6, {
          description: 'megabytes that the process of a plug-in may have',
          default: 512
        }),
        interpreters: Type.Optional(
          whole(2, 64, {
            description:
              'processes that run scripts of no known form, of up to 512 MB each; 2 to 4, by the cores of the machine, ' +
              'unless set'
          })
        )
      },
      { additionalProperties: false }
    )
  },
  { additionalProperties: false }
)

export type Config = Static<typeof schema>

/** One setting, by the names that it has. */
export interface Setting extends About {
  /** Its keys in a file: `['limits', 'body']`. */
  readonly path: readonly string[]
  /** `limits.body`. */
  readonly key: string
  /** `QUOIN_LIMITS_BODY`. */
  readonly variable: string
  /** `--limits-body`. */
  readonly option: string
  readonly schema: TSchema
}

const dashed = (word: string): string => word.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

const settingsOf = (object: TSchema, path: readonly string[]): Setting[] =>
  Object.entries(object['properties'] as Record<string, TSchema & About>).flatMap(([name, property]) => {
    const here = [...path, name]
    if (property['properties']) return settingsOf(property, here)
    const words = property.word ?? here.map(dashed).join('-')
    return {
      path: here,
      key: here.join('.'),
      variable: `QUOIN_${words.replaceAll('-', '_').toUpperCase()}`,
      option: `--${words}`,
      schema: property,
      description: property.description,
      expects: property.expects,
      argument: property.argument,
      default: property.default,
      secret: property.secret ?? false,
      ...(property.word !== undefined && { word: property.word })
    }
  })

export const SETTINGS: readonly Setting[] = settingsOf(schema, [])
