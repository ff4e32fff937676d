/** Tokens of the global profile as `@bsv/sdk` writes and verifies them, with nothing of ours. */
import {
  LockingScript,
  PrivateKey,
  ProtoWallet,
  PushDrop,
  Utils,
  type WalletInterface,
  type WalletProtocol
} from '@bsv/sdk'
import type { KvContent } from '@quoin/kvstore-client/token'
import type { Author } from './author.testing.ts'

/** It asks a wallet for keys and signatures only, which is what this one has. */
const sdkWallet = ({ key }: Author): WalletInterface =>
  new ProtoWallet(new PrivateKey([...key.secret])) as unknown as WalletInterface

/** What `GlobalKVStore.set` locks an output with. */
export const sdkScript = async (
  author: Author,
  { protocolID, key, value, controller, tags }: KvContent
): Promise<Uint8Array> => {
  const fields = [JSON.stringify(protocolID), key, value].map(text => Utils.toArray(text, 'utf8'))
  fields.push(Utils.toArray(controller, 'hex'))
  if (tags.length > 0) fields.push(Utils.toArray(JSON.stringify(tags), 'utf8'))
  const keyID = Utils.toUTF8(Utils.toArray(key, 'utf8'))
  const protocol = protocolID as unknown as WalletProtocol
  const script = await new PushDrop(sdkWallet(author)).lock(fields, protocol, keyID, 'anyone', true)
  return Uint8Array.from(script.toBinary())
}

export type SdkEntry = Omit<KvContent, 'protocolID'> & { readonly protocolID: unknown }

const anyone = new ProtoWallet('anyone')

/** The verdict of the topic manager of the reference: five or six fields, none empty, and a signature that verifies. */
export const referenceAdmits = async (script: Uint8Array): Promise<boolean> => {
  try {
    const { fields } = PushDrop.decode(LockingScript.fromBinary([...script]))
    const signature = fields.pop()!
    const [protocolID, key, value, controller] = fields
    if ((fields.length !== 4 && fields.length !== 5) || key!.length === 0 || value!.length === 0) return false
    const { valid } = await anyone.verifySignature({
      data: fields.flat(),
      signature,
      counterparty: Utils.toHex(controller!),
      protocolID: JSON.parse(Utils.toUTF8(protocolID!)) as WalletProtocol,
      keyID: Utils.toUTF8(key!)
    })
    return valid
  } catch {
    // It throws for tokens that it refuses.
    return false
  }
}

/** What a reader with the SDK takes a locking script for: an entry, or nothing. */
export const sdkRead = async (script: Uint8Array): Promise<SdkEntry | undefined> => {
  try {
    const { fields } = PushDrop.decode(LockingScript.fromBinary([...script]))
    if (fields.length !== 5 && fields.length !== 6) return undefined
    const signature = fields.pop()!
    const entry = {
      protocolID: JSON.parse(Utils.toUTF8(fields[0]!)) as WalletProtocol,
      key: Utils.toUTF8(fields[1]!),
      value: Utils.toUTF8(fields[2]!),
      controller: Utils.toHex(fields[3]!),
      tags: fields[4] ? (JSON.parse(Utils.toUTF8(fields[4])) as string[]) : []
    }
    const { valid } = await anyone.verifySignature({
      data: fields.flat(),
      signature,
      counterparty: entry.controller,
      protocolID: entry.protocolID,
      keyID: entry.key
    })
    return valid ? entry : undefined
  } catch {
    // Readers pass over whatever does not verify.
    return undefined
  }
}
