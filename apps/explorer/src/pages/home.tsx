/** The health of the node, and its changes, live. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, ask, send } from '../api/client.ts'
import { asError } from '../api/load.ts'
import { bytes, count, duration } from '../format.ts'
import { feed, type LiveOutput, latest, watch } from '../live/feed.ts'
import { type Points, Rates } from '../live/rates.ts'
import { Head, Section, Tile } from '../parts/layout.tsx'
import { LazyChart } from '../parts/lazy-chart.tsx'
import { Badge, Chips, notable, Outpoint, Time, When } from '../parts/names.tsx'
import { Empty, Failure, Waiting } from '../parts/states.tsx'
import { Strange } from '../parts/strange.tsx'
import { paths } from '../paths.ts'

type Status = Answer<'GET /status'>
type Health = Answer<'GET /health/ready'>

const EVERY_MS = 2000
const PATIENCE_MS = 15_000

interface Seen {
  readonly status: Status
  readonly health: Health
}

/** Polls every two seconds while the page is visible. */
const useStatus = () => {
  const [seen, setSeen] = useState<Seen | undefined>()
  const [error, setError] = useState<Error | undefined>()
  const rates = useRef(new Rates())
  const [points, setPoints] = useState<Points>([[], [], []])
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          // A node that hangs counts as one that does not answer.
          const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(PATIENCE_MS)])
          const [status, health] = await Promise.all([ask('GET /status', { signal }), readiness(signal)])
          rates.current.add(Date.now() / 1000, status.totals)
          setSeen({ status, health })
          setPoints(rates.current.points)
          setError(undefined)
        }
      } catch (failed) {
        if (leaving.signal.aborted) return
        setError(asError(failed))
      }
      if (!leaving.signal.aborted) timer = setTimeout(look, EVERY_MS)
    }
    look()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [])
  return { seen, error, points }
}

/** Readiness: the body of a 503 has the reasons too. */
const readiness = async (signal: AbortSignal): Promise<Health> =>
  (await (await send('/health/ready', { signal })).json()) as Health

export const Home = () => {
  const { seen, error, points } = useStatus()
  const position = seen?.status.journal.position
  const isThere = position !== undefined
  useEffect(() => (isThere ? watch(position) : undefined), [isThere])
  if (!seen) {
    return (
      <>
        <Head title="This node" />
        {error ? <Failure error={error} /> : <Waiting lines={6} />}
      </>
    )
  }
  const { status, health } = seen
  return (
    <>
      <Head title={status.service.name}>
        <p class="readiness">
          {health.ready ? <Badge kind="good">ready</Badge> : <Badge kind="bad">not ready</Badge>}
          <span class="quiet">
            version {status.service.version}, up for {duration(status.service.uptimeMs)}
          </span>
        </p>
      </Head>
      {error && <Failure error={error} />}
      {!health.ready && <NotReady checks={health.checks} />}
      <div class="tiles">
        {status.chain ? (
          <Tile
            name="Height"
            value={<a href={paths.block(status.chain.height)}>{count(status.chain.height)}</a>}
          >
            last block <Time seconds={status.chain.time} />
          </Tile>
        ) : (
          <Tile name="Height" value="–">
            this node keeps no headers
          </Tile>
        )}
        <Tile name="Store" value={bytes(status.store.bytes)}>
          {status.store.engine}
        </Tile>
        <Tile name="Submits" value={count(status.totals.submits)}>
          {count(status.totals.refused)} refused
        </Tile>
        <Tile name="Admitted outputs" value={count(status.totals.admitted)}>
          {status.topics.length === 1 ? '1 topic' : `${count(status.topics.length)} topics`}
        </Tile>
        <Queues queues={status.queues} />
      </div>
      <Section title="Traffic" aside={<span class="quiet">since you opened this page</span>}>
        <Traffic points={points} />
      </Section>
      <Section title="Latest outputs" aside={<FeedState />}>
        <Latest outputs={latest.value} />
      </Section>
      {status.sync.length > 0 && (
        <Section title="Peers">
          <Peers peers={status.sync} />
        </Section>
      )}
      <Section title="Topics">
        {status.topics.length === 0 ? (
          <Empty title="This node has no topics">Plug-ins bring them.</Empty>
        ) : (
          <Chips names={status.topics} kind="topic" />
        )}
      </Section>
    </>
  )
}

const NotReady = ({ checks }: { readonly checks: Health['checks'] }) => (
  <ul class="failure" aria-label="Why it is not ready">
    {checks
      .filter(({ status }) => status === 'error')
      .map(({ name, message }) => (
        <li key={name}>
          <strong>{name}</strong>: {message}
        </li>
      ))}
  </ul>
)

const PEER_KINDS = { untried: 'wait', working: 'good', failing: 'bad', stalled: 'bad' } as const

const Peers = ({ peers }: { readonly peers: Status['sync'] }) => (
  <ul class="rows" aria-label="Peers">
    {peers.map(({ topic, peer, state, lastSuccess, lastError, queued, dead, lag }) => (
      <li key={`${topic} ${peer}`}>
        <Chips names={[topic]} kind="topic" />
        <Badge kind={PEER_KINDS[state]}>{state}</Badge>
        <Strange text={peer} most={100} />
        <span class="row-more quiet">
          {lastSuccess !== undefined && (
            <span>
              last in step <Time seconds={lastSuccess / 1000} />
            </span>
          )}
          <span>
            {count(queued)} to fetch, {count(dead)} given up
          </span>
          {lag > 0 && <span>{duration(lag * 1000)} behind</span>}
          {lastError !== undefined && <Strange text={lastError} most={200} />}
        </span>
      </li>
    ))}
  </ul>
)

const Queues = ({ queues }: { readonly queues: Status['queues'] }) => {
  const all = Object.values(queues)
  const sum = (state: 'due' | 'leased' | 'waiting' | 'dead'): number =>
    all.reduce((total, each) => total + each[state], 0)
  const dead = sum('dead')
  return (
    <Tile name="Queued" value={count(sum('due') + sum('leased') + sum('waiting'))}>
      {dead === 0 ? 'no dead letters' : `${count(dead)} dead`}
    </Tile>
  )
}

const Traffic = ({ points }: { readonly points: Points }) => {
  const sum = (values: readonly number[]): string => count(values.reduce((total, each) => total + each, 0))
  const label = `${sum(points[1])} submits and ${sum(points[2])} admitted outputs since you opened this page`
  return (
    <LazyChart
      label={label}
      data={points}
      isTime
      height={180}
      series={[
        { label: 'submits', colour: '--one', stepped: true },
        { label: 'admitted outputs', colour: '--two', stepped: true, dashed: true }
      ]}
    />
  )
}

const FEED = {
  off: ['plain', 'off'],
  connecting: ['wait', 'connecting'],
  open: ['good', 'live'],
  lost: ['bad', 'connection lost, trying again']
} as const

const FeedState = () => {
  const [kind, text] = FEED[feed.value]
  return <Badge kind={kind}>{text}</Badge>
}

const Latest = ({ outputs }: { readonly outputs: readonly LiveOutput[] }) =>
  outputs.length === 0 ? (
    <Empty title="Nothing has arrived yet">Outputs appear here as the node indexes them.</Empty>
  ) : (
    <ol class="rows latest" aria-label="Latest outputs">
      {outputs.map(({ outpoint, score, events, topics }) => (
        <li key={outpoint}>
          <Outpoint outpoint={outpoint} />
          <When score={score} />
          <span class="chips">
            {topics.length > 0 && <Chips names={topics} kind="topic" />}
            <Chips names={notable(events).slice(0, 3)} />
          </span>
        </li>
      ))}
    </ol>
  )
