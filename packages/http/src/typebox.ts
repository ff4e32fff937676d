/** TypeBox, which `scripts/bundle.mjs` makes one module: a start would load its two hundred. */
export * from '@sinclair/typebox'
