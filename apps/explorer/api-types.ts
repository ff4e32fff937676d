/**
 * Writes `src/api/types.ts` from the OpenAPI description of a node: `npm run explorer:types`. The page's requests and
 * responses are then typed by the server's schemas.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { loadConfig, startNode } from 'quoin'

export const TYPES_FILE = fileURLToPath(new URL('./src/api/types.ts', import.meta.url))

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>
interface Operation {
  readonly summary: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema?: Schema
    readonly content?: Content
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const JSON_TYPE = 'application/json'

/** Generates the file from a node with every optional part. */
export const generateTypes = async (): Promise<string> => {
  const { config } = loadConfig({
    options: {
      store: 'memory:',
      port: '0',
      logLevel: 'error',
      adminToken: 'only-to-see-the-routes',
      backups: 'never-written'
    }
  })
  const node = await startNode(config)
  try {
    const response = await fetch(`${node.url}/openapi.json`)
    return formatted(typesOf((await response.json()) as Described))
  } finally {
    await node.close()
  }
}

/** Formats the text with Biome. */
const formatted = (text: string): string => {
  const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url))
  const { status, stdout, stderr } = spawnSync(biome, ['format', '--stdin-file-path=types.ts'], {
    input: text,
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url))
  })
  if (status !== 0) throw new Error(`biome cannot format the types: ${stderr}`)
  return stdout
}

const typesOf = ({ paths, components }: Described): string => {
  const schemas = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))
  const routes = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, each]) => [`${method.toUpperCase()} ${path}`, each] as const)
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `${[
    '/** Written by `npm run explorer:types` from the description of the routes. */',
    ...schemas.map(([name, schema]) => `export type ${name} = ${typeOf(schema, '')}`),
    '/** Requests and responses of the routes. */',
    `export interface Routes {\n${routes.map(([name, each]) => routeOf(name, each)).join('\n')}\n}`
  ].join('\n\n')}\n`
}

const routeOf = (name: string, { summary, parameters, requestBody, responses }: Operation): string => {
  const of = (place: string): string => {
    const properties = parameters.filter(each => each.in === place)
    if (properties.length === 0) return 'undefined'
    const lines = properties.map(({ name: key, required, schema, content }) => {
      // A JSON parameter is sent as text.
      const type = content ? 'string' : typeOf(schema ?? {}, '      ')
      return `      readonly ${keyOf(key)}${required ? '' : '?'}: ${type}`
    })
    return `{\n${lines.join('\n')}\n    }`
  }
  const body = requestBody ? contentType(requestBody.content) : 'undefined'
  const answer = contentType(responses['200']?.content ?? {})
  return `  /** ${summary.replaceAll('*/', '* /')} */
  '${name}': {
    readonly path: ${of('path')}
    readonly query: ${of('query')}
    readonly body: ${body}
    readonly answer: ${answer}
  }`
}

const contentType = (content: Content): string => {
  const described = content[JSON_TYPE]
  if (described) return typeOf(described.schema ?? {}, '    ')
  return Object.keys(content).some(type => type.startsWith('text/')) ? 'string' : 'Uint8Array'
}

const typeOf = (schema: Schema, indent: string): string => {
  const { $ref, anyOf, items, properties, patternProperties } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (anyOf) return anyOf.map(each => typeOf(each, indent)).join(' | ')
  if ('const' in schema) return literal(schema.const)
  if (patternProperties) {
    return `Readonly<Record<string, ${typeOf(Object.values(patternProperties)[0]!, indent)}>>`
  }
  if (properties) return objectOf(schema, indent)
  switch (schema.type) {
    case 'array':
      return items ? `readonly (${typeOf(items, indent)})[]` : 'readonly unknown[]'
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      return 'unknown'
  }
}

const objectOf = ({ properties = {}, required = [] }: Schema, indent: string): string => {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, each]) => {
    const said =
      each.description === undefined ? '' : `${inner}/** ${each.description.replaceAll('*/', '* /')} */\n`
    return `${said}${inner}readonly ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(each, inner)}`
  })
  return lines.length === 0 ? 'Readonly<Record<string, never>>' : `{\n${lines.join('\n')}\n${indent}}`
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))
const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`)

if (argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TYPES_FILE, await generateTypes())
