/** The description of the routes as one page without scripts, and without anything from elsewhere. */
import type { OpenApi, Operation, Parameter } from './openapi.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: light-dark(#1a5fb4, #78b4ff) }
html { background: light-dark(#fff, #14171c); color: light-dark(#1b1f24, #e8eaed) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin: 2.5rem 0 .5rem; text-transform: capitalize }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; padding: .4rem .8rem }
summary { cursor: pointer }
code { font-family: ui-monospace, monospace; font-size: .9em }
.method { display: inline-block; min-width: 3.5rem; font-weight: 700; color: var(--accent) }
.about { opacity: .85 }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 }
td { border-top: 1px solid var(--line); padding: .25rem .5rem .25rem 0; vertical-align: top; overflow-wrap: anywhere }
pre { background: var(--soft); padding: .6rem; white-space: pre-wrap; border-radius: .3rem }
a { color: var(--accent) }
summary { overflow-wrap: anywhere }
`

export const page = ({ info, paths }: OpenApi): string => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  )
  const families = [...new Set(operations.flatMap(({ operation }) => operation.tags))]
  const sections = families.map(family => {
    const inFamily = operations.filter(({ operation }) => operation.tags.includes(family))
    return `<h2>${family}</h2>${inFamily.map(each => shown(each.method, each.path, each.operation)).join('')}`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${info.title}</title><style>${STYLE}</style>
<main><h1>${info.title}</h1><p>${info.description} This page is made from <a href="openapi.json">/openapi.json</a>.</p>
<p><a href="status">/status</a> · <a href="health/ready">/health/ready</a> · <a href="metrics">/metrics</a></p>
${sections.join('\n')}</main></html>`
}

const shown = (method: string, path: string, operation: Operation): string => {
  const { summary, parameters, requestBody, responses, security } = operation
  const rows = [
    ...parameters.map(parameterRow),
    ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
      row('body', type, schemaText(schema))
    )
  ]
  const answers = Object.entries(responses).flatMap(([status, { description, content = {} }]) =>
    Object.entries(content).map(([type, { schema }]) =>
      row(`<code>${status}</code>`, escaped(type), `${escaped(description)}${schemaText(schema)}`)
    )
  )
  return `<details><summary><span class="method">${method.toUpperCase()}</span> <code>${escaped(path)}</code> ${security ? '🔒' : ''} <span class="about">${escaped(summary)}</span></summary>
<table>${rows.join('')}</table><table>${answers.join('')}</table></details>`
}

const parameterRow = ({ name, in: place, required, description = '', schema, content }: Parameter): string =>
  row(
    `<code>${escaped(name)}</code>${required ? ' *' : ''}`,
    place,
    `${escaped(description)}${schemaText(schema ?? content?.['application/json']?.schema)}`
  )

const row = (...cells: readonly string[]): string =>
  `<tr>${cells.map(cell => `<td>${cell}</td>`).join('')}</tr>`

const schemaText = (schema: unknown): string =>
  schema === undefined ? '' : `<pre>${escaped(JSON.stringify(schema, null, 1))}</pre>`

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, char => ESCAPES[char]!)
