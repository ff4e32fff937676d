/** URLs of stores that are only looked at. */

/** LMDB lets others read beside the process that writes; only reading, nothing of it is changed. */
export const existing = (url: string): string =>
  url.startsWith('lmdb:') && !url.includes('?') ? `${url}?read-only` : url
