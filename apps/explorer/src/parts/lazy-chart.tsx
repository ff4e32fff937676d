/**
 * A chart whose library is loaded with the first one on display. Until then, or if that fails, its description stands
 * for it.
 */
import type { ComponentProps, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type Chart from './chart.tsx'

type Props = ComponentProps<typeof Chart>
type ChartModule = { readonly Chart: ComponentType<Props> } | 'failed'

export const LazyChart = (props: Props) => {
  const [loaded, setLoaded] = useState<ChartModule | undefined>()
  useEffect(() => {
    let left = false
    const settle = (now: ChartModule): void => {
      if (!left) setLoaded(now)
    }
    import('./chart.tsx').then(
      module => settle({ Chart: module.default }),
      () => settle('failed')
    )
    return () => {
      left = true
    }
  }, [])
  if (loaded === 'failed') return <p class="quiet">{props.label}</p>
  return loaded ? <loaded.Chart {...props} /> : <div class="chart-place" />
}
