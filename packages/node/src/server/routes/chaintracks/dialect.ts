/**
 * The forms in which header services answer the same questions. Their paths below a prefix agree; clients do not take the
 * form of another.
 */
import { type ChainHeader, headerJson } from '@quoin/chain'
import { type TSchema, Type } from '@sinclair/typebox'

export interface Dialect {
  readonly prefix: string
  readonly tag: string
  /** The id of an operation, by what it answers: `Tip`. */
  nameOf(answer: string): string
  readonly header: TSchema
  describe(header: ChainHeader): unknown
  /** The body for a value, `field` being its name where it is not a header. */
  body(value: unknown, field?: string): unknown
  bodySchema(value: TSchema, field?: string): TSchema
  /** Whether errors have the codes of chaintracks-server: `ERR_INVALID_PARAMS`, `ERR_NOT_FOUND`. */
  readonly hasServiceErrors: boolean
}

const FIELDS = {
  version: Type.Integer(),
  previousHash: Type.String(),
  merkleRoot: Type.String(),
  time: Type.Integer(),
  bits: Type.Integer(),
  nonce: Type.Integer(),
  height: Type.Integer(),
  hash: Type.String()
}

/** Strict clients refuse a header with other fields. */
export const HeaderValue = Type.Object(FIELDS, { $id: 'ChaintracksHeader' })

const OneSatHeader = Type.Object(
  {
    ...FIELDS,
    prevHash: Type.String({ description: '`previousHash` under the name that `@1sat/client` has.' })
  },
  { $id: 'BlockHeader' }
)

export const headerValue = (header: ChainHeader) => {
  const { prevHash, ...rest } = headerJson(header)
  return { ...rest, previousHash: prevHash }
}

const bare = {
  body: (value: unknown, field?: string) => (field === undefined ? value : { [field]: value }),
  bodySchema: (value: TSchema, field?: string) =>
    field === undefined ? value : Type.Object({ [field]: value }),
  hasServiceErrors: false
}

/** As 1sat-stack serves its clients. */
export const ONE_SAT: Dialect = {
  ...bare,
  prefix: '/1sat/chaintracks',
  tag: '1sat',
  nameOf: answer => `chaintracks${answer}`,
  header: OneSatHeader,
  describe: header => ({ ...headerValue(header), prevHash: headerJson(header).prevHash })
}

/** As go-chaintracks and Arcade serve overlay-express and wallets. */
export const GO: Dialect = {
  ...bare,
  prefix: '/chaintracks/v2',
  tag: 'chaintracks',
  nameOf: answer => `goChaintracks${answer}`,
  header: HeaderValue,
  describe: headerValue
}

/** As chaintracks-server: every answer has a status and a value. */
export const SERVICE: Dialect = {
  prefix: '/v2',
  tag: 'chaintracks',
  nameOf: answer => `chaintracksServer${answer}`,
  header: HeaderValue,
  describe: headerValue,
  body: value => ({ status: 'success', value }),
  bodySchema: value => Type.Object({ status: Type.Literal('success'), value }),
  hasServiceErrors: true
}
