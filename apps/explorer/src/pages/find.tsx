/** Outputs by an event or a topic. */
import { Head, Section, Tabs } from '../parts/layout.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import type { ViewProps } from '../views.ts'
import { OutputList } from './outputs.tsx'

export const FindPage = ({ query }: ViewProps) => {
  const name = query.get('key') ?? ''
  const isUnspent = query.get('list') === 'unspent'
  const isTopic = name.startsWith('tp:')
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
        title={
          <span class="mono hash">
            <Strange text={isTopic ? name.slice('tp:'.length) : name} />
          </span>
        }
      />
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
