import { type Flow, parseAddress } from '@int/codec';
import { FLOW_KEY_BYTES_IPV4, FLOW_KEY_BYTES_IPV6, writeFlowKeyIpv4, writeFlowKeyIpv6 } from '@int/hash';

/**
 * The key of a flow, or of a flow at a switch (postcards), equal to that of `ReportRows`.
 *
 * @param flow the flow, with addresses as text
 * @param node node id of the switch, 32 bits; if absent, the key is that of the flow alone
 * @returns 13 bytes (IPv4) or 37 (IPv6) in the form of `encodeFlowKey` of @int/hash; 4 more with a node
 * @throws AddressError if an address is invalid; RangeError if the addresses are of different IP versions
 */
export function flowKey(flow: Flow, node?: number): Uint8Array {
  const source = parseAddress(flow.source);
  const destination = parseAddress(flow.destination);
  if (source.version !== destination.version) {
    throw new RangeError(`${flow.source} and ${flow.destination} are addresses of different versions`);
  }
  const isIpv6 = source.version === 6;
  const length = isIpv6 ? FLOW_KEY_BYTES_IPV6 : FLOW_KEY_BYTES_IPV4;
  const key = new Uint8Array(length + (node === undefined ? 0 : 4));
  const [a = 0, b = 0, c = 0, d = 0] = source.words;
  const [e = 0, f = 0, g = 0, h = 0] = destination.words;
  const ports = ((flow.sourcePort << 16) | (flow.destinationPort & 0xffff)) >>> 0;
  if (isIpv6) writeFlowKeyIpv6(key, 0, a, b, c, d, e, f, g, h, flow.protocol, ports);
  else writeFlowKeyIpv4(key, 0, a, e, flow.protocol, ports);
  if (node !== undefined) new DataView(key.buffer).setUint32(length, node);
  return key;
}
