/** The anchor of a topic (BRC-136), and the peers that have the same one. */
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { count } from '../format.ts'
import { Facts, Section } from '../parts/layout.tsx'
import { Badge, Copy } from '../parts/names.tsx'
import { Strange } from '../parts/strange.tsx'

const title = 'Anchor'
const aside = <span class="quiet">of all transactions since its start</span>

export const TopicAnchor = ({ topic }: { readonly topic: string }) => {
  const { loaded } = useLoad(`anchor ${topic}`, signal => ask('GET /status', { signal }))
  // The outputs below stay where they are when the anchor arrives.
  if (loaded.state === 'loading')
    return (
      <Section title={title} aside={aside}>
        <Facts of={{ Hash: '…', Height: '…', Start: '…' }} />
      </Section>
    )
  // The outputs of the topic are shown all the same.
  if (loaded.state !== 'there') return null
  const { anchors, sync } = loaded.value
  const anchor = Object.hasOwn(anchors, topic) ? anchors[topic] : undefined
  if (!anchor) return null
  const compared = sync.filter(each => each.topic === topic && each.agrees !== undefined)
  return (
    <Section title={title} aside={aside}>
      <Facts
        of={{
          Hash: anchor.tac && (
            <>
              <span class="mono hash">{anchor.tac}</span> <Copy text={anchor.tac} what="the anchor" />
            </>
          ),
          Height: anchor.tac ? count(anchor.height) : 'before its start',
          Start: count(anchor.start),
          Peers:
            compared.length === 0
              ? undefined
              : compared.map(({ peer, agrees }) => (
                  <div key={peer}>
                    <Badge kind={agrees ? 'good' : 'bad'}>{agrees ? 'agrees' : 'differs'}</Badge>{' '}
                    <Strange text={peer} most={100} />
                  </div>
                ))
        }}
      />
    </Section>
  )
}
