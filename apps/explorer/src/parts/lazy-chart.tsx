/** A chart whose library is loaded when the first one is looked at. Until then, or if that fails, its words stand for it. */
import type { ComponentProps, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type Chart from './chart.tsx'

type Props = ComponentProps<typeof Chart>
type Loaded = { readonly Chart: ComponentType<Props> } | 'failed'

export const LazyChart = (props: Props) => {
  const [loaded, setLoaded] = useState<Loaded | undefined>()
  useEffect(() => {
    let left = false
    const settle = (now: Loaded): void => {
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
