/**
 * URIs that a host may advertise (BRC-101): `https:` and its variants, `wss:`, and JS8 Call. Clients of @bsv/sdk use
 * `https:` alone.
 */

const HTTPS = [
  'https://',
  'https+bsvauth://',
  'https+bsvauth+smf://',
  'https+bsvauth+scrypt-offchain://',
  'https+rtt://'
]
const WEBSOCKET = 'wss://'
const RADIO = 'js8c+bsvauth+smf:'
const MAX_LENGTH = 1000

/**
 * Whether a host can be advertised under a URI.
 *
 * @example
 * isAdvertisable('https://node.example.com') // true
 * isAdvertisable('https://localhost') // false
 * isAdvertisable('http://node.example.com') // false
 */
export const isAdvertisable = (uri: string): boolean => {
  if (uri.length === 0 || uri.length > MAX_LENGTH || uri.trim() !== uri) return false
  const scheme = HTTPS.find(each => uri.startsWith(each))
  if (scheme !== undefined) return isPublicRoot(`https://${uri.slice(scheme.length)}`)
  if (uri.startsWith(WEBSOCKET)) return hostOf(`https://${uri.slice(WEBSOCKET.length)}`) !== undefined
  return uri.startsWith(RADIO) && isRadioStation(uri.slice(RADIO.length))
}

/**
 * One spelling of a URI: host in lower case, without a default port, a final dot or an empty path. Undefined unless it has a
 * scheme of BRC-101.
 *
 * @example
 * canonicalUri('https://Node.example.com:443/') // 'https://node.example.com'
 */
export const canonicalUri = (uri: string): string | undefined => {
  if (uri.startsWith(RADIO)) return uri
  const { scheme, url } = serverOf(uri) ?? {}
  return url && `${scheme}${hostAndPort(url)}${url.pathname === '/' ? '' : url.pathname}${url.search}`
}

/**
 * The server of a URI for any of its schemes: host and port. Of a radio station, its URI.
 *
 * @example
 * siteOf('https+rtt://Node.example.com/') // 'node.example.com'
 */
export const siteOf = (uri: string): string | undefined => {
  if (uri.startsWith(RADIO)) return uri
  const { url } = serverOf(uri) ?? {}
  return url && hostAndPort(url)
}

const serverOf = (uri: string): { readonly scheme: string; readonly url: URL } | undefined => {
  const scheme = [...HTTPS, WEBSOCKET].find(each => uri.toLowerCase().startsWith(each))
  const text = scheme === undefined ? '' : `https://${uri.slice(scheme.length)}`
  return scheme !== undefined && URL.canParse(text) ? { scheme, url: new URL(text) } : undefined
}

const hostAndPort = ({ hostname, port }: URL): string =>
  `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`

const isPublicRoot = (url: string): boolean => {
  const parsed = hostOf(url)
  return parsed !== undefined && parsed.pathname === '/' && parsed.search === '' && parsed.hash === ''
}

/** The URL, unless it is invalid or its host is `localhost`. */
const hostOf = (url: string): URL | undefined => {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  return parsed.hostname.toLowerCase() === 'localhost' ? undefined : parsed
}

/** `?lat=…&long=…&freq=…&radius=…`; frequency and radius are positive, with a unit or without. */
const isRadioStation = (rest: string): boolean => {
  if (!rest.startsWith('?')) return false
  const query = new URLSearchParams(rest)
  return (
    isWithin(query.get('lat'), 90) &&
    isWithin(query.get('long'), 180) &&
    isPositive(query.get('freq')) &&
    isPositive(query.get('radius'))
  )
}

const isWithin = (text: string | null, limit: number): boolean =>
  text !== null && text.trim() !== '' && Math.abs(Number(text)) <= limit

const isPositive = (text: string | null): boolean => {
  const [, number] = /^(\d+(?:\.\d+)?)\s*[a-zA-Z]*$/.exec(text ?? '') ?? []
  return number !== undefined && Number(number) > 0
}
