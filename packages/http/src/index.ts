/** HTTP routes as values, and the JSON of their responses. */
export { Cursor } from './cursor.ts'
export { depthOf, toJson } from './json.ts'
export {
  type BearerAuth,
  BYTES,
  BYTES_TYPE,
  bytes,
  JSON_TYPE,
  json,
  type Method,
  type ResponseSpec,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type RouteSpec,
  route
} from './route.ts'
