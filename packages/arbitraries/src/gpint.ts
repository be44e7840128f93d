import type { Flow, GpintInfo } from '@int/codec';
import * as fc from 'fast-check';
import type { Context } from './context.js';
import { flow } from './flow.js';
import { bits, word32 } from './values.js';

const MAX_BYTES = 2200;
const MAX_SWITCHES = 255;

/**
 * GPINT probes in one of the two layouts; the plain one has 8-bit ports, switch ids and queue depths, the extended one
 * 16-bit. At most 255 switches and 2200 bytes; the switches' counts determine the number of measurements.
 */
export function gpint(extended: boolean): fc.Arbitrary<GpintInfo> {
  const value = bits(extended ? 16 : 8);
  const byte = bits(8);
  // Decoders make plain objects, and the comparison demands the same here.
  const plain = { noNullPrototype: true } as const;
  const entry = fc.record({ switchId: value, queueDepth: value, values: fc.array(word32, { maxLength: 5 }) });
  return fc
    .record({
      kind: fc.constantFrom('probe', 'feedback', 'recovery', 'unknown'),
      requestId: bits(15),
      type: fc.constantFrom('rule-hits', 'port-packets'),
      route: fc.oneof(
        {
          arbitrary: fc.array(fc.record({ nextPort: value, firstMeasurement: byte, measurementCount: byte }, plain), {
            maxLength: 6,
          }),
          weight: 12,
        },
        { arbitrary: fc.constant(null), weight: 1 },
      ),
      entries: fc.oneof(
        { arbitrary: fc.array(entry, { maxLength: 8 }), weight: 12 },
        { arbitrary: fc.array(entry, { maxLength: MAX_SWITCHES, size: 'max' }), weight: 1 },
      ),
    })
    .map(({ kind, requestId, type, route, entries }) => {
      let room = MAX_BYTES - 8 - (route ?? []).length * 4;
      const switches: GpintInfo['switches'] = [];
      const measurements: number[] = [];
      for (const { switchId, queueDepth, values } of entries) {
        room -= extended ? 6 : 4;
        if (room < 0) break;
        const taken = values.slice(0, Math.floor(room / 4));
        room -= 4 * taken.length;
        switches.push({ switchId, queueDepth, measurementCount: taken.length });
        measurements.push(...taken);
      }
      // The longest source route that still fits into the probe.
      const all = Math.floor(Math.max(0, room) / 4);
      const full = { nextPort: extended ? 0xffff : 0xff, firstMeasurement: 0xff, measurementCount: 0xff };
      return {
        mode: 'gpint',
        extended,
        kind,
        requestId,
        type,
        route: route ?? Array.from({ length: all }, () => full),
        switches,
        measurements,
      };
    });
}

/** The flow of a probe: UDP to the port of its layout. */
export function probeFlow(extended: boolean, context: Context): fc.Arbitrary<Flow> {
  const destinationPort = context.probePorts[extended ? 1 : 0]!;
  return flow({ protocols: [17] }).map((one) => ({ ...one, destinationPort }));
}
