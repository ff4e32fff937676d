/** The URL of a store that is only read. LMDB then opens its files beside the process that writes to them. */
export const readOnlyUrl = (url: string): string =>
  url.startsWith('lmdb:') && !url.includes('?') ? `${url}?read-only` : url
