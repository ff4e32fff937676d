/** The bytes of a key, coloured by component, with the names below them. */
import { Scroll } from './layout.tsx'
import { Strange } from './strange.tsx'

export interface ByteSpan {
  readonly hex: string
  readonly component?: string
  readonly codec?: string
  readonly text: string
}

/** The number of colours that components alternate between; literals have none. */
const COLOURS = 6

export const Bytes = ({ spans }: { readonly spans: readonly ByteSpan[] }) => {
  let components = 0
  const coloured = spans.map(span => ({
    ...span,
    colour: span.component === undefined ? 'literal' : `c${components++ % COLOURS}`
  }))
  return (
    <div class="key-bytes">
      <p class="byte-row" aria-hidden="true">
        {coloured.map(({ hex, colour }, i) => (
          <span key={i} class={`span ${colour}`}>
            {(hex.match(/../g) ?? []).map((byte, at) => (
              <span key={at}>{byte}</span>
            ))}
          </span>
        ))}
      </p>
      <Scroll label="The parts of the key">
        <table>
          <thead>
            <tr>
              <th scope="col">Bytes</th>
              <th scope="col">Component</th>
              <th scope="col">Codec</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {coloured.map(({ hex, component, codec, text, colour }, i) => (
              <tr key={i}>
                <td>
                  <span class={`span ${colour}`}>
                    <Strange text={hex} most={32} />
                  </span>
                </td>
                <td>{component ?? <span class="quiet">literal</span>}</td>
                <td class="quiet">{codec ?? 'text'}</td>
                <td>
                  <Strange text={text} most={200} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}
