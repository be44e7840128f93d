/**
 * What needs Node.js: a simulated network at the pace of the clock, joined to UDP sockets.
 *
 * @packageDocumentation
 */
export { GatewayError } from './gateway-error.js';
export { type GatewayNetwork, type GatewayOptions, RealTimeGateway, type SocketAddress } from './real-time-gateway.js';
