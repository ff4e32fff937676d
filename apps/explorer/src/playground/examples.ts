/** Example layouts: a sound one, and common mistakes. */
export const EXAMPLES = {
  'A sound layout': {
    name: 'shop',
    collections: [
      { name: 'orders', key: ['o:', { u64be: 'customer' }, { u32be: 'order' }], scans: [['customer']] },
      { name: 'names', key: ['n:', { escaped: 'name' }, ':', { u64be: 'customer' }], scans: [['name']] }
    ]
  },
  'A scan that catches too much': {
    name: 'example',
    collections: [
      { name: 'ticks', key: [{ raw: '01' }, { u64be: 'pool' }, '|', { decimal: 'tick' }], scans: [['pool']] },
      {
        name: 'positions',
        key: [{ raw: '02' }, '|', { hex: 'owner' }, '|', { decimal: 'pool' }],
        scans: [['owner'], ['owner', 'pool']]
      }
    ]
  },
  'Two collections that collide': {
    name: 'events',
    collections: [
      { name: 'event', key: ['z:', { text: 'event' }] },
      { name: 'topic', key: ['z:tp:', { text: 'topic' }] }
    ]
  },
  'A key with two meanings': {
    name: 'pairs',
    collections: [{ name: 'pair', key: [{ text: 'first' }, ':', { text: 'second' }] }]
  }
} as const

/** JSON with each key on one line. */
export const asText = (layout: unknown): string =>
  JSON.stringify(layout, null, 2)
    .replaceAll(/\{\s+("[^"]+": "[^"]*")\s+\}/g, '{ $1 }')
    .replaceAll(
      /\[\s+((?:"[^"]*"|\{ [^}]+ \})(?:,\s+(?:"[^"]*"|\{ [^}]+ \}))*)\s+\]/g,
      (_, inside: string) => `[${inside.replaceAll(/,\s+/g, ', ')}]`
    )
    .replaceAll(
      /\[\s+(\[[^[\]]*\](?:,\s+\[[^[\]]*\])*)\s+\]/g,
      (_, inside: string) => `[${inside.replaceAll(/,\s+/g, ', ')}]`
    )
