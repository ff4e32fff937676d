/** Texts of token issuers, made safe for a terminal. */

/** `12345` with 2 decimals is `123.45`; zeros at the end are not shown. */
export const shownAmount = (amount: string, decimals: number): string => {
  const digits = amount.padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString('en-US')
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return decimals === 0 || part === '' ? whole : `${whole}.${part}`
}

/** A symbol is any text: control characters are escaped. */
export const shownSymbol = (symbol: string | undefined): string =>
  symbol === undefined || symbol === ''
    ? '(no symbol)'
    : symbol.replace(/\p{C}/gu, char => `\\u{${char.codePointAt(0)!.toString(16)}}`)
