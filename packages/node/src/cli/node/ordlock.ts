/**
 * An output for sale, as the demo makes one: the contract OrdLock, whose code is the same in all of them, around the hash
 * of the seller's key and the output that pays the price.
 */
import { P2PKH, Script, Utils } from '@bsv/sdk'

/** The code of the contract before and after the seller's fields, in base64. */
const PREFIX =
  'IJff12hRv0Zej3FVk7IXcUhYu+lXD/O9XjOECjTiD/AmIQK6ed9fiudgSpgw8Dx5MwKBhq7eBnWhbwJdxPi+juwDgiAQCM50gNpB' +
  'cCkY0eyOaEm6MrTWWx5A3GacMaHmMGsmbAAA'
const SUFFIX =
  'YVF5VHp1U3pTelN6AHlTenVSelJ6dXVhVXkAh2NWeQHBYVF5V3lXeSEKxAfw5L1Ev8IHNVp3iwRiJacGj8We5+2kOtkFqtv/yAAg' +
  'bCZrMOahMZxm3EAeW9a0MrpJaI7s0RgpcEHagHTOCBBZeVZ5YVZ5qgB5YQB5UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/' +
  'UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX98fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58' +
  'fnx+fH58fnx+fH58fnx+fH58fgEAfoFRenVhV3lWeVZ5VnlWeWFTeVZ5VHlXeZWTlSFBQTbQjF7SvzugSK/m3K66/v//////////' +
  '/////////wBReVF5YVF5UXmXAHkAn2MAeVJ5k2cAeWhRenVRenVRenVhUnp1UXpReVF5UpagYwB5UnmUUnp1UXpoU3mCd1J5gndT' +
  'eQEggFF/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/UX9Rf1F/fH58fnx+fH58' +
  'fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH58fnx+fH4BIFJ5lH93VFN5k1J5kwEwUXl+Un5U' +
  'eX5YeX5SflN5flJ5fld5fgB5UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1UXp1YQB5V3msUXp1UXp1UXp1UXp1' +
  'UXp1UXp1UXp1UXp1UXp1YVF6dVF6dWFpWHlReX5YeX6qV3lhAHmCd1F5UXlYlH91UXkBKJR/d1F6dVF6dWGHd3d3d3d3d3d3Z1V5' +
  'UYdjUXlXeamHaVd5V3msd3d3d3d3d3dnAGho'

const bytesOf = (base64: string): number[] => Utils.toArray(base64, 'base64')

/** The lock of something that `address` sells for so many satoshis. */
export const ordLock = (address: string, satoshis: number): number[] => {
  const { data: hash } = Utils.fromBase58Check(address)
  const paying = new P2PKH().lock(address).toBinary()
  const payout = new Utils.Writer()
    .writeUInt64LE(satoshis)
    .writeVarIntNum(paying.length)
    .write(paying)
    .toArray()
  const terms = new Script()
    .writeBin(hash as number[])
    .writeBin(payout)
    .toBinary()
  return [...bytesOf(PREFIX), ...terms, ...bytesOf(SUFFIX)]
}
