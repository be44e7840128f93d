/** The network of the example, what its hosts send, and its closed loop in virtual time: for whoever measures it. @packageDocumentation */
export { type Fabric, HOSTS, type HostName } from './network/fabric.js';
export { FLAG, tcpOf } from './network/tcp.js';
export { browse, scan, serve, stream, synFlood } from './network/traffic.js';
export { VirtualLoop } from './virtual-loop.js';
