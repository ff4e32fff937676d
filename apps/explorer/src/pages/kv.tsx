/** The key-value store: entries by protocol, controller, key and tags. */
import { ask } from '../api/client.ts'
import { type Page, usePages } from '../api/load.ts'
import type { KvEntry } from '../api/types.ts'
import { short } from '../format.ts'
import { Head, List, Section } from '../parts/layout.tsx'
import { Badge, When } from '../parts/names.tsx'
import { Empty } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'
import { go } from '../router.ts'
import type { ViewProps } from '../views.ts'

const PAGE = 50

/** A protocol's level and name as text for people: `1 kvstore`. */
export const protocolText = ([level, name]: readonly unknown[]): string => `${String(level)} ${String(name)}`

/** The same as JSON for the API; undefined when malformed. */
export const protocolJson = (text: string): string | undefined => {
  const [, level, name] = /^\s*([012])[\s,]+(.+?)\s*$/.exec(text) ?? []
  return level && name ? JSON.stringify([Number(level), name]) : undefined
}

interface EntryFilter {
  readonly protocol: string
  readonly controller: string
  readonly key: string
  readonly tags: readonly string[]
  readonly any: boolean
}

const selectedBy = (query: URLSearchParams): EntryFilter => ({
  protocol: query.get('protocol') ?? '',
  controller: query.get('controller') ?? '',
  key: query.get('key') ?? '',
  tags: (query.get('tags') ?? '')
    .split(',')
    .map(each => each.trim())
    .filter(each => each !== ''),
  any: query.get('mode') === 'any'
})

const isNothing = ({ protocol, controller, key, tags }: EntryFilter): boolean =>
  protocol === '' && controller === '' && key === '' && tags.length === 0

const load = async (
  selected: EntryFilter,
  cursor: string | undefined,
  signal: AbortSignal
): Promise<Page<KvEntry>> => {
  const { protocol, controller, key, tags, any } = selected
  const { entries, cursor: next } = await ask('GET /kv', {
    query: {
      ...(protocol !== '' && { protocolID: protocolJson(protocol) ?? protocol }),
      ...(controller !== '' && { controller }),
      ...(key !== '' && { key }),
      ...(tags.length > 0 && { tag: tags, mode: any ? ('any' as const) : ('all' as const) }),
      ...(cursor !== undefined && { cursor }),
      limit: PAGE
    },
    signal
  })
  return { rows: entries, cursor: next }
}

/** The entries of the newest protocols of the topic: the API lists nothing without a filter. */
const loadLatest = async (signal: AbortSignal): Promise<Page<KvEntry>> => {
  const { outputs } = await ask('GET /txo/search', {
    query: { key: ['tp:tm_kvstore'], unspent: true, reverse: true, limit: PAGE, include: ['events'] },
    signal
  })
  const protocols = new Set(
    outputs.flatMap(({ events = [] }) =>
      events.flatMap(each => {
        const [, level, name] = /^kv:protocol:([012]):(.+)$/.exec(each) ?? []
        return level && name ? [JSON.stringify([Number(level), name])] : []
      })
    )
  )
  const pages = await Promise.all(
    [...protocols]
      .slice(0, MOST_PROTOCOLS)
      .map(protocolID => ask('GET /kv', { query: { protocolID, limit: PAGE }, signal }))
  )
  const rows = pages
    .flatMap(({ entries }) => entries)
    .sort((a, b) => b.score - a.score)
    .slice(0, PAGE)
  return { rows, cursor: null }
}
const MOST_PROTOCOLS = 5

export const EntriesPage = ({ query }: ViewProps) => {
  const selected = selectedBy(query)
  const none = isNothing(selected)
  const pages = usePages<KvEntry>(JSON.stringify(selected), (cursor, signal) =>
    none ? loadLatest(signal) : load(selected, cursor, signal)
  )
  return (
    <>
      <Head title="Key-value store">
        <p class="lead">
          Entries of BRC-35: each is a token that its controller holds and can change, with its history.
        </p>
      </Head>
      <SelectForm key={JSON.stringify(selected)} selected={selected} />
      <Section title={none ? 'Latest entries' : 'Entries'}>
        <List
          of={pages}
          label="Entries"
          nameOf={({ outpoint }) => outpoint}
          empty={
            <Empty title={none ? 'No entries yet' : 'No matching entries'}>
              {none
                ? 'Clients write them, for example with GlobalKVStore of the SDK.'
                : 'An entry matches if it meets all conditions.'}
            </Empty>
          }
        >
          {entry => <EntryRow entry={entry} />}
        </List>
      </Section>
    </>
  )
}

const EntryRow = ({ entry }: { readonly entry: KvEntry }) => {
  const { controller, key, protocolID, value, tags, score, ambiguous } = entry
  const protocol = protocolText(protocolID)
  return (
    <>
      <a class="entry-key" href={paths.entry(controller, key, protocol)}>
        <Strange text={key} most={60} />
      </a>
      <span class="quiet">
        <Strange text={protocol} most={40} />
      </span>
      <span>
        <Strange text={value} most={160} />
      </span>
      <span class="row-more">
        <When score={score} />
        <a class="mono" href={paths.entries({ controller })} title={controller}>
          {short(controller)}
        </a>
        {ambiguous && <Badge kind="bad">ambiguous</Badge>}
        <Tags tags={tags} />
      </span>
    </>
  )
}

export const Tags = ({ tags }: { readonly tags: readonly string[] }) => (
  <span class="chips">
    {tags.slice(0, MOST_TAGS).map(tag => (
      <a key={tag} class="chip" href={paths.entries({ tags: tag })}>
        <Strange text={tag} most={40} />
      </a>
    ))}
    {tags.length > MOST_TAGS && <span class="quiet">and {tags.length - MOST_TAGS} more</span>}
  </span>
)
const MOST_TAGS = 20

/** The values are initial ones: typed text stays when rows arrive. */
const SelectForm = ({ selected }: { readonly selected: EntryFilter }) => (
  <form
    class="line-form many"
    onSubmit={event => {
      event.preventDefault()
      const given = new FormData(event.currentTarget)
      const text = (name: string): string | undefined => String(given.get(name) ?? '').trim() || undefined
      go(
        paths.entries({
          protocol: text('protocol'),
          controller: text('controller'),
          key: text('key'),
          tags: text('tags'),
          mode: given.get('any') ? 'any' : undefined
        })
      )
    }}
  >
    <label>
      Protocol
      <input
        name="protocol"
        placeholder="level and name"
        defaultValue={selected.protocol}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
    <label>
      Key
      <input name="key" defaultValue={selected.key} autocomplete="off" spellcheck={false} />
    </label>
    <label>
      Controller
      <input
        name="controller"
        class="mono"
        defaultValue={selected.controller}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
    <label>
      Tags, with commas between
      <input name="tags" defaultValue={selected.tags.join(', ')} autocomplete="off" spellcheck={false} />
    </label>
    <label class="check">
      <input name="any" type="checkbox" defaultChecked={selected.any} /> any of the tags
    </label>
    <button type="submit">Find</button>
  </form>
)
