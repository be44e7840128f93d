import { type Flow, parseAddress } from '@int/codec';
import type { FlowWindow, ImmediateEvent, NetworkWindow, WindowCorrection } from '@int/stream';

/**
 * The key of a flow's messages: source, destination, protocol, source port, destination port, big-endian; 13 bytes for
 * IPv4, 37 for IPv6.
 */
export function flowKey(flow: Flow): Uint8Array {
  const words = [...parseAddress(flow.source).words, ...parseAddress(flow.destination).words];
  const key = new Uint8Array(words.length * 4 + 5);
  const view = new DataView(key.buffer);
  for (const [index, word] of words.entries()) view.setUint32(index * 4, word);
  const at = words.length * 4;
  key[at] = flow.protocol;
  view.setUint16(at + 1, flow.sourcePort);
  view.setUint16(at + 3, flow.destinationPort);
  return key;
}

/** The key of messages about a node: its id, 4 bytes, big-endian; all ones for a node without an id. */
export function nodeKey(nodeId: number | null): Uint8Array {
  const key = new Uint8Array(4);
  new DataView(key.buffer).setUint32(0, nodeId ?? 0xffffffff);
  return key;
}

/** The key of a window: that of its flow, its node, or the first node of its link. */
export function windowKey(window: FlowWindow | NetworkWindow | WindowCorrection): Uint8Array {
  if ('flow' in window) return flowKey(window.flow);
  return nodeKey('nodeId' in window ? window.nodeId : window.link[0]);
}

/** The key of an event: that of its flow, or else of the first node that it names. */
export function eventKey(event: ImmediateEvent): Uint8Array {
  if ('flow' in event && event.flow !== null) return flowKey(event.flow);
  if (event.kind === 'linkFailure') return nodeKey(event.link[0]);
  return nodeKey(event.kind === 'pathChange' ? (event.path[0] ?? null) : event.nodeId);
}
