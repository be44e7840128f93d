/** The parts of a GPINT probe. */
import { CODES } from '../codes.js';
import { FieldGroup } from '../headers/codec.js';
import { FEEDBACK_BYTES } from '../probe/parts.js';
import type { Scan } from '../scan/state.js';
import type { Parts } from './field.js';

const META = /* @__PURE__ */ new FieldGroup('gpint', { requestId: 15, type: 1 });
const COUNT = /* @__PURE__ */ new FieldGroup('gpint', { count: 16 });
const MEASUREMENT = /* @__PURE__ */ new FieldGroup('gpint', { measurement: 32 });
/** By layout: plain, extended. */
const ROUTE = /* @__PURE__ */ [8, 16].map(
  (width) => new FieldGroup('gpint', { nextPort: width, firstMeasurement: 8, measurementCount: 8 }),
);
const SWITCH = /* @__PURE__ */ [8, 16].map(
  (width) => new FieldGroup('gpint', { switchId: width, queueDepth: width, measurementCount: 16 }),
);

/** The probe in `[p, end)`. The parts of one whose lengths do not add up cannot be told apart. */
export function addProbe(parts: Parts, scan: Scan, p: number, end: number): void {
  parts.group('gpint', p, (inside) => {
    if (!inside.header(META, p, end)) return 'GPINT';
    if (scan.code !== CODES.OK) inside.bytes('undecoded', p + 2, end);
    else if (end > p + FEEDBACK_BYTES) addLists(inside, scan, p + 2, end);
    return 'GPINT';
  });
}

function addLists(parts: Parts, scan: Scan, p: number, end: number): void {
  const route = ROUTE[scan.probeExtended]!;
  const node = SWITCH[scan.probeExtended]!;
  let at = p;
  for (const [name, group] of [
    ['route', route],
    ['switch', node],
    ['measurements', MEASUREMENT],
  ] as const) {
    const count = scan.view.getUint16(at);
    parts.header(COUNT, at, end);
    at += 2;
    for (let k = 0; k < count; k++) {
      const start = at;
      if (group === MEASUREMENT) parts.header(group, start, end);
      else parts.group(name, start, (inside) => `${inside.header(group, start, end) ? k + 1 : ''}`);
      at += group.byteLength;
    }
  }
}
