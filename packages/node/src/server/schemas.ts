/** Schemas that several routes share. */
import { Type } from '@sinclair/typebox'

export const Txid = Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'As people see it, 64 digits.' })

export const Outpoint = Type.String({
  pattern: '^[0-9a-fA-F]{64}[._:i](0|[1-9][0-9]{0,9})$',
  description: 'A txid and an output number: `txid.vout`, `txid_vout`, `txid:vout` or `txidivout`.'
})

export const Hex = Type.String({ pattern: '^([0-9a-fA-F]{2})*$' })

export const TopicName = Type.String({
  pattern: '^[a-zA-Z0-9._-]{1,128}$',
  description: 'The name of a topic.'
})

/** Whole numbers that may exceed 2^53. */
export const Amount = Type.String({ pattern: '^[0-9]+$', description: 'A whole number as text.' })

export const Address = Type.String({
  pattern: '^[1-9A-HJ-NP-Za-km-z]{26,35}$',
  description: 'With a checksum that holds.'
})

export const Failure = Type.Object(
  {
    status: Type.Literal('error'),
    code: Type.String({ description: 'Stable: `ERR_…`.' }),
    message: Type.String(),
    description: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    requestId: Type.Optional(Type.String())
  },
  { $id: 'Failure' }
)
