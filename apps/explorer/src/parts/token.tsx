/** Tokens by their symbols, and amounts with the decimals of their deployments, for rows that have ids alone. */
import { useEffect } from 'preact/hooks'
import { decimals, shortOutpoint } from '../format.ts'
import { paths } from '../paths.ts'
import { loadToken, tokenNames } from '../tokens.ts'
import { Strange } from './strange.tsx'

/** Undefined while the request is pending, null when the node has no deployment of the id. */
const useToken = (id: string) => {
  useEffect(() => loadToken(id), [id])
  return tokenNames.value.get(id)
}

export const TokenName = ({ id }: { readonly id: string }) => {
  const sym = useToken(id)?.sym
  return sym === undefined ? (
    <span class="mono">token {shortOutpoint(id)}</span>
  ) : (
    <Strange text={sym} most={40} />
  )
}

export const TokenLink = ({ id }: { readonly id: string }) => (
  <a href={paths.token(id)} title={id}>
    <TokenName id={id} />
  </a>
)

/** `1,000 GOLD`. Without a known deployment the amount has no decimals, and the text says so. */
export const TokenAmount = ({ id, amount }: { readonly id: string; readonly amount: string }) => {
  const token = useToken(id)
  return (
    <span class="amount">
      {token === undefined ? '…' : decimals(amount, token?.dec ?? 0)}
      {token === null && ' base units of'} <TokenLink id={id} />
    </span>
  )
}
