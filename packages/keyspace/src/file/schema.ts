/** The JSON Schema of layout files, from the table of components: editors complete and check with it. */
import { COMPONENTS } from './components.ts'
import { OPTIONS } from './options.ts'

type Schema = Readonly<Record<string, unknown>>

const NAME = { type: 'string', minLength: 1, pattern: '^[^\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+$' }
const PROSE = { $comment: { type: 'string' }, about: { type: 'string' } }
const REFERENCE = {
  type: 'object',
  description: 'A value elsewhere: a file, # and a pointer',
  properties: { $ref: { type: 'string' }, $comment: { type: 'string' } },
  required: ['$ref'],
  additionalProperties: false
}
const COMPONENT_NAMES = { type: 'array', items: { type: 'string' }, maxItems: 64, uniqueItems: true }

const object = (description: string, properties: Schema, required: readonly string[]): Schema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false
})

const componentSchema = (codec: string): Schema => {
  const { about, options, required = [] } = COMPONENTS[codec]!
  const fields = Object.fromEntries(
    [...options, 'descending' as const].map(option => [option, { $ref: `#/$defs/option ${option}` }])
  )
  return object(about, { [codec]: { $ref: '#/$defs/name' }, ...fields, ...PROSE }, [codec, ...required])
}

export const layoutSchema = (): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://github.com/quoin/quoin/blob/main/packages/keyspace/layout.schema.json',
  title: 'Layout of keys',
  ...object(
    'The keys of a store, for keyspace audit',
    {
      $schema: { type: 'string' },
      name: { $ref: '#/$defs/name' },
      collections: {
        type: 'array',
        maxItems: 1000,
        items: { anyOf: [{ $ref: '#/$defs/collection' }, REFERENCE] }
      },
      definitions: { type: 'object', description: 'Values for references' },
      ...PROSE
    },
    ['name', 'collections']
  ),
  $defs: {
    ...Object.fromEntries(
      Object.entries(OPTIONS).map(([option, { about, schema }]) => [
        `option ${option}`,
        { description: about, ...schema }
      ])
    ),
    name: NAME,
    collection: object(
      'One key pattern',
      {
        name: { $ref: '#/$defs/name' },
        key: { type: 'array', items: { $ref: '#/$defs/part' }, minItems: 1, maxItems: 64 },
        scans: { type: 'array', items: { $ref: '#/$defs/scan' }, maxItems: 64 },
        ...PROSE
      },
      ['name', 'key']
    ),
    part: {
      anyOf: [
        { type: 'string', description: 'Literal text' },
        object('Literal bytes', { raw: { type: 'string', pattern: '^([0-9a-f]{2})+$' }, ...PROSE }, ['raw']),
        REFERENCE,
        ...Object.keys(COMPONENTS).map(componentSchema)
      ]
    },
    parts: {
      anyOf: [
        { $ref: '#/$defs/part' },
        { type: 'array', items: { $ref: '#/$defs/part' }, minItems: 1, maxItems: 64 }
      ]
    },
    fdbElements: {
      type: 'array',
      minItems: 1,
      maxItems: 64,
      items: { anyOf: [OPTIONS.element.schema, { $ref: '#/$defs/fdbElements' }] }
    },
    scan: {
      anyOf: [
        { ...COMPONENT_NAMES, description: 'The leading components of the iteration' },
        object(
          'An iteration, or a deletion, under leading components',
          {
            prefix: COMPONENT_NAMES,
            trailing: { type: 'boolean', description: 'false: the prefix ends before the separator' },
            order: { const: 'value', description: 'The keys walk in the order of their values' },
            from: {
              ...COMPONENT_NAMES,
              minItems: 1,
              description: 'A range that begins at values of these components'
            },
            reverse: { type: 'boolean', description: 'The walk goes down' },
            delete: { type: 'boolean', description: 'All keys under the prefix are deleted' },
            seek: {
              type: 'string',
              pattern: '^([0-9a-f]{2})+$',
              description: 'The bytes after the prefix from which a reverse walk begins'
            },
            $comment: { type: 'string' }
          },
          ['prefix']
        ),
        object(
          'An iteration over all keys of the store',
          {
            all: { const: true },
            order: { const: 'value' },
            reverse: { type: 'boolean' },
            delete: { type: 'boolean' },
            seek: { type: 'string', pattern: '^([0-9a-f]{2})+$' },
            $comment: { type: 'string' }
          },
          ['all']
        ),
        object('A read of one key', { get: COMPONENT_NAMES, $comment: { type: 'string' } }, ['get']),
        REFERENCE
      ]
    }
  }
})
