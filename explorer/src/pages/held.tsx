/** The tokens that an address holds: named by its newest outputs, with exact balances. */
import { ApiError, ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { count, decimals } from '../format.ts'
import { Empty, Shown } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'

/** Outputs to look for tokens in, and tokens to ask about. */
const LOOKED_AT = 200
const MOST_TOKENS = 25

interface Held {
  readonly id: string
  readonly sym: string | undefined
  readonly dec: number
  readonly amount: string
  readonly outputs: number
}

interface Holdings {
  readonly held: readonly Held[]
  readonly isPart: boolean
}

const load = async (address: string, signal: AbortSignal): Promise<Holdings> => {
  const { outputs, cursor } = await ask('GET /txo/search', {
    query: { key: [`own:${address}`], unspent: true, reverse: true, limit: LOOKED_AT, tags: ['bsv21'] },
    signal
  })
  const ids = new Set(
    outputs.flatMap(({ data }) => {
      const id = (data?.['bsv21'] as { readonly id?: unknown } | undefined)?.id
      return typeof id === 'string' ? [id] : []
    })
  )
  const asked = [...ids].slice(0, MOST_TOKENS)
  const known = asked.length === 0 ? [] : await ask('POST /1sat/bsv21/lookup', { body: asked, signal })
  const held = await Promise.all(
    known.map(async ({ tokenId, token: { sym, dec } }) => {
      const { amount, utxoCount } = await ask('GET /1sat/bsv21/{token}/{lock}/{address}/balance', {
        path: { token: tokenId, lock: 'p2pkh', address },
        signal
      })
      return { id: tokenId, sym, dec, amount, outputs: utxoCount }
    })
  )
  return {
    held: held.filter(({ outputs: some }) => some > 0),
    isPart: cursor !== null || ids.size > MOST_TOKENS
  }
}

/** A node without tokens has nothing to say of them. */
const orNone = (error: unknown): Holdings | undefined => {
  if (error instanceof ApiError && error.isMissing) return undefined
  throw error
}

export const HeldTokens = ({ address }: { readonly address: string }) => {
  const loading = useLoad(address, signal => load(address, signal).catch(orNone))
  return (
    <Shown of={loading} lines={2}>
      {found =>
        found === undefined ? (
          <Empty title="This node does not index tokens" />
        ) : found.held.length === 0 ? (
          <Empty title="No tokens" />
        ) : (
          <>
            <ul class="rows" aria-label="Tokens held">
              {found.held.map(({ id, sym, dec, amount, outputs }) => (
                <li key={id}>
                  <a class="entry-key" href={paths.token(id)}>
                    {sym === undefined ? 'no symbol' : <Strange text={sym} most={40} />}
                  </a>
                  <span class="amount">{decimals(amount, dec)}</span>
                  <span class="quiet">in {outputs === 1 ? '1 output' : `${count(outputs)} outputs`}</span>
                </li>
              ))}
            </ul>
            {found.isPart && (
              <p class="quiet">Those of the newest {count(LOOKED_AT)} outputs; there may be more.</p>
            )}
          </>
        )
      }
    </Shown>
  )
}
