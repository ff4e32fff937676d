/** Metrics of broadcasts: transactions by status, and what processors made of submissions to them. */
import type { Broadcaster } from '@quoin/overlay'
import { Gauge, Histogram, type Registry } from 'prom-client'

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const measureBroadcasts = (registry: Registry, { records, network }: Broadcaster): void => {
  const registers = [registry]
  new Gauge({
    name: 'quoin_broadcast_transactions',
    help: 'Transactions that are not mined, by their status on the network, and refused ones.',
    labelNames: ['status'],
    registers,
    async collect() {
      for (const [status, count] of Object.entries(await records.counts())) this.set({ status }, count)
    }
  })
  const seconds = new Histogram({
    name: 'quoin_broadcast_seconds',
    help: 'Submissions to a transaction processor, by its verdict.',
    labelNames: ['processor', 'outcome'],
    buckets: SECONDS,
    registers
  })
  network.onSubmission((processor, outcome, took) => seconds.observe({ processor, outcome }, took))
}
