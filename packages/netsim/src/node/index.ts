/** Runs a simulated network in real time, with UDP sockets. Needs Node.js. @packageDocumentation */
export { GatewayError } from './gateway-error.js';
export { type GatewayNetwork, type GatewayOptions, RealTimeGateway, type SocketAddress } from './real-time-gateway.js';
