/**
 * GPINT probes (reliable GPINT, section IV), the payload of UDP behind IPv4. All numbers are big-endian.
 *
 * | Part | Plain (port 5017) | Extended (port 5018) |
 * |---|---|---|
 * | request meta | request id 15, type 1 | the same |
 * | SR stack | count 16 | the same |
 * | per hop | next port 8, first measurement 8, measurement count 8 | next port 16, first 8, count 8 |
 * | INT stack | DLV count 16 | the same |
 * | per switch | switch id 8, queue depth 8, measurement count 16 | switch id 16, queue depth 16, measurement count 16 |
 * | measurements | number 16, then 32 each | the same |
 *
 * A feedback (DSCP 0x19) carries only the request meta, 2 bytes. A feedback with all counts, each 0, is read as well.
 *
 * Type 0 asks for rule-hit counters, type 1 for port packet counters. The measurements have the order of the DLV
 * headers, so their number is the sum of the counts in these headers.
 */
import { CodecError } from '../errors.js';
import type { GpintInfo } from '../model.js';
import { dlvBytes, FEEDBACK_BYTES, FEEDBACK_DSCP, MAX_PROBE_BYTES, routeBytes } from '../probe/parts.js';
import {
  type HeaderCodec,
  makeCodec,
  readUint16,
  readUint32,
  requireBytes,
  requireFit,
  writeUint16,
  writeUint32,
} from './codec.js';

export { MAX_PROBE_BYTES };

/** DSCP of probes (IPv4). */
export const GPINT_DSCP = { PROBE: 0x17, FEEDBACK: FEEDBACK_DSCP, RECOVERY: 0x21 } as const;

/** Default UDP destination ports of the two layouts. */
export const GPINT_PORT = { PLAIN: 5017, EXTENDED: 5018 } as const;

/** A probe, without what the layers below it say. */
export type GpintProbe = Pick<GpintInfo, 'requestId' | 'type' | 'route' | 'switches' | 'measurements'>;

/** The request meta: name of a probe, and what it asks for. */
export type GpintMeta = Pick<GpintProbe, 'requestId' | 'type'>;

function typeOf(meta: number): GpintMeta['type'] {
  return (meta & 1) === 0 ? 'rule-hits' : 'port-packets';
}

function metaOf(value: GpintMeta): number {
  return (value.requestId << 1) | (value.type === 'port-packets' ? 1 : 0);
}

function checkMeta(value: GpintMeta): void {
  requireFit('requestId', value.requestId, 15);
  if (value.type !== 'rule-hits' && value.type !== 'port-packets') {
    throw new RangeError(`type must be rule-hits or port-packets, not ${String(value.type)}`);
  }
}

function probeCodec(extended: boolean): HeaderCodec<GpintProbe> {
  const routeSize = routeBytes(extended);
  const dlvSize = dlvBytes(extended);
  const width = extended ? 16 : 8;
  const measure = (value: GpintProbe): number => {
    requireFit('route.length', value.route.length, 16);
    requireFit('switches.length', value.switches.length, 16);
    requireFit('measurements.length', value.measurements.length, 16);
    const length = 8 + value.route.length * routeSize + value.switches.length * dlvSize + value.measurements.length * 4;
    if (length > MAX_PROBE_BYTES) throw new RangeError(`a probe of ${length} bytes exceeds ${MAX_PROBE_BYTES}`);
    return length;
  };
  return makeCodec<GpintProbe>({
    layer: 'gpint',
    decode(bytes, offset) {
      requireBytes(bytes, offset, 4, 'gpint');
      const meta = readUint16(bytes, offset);
      const hops = readUint16(bytes, offset + 2);
      let at = offset + 4;
      requireBytes(bytes, at, hops * routeSize, 'gpint', offset + 2);
      const route: GpintProbe['route'] = [];
      for (let hop = 0; hop < hops; hop++, at += routeSize) {
        const range = at + routeSize - 2;
        route.push({
          nextPort: extended ? readUint16(bytes, at) : bytes[at]!,
          firstMeasurement: bytes[range]!,
          measurementCount: bytes[range + 1]!,
        });
      }
      requireBytes(bytes, at, 2, 'gpint');
      const dlvCount = readUint16(bytes, at);
      requireBytes(bytes, at + 2, dlvCount * dlvSize, 'gpint', at);
      at += 2;
      const switches: GpintProbe['switches'] = [];
      let expected = 0;
      for (let index = 0; index < dlvCount; index++, at += dlvSize) {
        const measurementCount = readUint16(bytes, at + dlvSize - 2);
        expected += measurementCount;
        switches.push({
          switchId: extended ? readUint16(bytes, at) : bytes[at]!,
          queueDepth: extended ? readUint16(bytes, at + 2) : bytes[at + 1]!,
          measurementCount,
        });
      }
      requireBytes(bytes, at, 2, 'gpint');
      const count = readUint16(bytes, at);
      if (count !== expected) {
        throw new CodecError('BAD_PROBE', 'gpint', at, `${count} measurements, but the DLV headers count ${expected}`);
      }
      requireBytes(bytes, at + 2, count * 4, 'gpint', at);
      at += 2;
      const measurements: number[] = [];
      for (let index = 0; index < count; index++, at += 4) measurements.push(readUint32(bytes, at));
      if (at - offset > MAX_PROBE_BYTES) {
        throw new CodecError('BAD_PROBE', 'gpint', offset, `${at - offset} bytes, more than ${MAX_PROBE_BYTES}`);
      }
      return {
        requestId: meta >>> 1,
        type: typeOf(meta),
        route,
        switches,
        measurements,
      };
    },
    measure,
    check(value) {
      checkMeta(value);
      for (const hop of value.route) {
        requireFit('route.nextPort', hop.nextPort, width);
        requireFit('route.firstMeasurement', hop.firstMeasurement, 8);
        requireFit('route.measurementCount', hop.measurementCount, 8);
      }
      let expected = 0;
      for (const item of value.switches) {
        requireFit('switches.switchId', item.switchId, width);
        requireFit('switches.queueDepth', item.queueDepth, width);
        requireFit('switches.measurementCount', item.measurementCount, 16);
        expected += item.measurementCount;
      }
      for (const measurement of value.measurements) requireFit('measurements', measurement, 32);
      if (expected !== value.measurements.length) {
        throw new RangeError(
          `measurements must be the ${expected} that switches count, not ${value.measurements.length}`,
        );
      }
    },
    write(value, out, offset) {
      writeUint16(out, offset, metaOf(value));
      writeUint16(out, offset + 2, value.route.length);
      let at = offset + 4;
      for (const hop of value.route) {
        if (extended) writeUint16(out, at, hop.nextPort);
        else out[at] = hop.nextPort;
        at += routeSize;
        out[at - 2] = hop.firstMeasurement;
        out[at - 1] = hop.measurementCount;
      }
      writeUint16(out, at, value.switches.length);
      at += 2;
      for (const item of value.switches) {
        if (extended) {
          writeUint16(out, at, item.switchId);
          writeUint16(out, at + 2, item.queueDepth);
        } else {
          out[at] = item.switchId;
          out[at + 1] = item.queueDepth;
        }
        at += dlvSize;
        writeUint16(out, at - 2, item.measurementCount);
      }
      writeUint16(out, at, value.measurements.length);
      at += 2;
      for (const measurement of value.measurements) {
        writeUint32(out, at, measurement);
        at += 4;
      }
    },
  });
}

/**
 * A probe in the plain layout: 8-bit ports, switch ids and queue depths. At most `MAX_PROBE_BYTES` bytes.
 * Errors: `BAD_PROBE` (counts do not agree, too long). RangeError on encoding a probe that is too long.
 */
export const gpintProbe: HeaderCodec<GpintProbe> = /* @__PURE__ */ probeCodec(false);

/**
 * The request meta alone, which is all that a feedback carries (reliable GPINT, section IV-B). 2 bytes in both layouts.
 */
export const gpintMeta: HeaderCodec<GpintMeta> = /* @__PURE__ */ makeCodec({
  layer: 'gpint',
  decode(bytes, offset) {
    requireBytes(bytes, offset, FEEDBACK_BYTES, 'gpint');
    const meta = readUint16(bytes, offset);
    return { requestId: meta >>> 1, type: typeOf(meta) };
  },
  measure: () => FEEDBACK_BYTES,
  check: checkMeta,
  write(value, out, offset) {
    writeUint16(out, offset, metaOf(value));
  },
});

/** A probe in the extended layout: 16-bit ports, switch ids and queue depths. See {@link gpintProbe}. */
export const gpintProbeExtended: HeaderCodec<GpintProbe> = /* @__PURE__ */ probeCodec(true);
