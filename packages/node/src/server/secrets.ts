/** Configurations as they may be shown: without the passwords in URLs and without values whose names say that they are secret. */
export const HIDDEN = '(hidden)'

const SECRET_NAME = /passw|secret|token|private|credential|api_?key/i

/** The address of a server may carry a password, and MongoDB takes others in the query. */
export const withoutPassword = (url: string): string =>
  url
    .replace(/(:\/\/[^/@:\s]*):[^/@\s]*@/g, `$1:${HIDDEN}@`)
    .replace(/([?&](\w*)=)[^&\s"]*/g, (all, start: string, name: string) =>
      SECRET_NAME.test(name) || name === 'authMechanismProperties' ? start + HIDDEN : all
    )

/** A value with every nested secret hidden; texts under other names lose the passwords of URLs. */
export const withoutSecrets = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutPassword(value)
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      SECRET_NAME.test(name) && (typeof each === 'string' || typeof each === 'number')
        ? HIDDEN
        : withoutSecrets(each)
    ])
  )
}
