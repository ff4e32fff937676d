/** A layout as JSON that people read: parts and scans on one line each. */
export const asText = (layout: unknown): string => print(layout, '')

const WIDTH = 100

const print = (value: unknown, indent: string): string => {
  const flat = oneLine(value)
  if (flat.length + indent.length <= WIDTH || typeof value !== 'object' || value === null) return flat
  const inner = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map(each => `${inner}${print(each, inner)}`).join(',\n')}\n${indent}]`
  const fields = Object.entries(value).map(
    ([name, each]) => `${inner}${JSON.stringify(name)}: ${print(each, inner)}`
  )
  return `{\n${fields.join(',\n')}\n${indent}}`
}

const oneLine = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${oneLine(each)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
