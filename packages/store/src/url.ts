/** URLs of stores that are files of this machine: `lmdb:PATH`, `lmdb:PATH?read-only`, `level:PATH`. */
import { QuoinError } from '@quoin/primitives'
import type { StoreKind } from './ordered/directory.ts'

export interface FilesUrl {
  readonly kind: StoreKind
  readonly path: string
  readonly readOnly: boolean
}

/** Undefined when the URL is of another scheme. */
export const parseFilesUrl = (url: string): FilesUrl | undefined => {
  const [, kind, rest = ''] = /^(lmdb|level):(.*)$/s.exec(url) ?? []
  if (!kind) return undefined
  const [path = '', ...options] = rest.split('?')
  const [option] = options
  const allowed = kind === 'lmdb' ? [undefined, 'read-only'] : [undefined]
  if (!path || options.length > 1 || !allowed.includes(option)) {
    throw new QuoinError(
      'ERR_STORE_URL',
      `${JSON.stringify(url)} has no path, or an unknown option; ` +
        'expected lmdb:PATH, lmdb:PATH?read-only, level:PATH',
      { url }
    )
  }
  return { kind: kind as StoreKind, path, readOnly: option === 'read-only' }
}
