/**
 * A component with every bit of its words flipped, so that keys walk from the greatest value down. A word that begins
 * another still sorts before it, which is the wrong way around: a flipped terminator at the end of each word prevents it.
 */
import { copyOf } from '@quoin/primitives'
import { Codec, type CodecOptions, type OrderName } from '../codec.ts'
import { Layout, valuesOf } from '../layout.ts'
import { ordersOf } from '../proof/order.ts'
import { copyWritten } from '../scratch-buffer.ts'

export const descendingCodec = <T>(codec: Codec<T>): Codec<T> =>
  new Codec<T>({
    name: `${codec.name} descending`,
    phrase: `inverted ${codec.phrase}`,
    language: codec.language.inverted,
    order: descendingOrder(codec),
    orderName: `${codec.orderName}, descending` as OrderName,
    ...(codec.samples && { samples: codec.samples }),
    ...(codec.collision && { collision: codec.collision }),
    put(value, target, offset) {
      const word = copyWritten(buffer => codec.write(value, buffer, 0))
      for (const [i, byte] of word.entries()) target[offset + i] = byte ^ 0xff
      return offset + word.length
    },
    read(source, start, end) {
      const word = copyOf(source, start, end).map(byte => byte ^ 0xff)
      return codec.read(word, 0, word.length)
    },
    show: codec.show
  })

/** In the order of a descending component, the greater value is the smaller one. */
const descendingOrder = <T>(codec: Codec<T>): CodecOptions<T>['order'] => {
  const { order, language } = codec
  if (order === 'bytes') return language.isSelfDelimiting ? 'bytes' : 'longer first'
  if (order === 'longer first') return 'bytes'
  if (order !== 'shortlex') return [order[1], order[0]]
  if (language.fixedLength !== undefined) return 'bytes'
  // Of 9 and 10, 10 comes first in descending order, and its flipped word last. Or else of 1 and 10.
  const part = { kind: 'component', component: { name: 'x', codec }, language } as const
  const [orders] = ordersOf(new Layout([part]))
  if (!orders?.value) return 'longer first'
  const [small, large] = orders.value.map(reading => valuesOf(reading).get('x') as T)
  return [large!, small!]
}
