/** A layout in the fragment of a link, which the browser does not send. */
const LONGEST = 6000

export const toFragment = (text: string): string | undefined => {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > LONGEST) return undefined
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

export const fromFragment = (fragment: string): string | undefined => {
  if (fragment === '' || fragment.length > 2 * LONGEST || !/^[\w-]+$/.test(fragment)) return undefined
  try {
    const binary = atob(fragment.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(binary, char => char.charCodeAt(0))
    )
  } catch {
    // A truncated link has no layout.
    return undefined
  }
}
