/**
 * The programming interface of a dashboard, for browsers and for Node.
 *
 * @packageDocumentation
 */

export type * from '../protocol/control.js';
export type { Entity, EntityKey, SeriesMetric } from '../protocol/entities.js';
export type * from '../protocol/http.js';
export type { SeriesFrame, ServerMessage, ViewerMessage } from '../protocol/live.js';
export { DashboardClient, type DashboardClientOptions } from './dashboard-client.js';
export { RequestError } from './errors.js';
export {
  type LiveHandler,
  type LiveMessage,
  type LiveState,
  LiveStream,
  type Request,
  type SocketLike,
  type Subscription,
} from './live-stream.js';
