/** What tests of a layer below make keys and transactions with. */
// biome-ignore lint/style/noRestrictedImports: tests only.
export * from '../chain/verify/signed.testing.ts'
