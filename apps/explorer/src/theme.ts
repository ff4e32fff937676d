/** Dark or light: the system's setting, until a person chooses. */
import { signal } from '@preact/signals'

export type Theme = 'light' | 'dark'
const STORED = 'quoin-theme'
const isDark = matchMedia('(prefers-color-scheme: dark)')

const chosen = (): Theme | undefined => {
  try {
    const stored = localStorage.getItem(STORED)
    return stored === 'dark' || stored === 'light' ? stored : undefined
  } catch {
    // A browser without storage throws; then the system's setting holds.
    return undefined
  }
}

export const theme = signal<Theme>(chosen() ?? (isDark.matches ? 'dark' : 'light'))

const show = (): void => {
  document.documentElement.dataset['theme'] = theme.value
}

export const startTheme = (): void => {
  show()
  isDark.addEventListener('change', () => {
    if (chosen()) return
    theme.value = isDark.matches ? 'dark' : 'light'
    show()
  })
}

export const switchTheme = (): void => {
  const next = theme.value === 'dark' ? 'light' : 'dark'
  // The page first: listeners of the theme read its colours.
  document.documentElement.dataset['theme'] = next
  theme.value = next
  try {
    localStorage.setItem(STORED, next)
  } catch {
    // Without storage the choice holds for this page.
  }
}
