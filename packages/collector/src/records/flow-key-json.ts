import { packText, putIpv4, putIpv6, putText, putUint32 } from './ascii.js';

const SOURCE = /* @__PURE__ */ packText('{"source":"');
const DESTINATION = /* @__PURE__ */ packText('","destination":"');
const PROTOCOL = /* @__PURE__ */ packText('","protocol":');
const SOURCE_PORT = /* @__PURE__ */ packText(',"sourcePort":');
const DESTINATION_PORT = /* @__PURE__ */ packText(',"destinationPort":');
const CLOSE = 0x7d;

/** Bytes of a flow at most. */
export const FLOW_KEY_JSON_BYTES = 192;

function putRest(view: DataView, at: number, protocol: number, ports: number): number {
  let next = putUint32(view, putText(view, at, PROTOCOL), protocol);
  next = putUint32(view, putText(view, next, SOURCE_PORT), ports >>> 16);
  next = putUint32(view, putText(view, next, DESTINATION_PORT), ports & 0xffff);
  view.setUint8(next, CLOSE);
  return next + 1;
}

/**
 * Writes an IPv4 flow as a JSON object.
 * @param ports source port << 16 | destination port
 */
export function putFlow4(
  view: DataView,
  at: number,
  source: number,
  destination: number,
  protocol: number,
  ports: number,
): number {
  const next = putIpv4(view, putText(view, at, SOURCE), source);
  return putRest(view, putIpv4(view, putText(view, next, DESTINATION), destination), protocol, ports);
}

/**
 * Writes an IPv6 flow as a JSON object.
 * @param words holds both addresses
 * @param source index of the source's first word
 * @param destination of the destination's
 * @param step from one word of an address to the next
 */
export function putFlow6(
  view: DataView,
  at: number,
  words: Int32Array | Uint32Array,
  source: number,
  destination: number,
  step: number,
  protocol: number,
  ports: number,
): number {
  const next = putAddress(view, putText(view, at, SOURCE), words, source, step);
  return putRest(view, putAddress(view, putText(view, next, DESTINATION), words, destination, step), protocol, ports);
}

function putAddress(view: DataView, at: number, words: Int32Array | Uint32Array, word: number, step: number): number {
  return putIpv6(
    view,
    at,
    words[word]! | 0,
    words[word + step]! | 0,
    words[word + 2 * step]! | 0,
    words[word + 3 * step]! | 0,
  );
}
