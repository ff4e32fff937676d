/** Bearer tokens, compared in a time that says nothing about them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { BearerAuth } from '@quoin/http'
import { QuoinError } from '@quoin/primitives'

export const bearer = (token: string): BearerAuth => {
  const expected = digest(token)
  return {
    check(authorization) {
      const given = /^Bearer +(.+)$/i.exec(authorization ?? '')?.[1]
      if (given === undefined) throw new QuoinError('ERR_UNAUTHORIZED', 'a bearer token is needed')
      if (!timingSafeEqual(digest(given), expected))
        throw new QuoinError('ERR_FORBIDDEN', 'the token is wrong')
    }
  }
}

/** Digests have one length, so the comparison takes one time. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
