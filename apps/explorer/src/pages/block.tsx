/** A block: its header, and its outputs in the topics of the node. */
import { ask } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { count } from '../format.ts'
import { Facts, Head, Section } from '../parts/layout.tsx'
import { BlockLink, Copy, Time } from '../parts/names.tsx'
import { Empty, Shown } from '../parts/states.tsx'
import type { ViewProps } from '../views.ts'
import { OutputList } from './outputs.tsx'

export const BlockPage = ({ parameter }: ViewProps) =>
  /^(0|[1-9]\d{0,8})$/.test(parameter) ? (
    <Block height={Number(parameter)} />
  ) : (
    <>
      <Head kind="Block" title={parameter.slice(0, LONGEST)} />
      <Empty title="This is not the height of a block">It is a number, such as 800000.</Empty>
    </>
  )
const LONGEST = 80

const Block = ({ height }: { readonly height: number }) => {
  const header = useLoad(`${height}`, signal =>
    ask('GET /chaintracks/v2/header/height/{height}', { path: { height: `${height}` }, signal })
  )
  const status = useLoad('topics', signal => ask('GET /status', { signal }))
  return (
    <>
      <Head kind="Block" title={count(height)} />
      <Shown of={header} lines={4}>
        {({ hash, merkleRoot, time }) => (
          <Facts
            of={{
              Time: <Time seconds={time} />,
              Hash: (
                <span class="links">
                  <span class="mono">{hash}</span>
                  <Copy text={hash} what="the block hash" />
                </span>
              ),
              'Merkle root': <span class="mono">{merkleRoot}</span>,
              'Block before': height > 0 ? <BlockLink height={height - 1} /> : undefined,
              'Block after': <BlockLink height={height + 1} />
            }}
          />
        )}
      </Shown>
      <Section title="Outputs in the topics of this node">
        <Shown of={status}>
          {({ topics }) =>
            topics.length === 0 ? (
              <Empty title="This node has no topics" />
            ) : (
              <OutputList
                label="Outputs of the block"
                empty="No topic has an output of this block"
                find={topics.map(topic => `tp:${topic}`)}
                height={height}
                unspent={false}
              />
            )
          }
        </Shown>
      </Section>
    </>
  )
}
