/** Links that lose everything but feedback: to see what lost feedback costs. */
import { GPINT_DSCP } from '@int/codec';
import type { BuiltNetwork } from '@int/netsim';

/** Where the DS field is in an Ethernet frame with IPv4; DSCP is its upper six bits. */
const DS_FIELD = 15;

/**
 * Drops frames that come from other switches with probability `loss`, feedback excepted, when the switch has served them
 * and before it handles them. Without other traffic that is the same as losing them on the link.
 */
export function loseAllButFeedback(built: BuiltNetwork, loss: number): void {
  for (const [number, each] of built.switches.entries()) {
    const ports = built.neighbours[number]!.length;
    const random = built.network.random.derive('lossy probes', number);
    const receive = each.receive.bind(each);
    each.receive = (frame, port, node) => {
      const isBetweenSwitches = port >= 1 && port <= ports;
      const isFeedback = frame[DS_FIELD]! >>> 2 === GPINT_DSCP.FEEDBACK;
      if (isBetweenSwitches && !isFeedback && random.uniform() < loss) return;
      receive(frame, port, node);
    };
  }
}
