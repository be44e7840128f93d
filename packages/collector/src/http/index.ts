/**
 * An HTTP server for untrusted networks, for packages and programs that serve a page.
 *
 * @packageDocumentation
 */
export {
  type Denial,
  GuardedServer,
  type GuardedServerOptions,
  type GuardLimits,
  type GuardTotals,
  isSame,
  type ListenAddress,
  reply,
} from './guarded-server.js';
export { HostList } from './host-list.js';
