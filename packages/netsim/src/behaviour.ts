/** The behaviour of a node. */
import type { Node } from './network-node.js';

/**
 * Anything that takes frames: a host, a switch, a monitor. One object serves one node.
 *
 * Frames are shared, not copied. A node that changes a frame makes a new one.
 */
export interface Behaviour {
  /** Called once, when the node is added. The node has no links yet. */
  start?(node: Node): void;
  /**
   * Called for each frame that the node has received and served.
   *
   * @param frame a whole Ethernet frame, without its check sequence; do not write to it
   * @param port number of the ingress port
   */
  receive(frame: Uint8Array, port: number, node: Node): void;
  /** Called when a port has got a link, or its link has gone down or come up. */
  portChanged?(port: number, node: Node): void;
  /** Called when the node fails. It loses its memory. */
  fail?(node: Node): void;
  /** Called when the node is repaired. */
  repair?(node: Node): void;
}
