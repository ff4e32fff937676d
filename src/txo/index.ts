/** The output store. */
export {
  type EventDeclaration,
  type Events,
  EventType,
  event,
  events,
  outputEvents,
  registerEvents
} from './events.ts'
export {
  type BlockPosition,
  outputFields,
  outputs,
  progressFields,
  satoshisFields,
  spendFields
} from './keys.ts'
