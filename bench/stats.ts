/** Statistics of samples. Mostly medians and quartiles, because a paused process only ever adds outliers. */

/** The value below which the fraction `q` of the samples lies, interpolated between neighbours. */
function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new RangeError('no samples: a quantile needs at least one')
  const sorted = samples.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * q
  const below = Math.floor(position)
  const low = sorted[below]!
  const high = sorted[Math.ceil(position)]!
  return low + (high - low) * (position - below)
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

export function mean(samples: readonly number[]): number {
  if (samples.length === 0) throw new RangeError('no samples: a mean needs at least one')
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length
}

/** Half the interquartile range in percent of the median; `null` for a single sample. */
export function spread(samples: readonly number[]): number | null {
  if (samples.length === 1) return null
  const halfRange = (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2
  return (halfRange / median(samples)) * 100
}
