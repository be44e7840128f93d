/** Switches that forward by IPv4 destination. */
import type { Behaviour } from '../behaviour.js';
import { destinationWord, isIpv4 } from '../frames.js';
import type { Node } from '../network-node.js';
import { RouteTable } from '../route-table.js';

/**
 * Forwards each frame by its IPv4 destination, unchanged. It does not decrement the time to live, because frames are
 * shared.
 */
export class ForwardingSwitch implements Behaviour {
  readonly routes: RouteTable = new RouteTable();
  /** Frames received per port, 32 bits each. A frame on a new port may replace the array. */
  portPackets: Uint32Array = new Uint32Array(8);
  forwarded = 0;
  /** Frames that are not IPv4, or whose destination has no route. */
  unroutable = 0;

  receive(frame: Uint8Array, port: number, node: Node): void {
    this.count(port);
    this.forward(frame, node);
  }

  protected forward(frame: Uint8Array, node: Node): void {
    const out = isIpv4(frame) ? this.routes.lookup(destinationWord(frame)) : -1;
    if (out < 0) {
      this.unroutable++;
      return;
    }
    this.forwarded++;
    node.send(out, frame);
  }

  /** Counts a frame that has arrived. */
  protected count(port: number): void {
    const { portPackets } = this;
    if (port >= portPackets.length) {
      this.portPackets = new Uint32Array(Math.max(portPackets.length * 2, port + 1));
      this.portPackets.set(portPackets);
    }
    this.portPackets[port]!++;
  }
}
