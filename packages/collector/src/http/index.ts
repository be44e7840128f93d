/**
 * An HTTP server for untrusted networks, for packages and programs that serve a page.
 *
 * @packageDocumentation
 */
export {
  GuardedServer,
  type GuardedServerOptions,
  type GuardLimits,
  type GuardTotals,
  type ListenAddress,
  reply,
} from './guarded-server.js';
export { HostList } from './host-list.js';
