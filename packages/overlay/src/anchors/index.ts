/** Topic anchors (BRC-136). */
export { answerAnchors } from './serve.ts'
export type { AnchorOptions, BlockHashes, TopicAnchors } from './topic-anchors.ts'
export { ANCHOR_ROUTES, type AnchorQuestion, MAX_RANGE, MAX_TXIDS } from './wire.ts'
