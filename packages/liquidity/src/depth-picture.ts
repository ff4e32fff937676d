/**
 * The depth of a pool as an SVG picture: bids on the left, asks on the right, both in token 1, so that the sides
 * compare. It has no scripts and no external resources.
 */
import { bigDec } from './decimal.ts'
import type { Depth, DepthPoint } from './depth.ts'

const WIDTH = 720
const HEIGHT = 360
const LEFT = 16
const RIGHT = 16
const TOP = 40
const BOTTOM = 36
/** Pixels of a straight line; a curve is drawn in several. */
const STEP = 8

const INNER_WIDTH = WIDTH - LEFT - RIGHT
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM
const FLOOR = TOP + INNER_HEIGHT

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Denoms are untrusted text. */
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, char => ESCAPES[char]!)

/** Six digits are enough for people, whatever the size. */
export const shortNumber = (value: number): string => {
  if (value === 0) return '0'
  const text = value >= 1e-4 && value < 1e15 ? value.toPrecision(6) : value.toExponential(3)
  return text.includes('e') || !text.includes('.') ? text : text.replace(/\.?0+$/, '')
}

const number = (price: bigint): number => Number(bigDec.format(price))
/** A tenth of a pixel is exact enough. */
const at = (value: number): string => value.toFixed(1).replace('.0', '')

interface Place {
  readonly price: number
  readonly amount: number
}

/** Between two points the amount grows with the root of the price, so the curve is not a straight line. */
const curve = (points: readonly DepthPoint[], middle: number, x: (price: number) => number): Place[] => {
  const places: Place[] = []
  let from: Place = { price: middle, amount: 0 }
  for (const point of points) {
    const to: Place = { price: number(point.price), amount: Number(point.amount1) }
    const [start, end] = [Math.sqrt(from.price), Math.sqrt(to.price)]
    const steps = Math.max(1, Math.ceil(Math.abs(x(to.price) - x(from.price)) / STEP))
    for (let step = 1; step <= steps; step++) {
      const part = step / steps
      const root = start + (end - start) * part
      places.push({ price: root * root, amount: from.amount + (to.amount - from.amount) * part })
    }
    from = to
  }
  return places
}

export const depthPicture = ({ pool, price, bids, asks, isWhole }: Depth): string => {
  const middle = number(price)
  const lowest = bids.length > 0 ? number(bids.at(-1)!.price) : middle
  const highest = asks.length > 0 ? number(asks.at(-1)!.price) : middle
  const deepest = Math.max(1, ...[bids.at(-1), asks.at(-1)].map(point => Number(point?.amount1 ?? 0n)))
  // The axis is logarithmic: double and half the price are equally far from it.
  const span = Math.log(highest / lowest) || 1
  const x = (value: number): number => LEFT + (Math.log(value / lowest) / span || 0) * INNER_WIDTH
  const y = (amount: number): number => FLOOR - (amount / deepest) * INNER_HEIGHT
  const area = (points: readonly DepthPoint[], colour: string): string => {
    if (points.length === 0) return ''
    const line = curve(points, middle, x)
      .map(({ price: each, amount }) => `L${at(x(each))} ${at(y(amount))}`)
      .join('')
    const end = at(x(number(points.at(-1)!.price)))
    return (
      `<path d="M${at(x(middle))} ${FLOOR}${line}L${end} ${FLOOR}Z" fill="${colour}" fill-opacity=".18"/>` +
      `<path d="M${at(x(middle))} ${FLOOR}${line}" fill="none" stroke="${colour}" stroke-width="1.5"/>`
    )
  }
  const label = (text: string, left: number, top: number, anchor: string): string =>
    `<text x="${at(left)}" y="${top}" text-anchor="${anchor}">${escaped(text)}</text>`
  const title = `Pool ${pool.id}: ${pool.token0} in ${pool.token1}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(`Depth of ${title}`)}" font-family="system-ui, sans-serif" font-size="12" fill="#555">`,
    `<title>${escaped(`Depth of ${title}`)}</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${LEFT}" y="22" font-size="14" fill="#222">${escaped(title)}</text>`,
    label(
      `to ${shortNumber(deepest)} ${pool.token1}${isWhole ? '' : ', not all ticks'}`,
      WIDTH - RIGHT,
      22,
      'end'
    ),
    area(bids, '#1a8f5a'),
    area(asks, '#c0392b'),
    `<path d="M${LEFT} ${FLOOR}H${WIDTH - RIGHT}" stroke="#999"/>`,
    `<path d="M${at(x(middle))} ${TOP}V${FLOOR}" stroke="#222" stroke-dasharray="3 3"/>`,
    label(shortNumber(lowest), LEFT, HEIGHT - 14, 'start'),
    label(shortNumber(middle), x(middle), TOP - 4, 'middle'),
    label(shortNumber(highest), WIDTH - RIGHT, HEIGHT - 14, 'end'),
    '</svg>\n'
  ].join('\n')
}
