/** Outputs by an event or a topic. */
import { Head, Section, Tabs } from '../parts/layout.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { TokenLink } from '../parts/token.tsx'
import { paths } from '../paths.ts'
import { tokenNames, tokenOfTopic } from '../tokens.ts'
import type { ViewProps } from '../views.ts'
import { OutputList } from './outputs.tsx'
import { TopicAnchor } from './topic-anchor.tsx'

export const FindPage = ({ query }: ViewProps) => {
  const name = query.get('key') ?? ''
  const isUnspent = query.get('list') === 'unspent'
  const isTopic = name.startsWith('tp:')
  const token = isTopic ? tokenOfTopic(name.slice('tp:'.length)) : undefined
  if (name === '') {
    return (
      <>
        <Head title="Outputs" />
        <Empty title="No event or topic">Enter one in the search.</Empty>
      </>
    )
  }
  const tabs = [
    ['All', paths.find(name)],
    ['Unspent', `${paths.find(name)}&list=unspent`]
  ] as const
  return (
    <>
      <Head
        kind={isTopic ? 'Topic' : 'Event'}
        symbol={(token && tokenNames.value.get(token)?.sym) ?? name.slice(isTopic ? 'tp:'.length : 0)}
        title={
          token === undefined ? (
            <span class="mono hash">
              <Strange text={isTopic ? name.slice('tp:'.length) : name} />
            </span>
          ) : (
            <>
              Outputs of <TokenLink id={token} />
            </>
          )
        }
      />
      {isTopic && <TopicAnchor topic={name.slice('tp:'.length)} />}
      <Section
        title="Outputs"
        aside={<Tabs label="Outputs" tabs={tabs} current={isUnspent ? 'Unspent' : 'All'} />}
      >
        <OutputList
          label="Outputs"
          empty={isTopic ? 'The topic has no outputs' : 'No output has this event'}
          find={name}
          unspent={isUnspent}
        />
      </Section>
    </>
  )
}
