/** What a node does. */
import type { Node } from './network-node.js';

/**
 * Anything that takes frames: a host, a switch, a monitor. One object serves one node.
 *
 * Frames are shared, not copied: whoever changes one makes a new one.
 */
export interface Behaviour {
  /** Called once, when the node is added: it has no links yet. */
  start?(node: Node): void;
  /**
   * Called for each frame that the node has got and served.
   *
   * @param frame a whole Ethernet frame, without its check sequence; never to be written
   * @param port number of the port it came in by
   */
  receive(frame: Uint8Array, port: number, node: Node): void;
  /** Called when the node fails. Whatever it keeps in memory is gone. */
  fail?(node: Node): void;
  /** Called when it is repaired. */
  repair?(node: Node): void;
}
