/**
 * A `fetch` that a test can replace, also for modules that keep the global function when they are loaded, as @bsv/sdk does:
 * files of tests share them.
 */
interface Fetch {
  readonly direct: typeof fetch
  replacement: typeof fetch | undefined
}

const NAME = Symbol.for('quoin.test.fetch')
const shared = globalThis as { [NAME]?: Fetch }

const install = (): Fetch => {
  const installed: Fetch = { direct: globalThis.fetch, replacement: undefined }
  globalThis.fetch = (input, init) => (installed.replacement ?? installed.direct)(input, init)
  return installed
}

const installed = shared[NAME] ?? install()
shared[NAME] = installed

export const directFetch = installed.direct

/** Without an argument the global function is as it was. */
export const replaceFetch = (replacement?: typeof fetch): void => {
  installed.replacement = replacement
}
