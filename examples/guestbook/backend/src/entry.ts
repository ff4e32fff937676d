import { LockingScript, PushDrop, Utils } from '@bsv/sdk'

export const PROTOCOL = 'guestbook'
const MAX_LENGTH = 280

/** An entry is a PushDrop output with two fields: the protocol and a text. */
export const entryOf = (script: { toHex(): string }): string | undefined => {
  try {
    const { fields } = PushDrop.decode(LockingScript.fromHex(script.toHex()))
    const [protocol, text] = fields.map(field => Utils.toUTF8(field))
    return protocol === PROTOCOL && text !== undefined && text.length > 0 && text.length <= MAX_LENGTH
      ? text
      : undefined
  } catch {
    // Another kind of script.
    return undefined
  }
}
