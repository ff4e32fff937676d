/** A chart by uPlot, in the colours of the theme, as wide as its container. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { theme } from '../theme.ts'

interface ChartProps {
  readonly label: string
  readonly data: readonly (readonly (number | null)[])[]
  readonly series: readonly {
    readonly label: string
    readonly colour: string
    readonly stepped?: boolean
    readonly dashed?: boolean
  }[]
  readonly isTime?: boolean
  readonly height?: number
}

/** Steps of the axis: counts have no fractions. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map(each => each * 10 ** power)).flat()

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const compact = new Intl.NumberFormat('en', { notation: 'compact' })

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const Chart = ({ label, data, series, isTime = false, height = 180 }: ChartProps) => {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const current = theme.value
  useEffect(() => {
    const element = place.current!
    const axis = {
      stroke: colourOf('--quiet'),
      grid: { stroke: colourOf('--line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif'
    }
    const made = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: isTime },
          y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] }
        },
        axes: [
          isTime ? { ...axis, values: (_, all) => all.map(each => clock.format(each * 1000)) } : axis,
          { ...axis, size: 56, incrs: WHOLE, values: (_, all) => all.map(each => compact.format(each)) }
        ],
        series: [
          {},
          ...series.map(({ label: name, colour, stepped, dashed }) => ({
            label: name,
            stroke: colourOf(colour),
            width: 2,
            ...(dashed ? { dash: [6, 4] } : { fill: `${colourOf(colour)}22` }),
            points: { show: false },
            ...(stepped && { paths: uPlot.paths.stepped!({ align: 1 }) })
          }))
        ]
      },
      data as uPlot.AlignedData,
      element
    )
    chart.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [current, height])
  useEffect(() => chart.current?.setData(data as uPlot.AlignedData), [data])
  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={label} />
      <figcaption>
        {series.map(({ label: name, colour }) => (
          <span key={name} class="legend">
            <span class={`swatch ${colour.slice(2)}`} /> {name}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}
export default Chart
