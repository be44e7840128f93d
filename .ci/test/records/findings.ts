/** Events and flow entries for tests of what is made of them: arbitrary words in the columns. */
import { METRIC_NAMES, type MetricName, type TelemetryBatch } from '@int/codec';
import {
  compileRules,
  DETECTOR_KINDS,
  Detector,
  EVIDENCE,
  EVIDENCE_NAMES,
  EventBatch,
  NO_METRIC,
  NO_RULE,
} from '@int/detect';
import { type CacheGeometry, COMPACT, EXACT, geometryOf, META } from '@int/flowcache';
import * as fc from 'fast-check';

const word = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.nat(5000),
  fc.constantFrom(0, 0x7fffffff, 0x80000000, 0xffffffff),
);

/** A detector whose rules have these names. */
export function detectorOf(names: readonly string[]): Detector {
  const rules = names.map((name, index) => ({
    name,
    priority: index + 1,
    match: { destinationPort: index + 1 },
    detect: { noop: {} },
  }));
  return new Detector(compileRules({ version: 1, default: 'report', rules }));
}

/** What is needed to fill an event batch for a batch of reports, whichever rows it has. */
export const eventSeeds = fc.array(
  fc.record({
    report: fc.nat(),
    rule: fc.nat(3),
    detector: fc.nat(DETECTOR_KINDS.length - 1),
    metric: fc.oneof(fc.nat(METRIC_NAMES.length - 1), fc.constant(NO_METRIC)),
    scope: fc.nat(2),
    words: fc.array(word, { minLength: 5, maxLength: 5 }),
    life: fc.option(
      fc.record({
        eventId: fc.constant('00ff00ff12345678-7'),
        rule: fc.constantFrom('gone', '\u00fcber "it"'),
        state: fc.constantFrom('open', 'close'),
        severity: fc.constantFrom('info', 'warning', 'critical'),
        key: fc.constantFrom('switch 3', '2001:db8::1 5000 > 2001:db8::2 80 protocol 17', '\u{1f600}'),
        isFirst: fc.boolean(),
        beginNs: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
        timeNs: fc.constant(1n),
        findings: fc.integer({ min: 1, max: 0xffffffff }),
      }),
    ),
    evidence: fc.array(
      fc.record({
        metric: fc.oneof(fc.nat(METRIC_NAMES.length - 1), fc.constant(NO_METRIC)),
        aggregate: fc.nat(EVIDENCE_NAMES.length - 1),
        hop: fc.oneof(fc.nat(255), fc.constant(EVIDENCE.NO_HOP)),
        nodeId: word,
        value: word,
      }),
      { minLength: 1, maxLength: EVIDENCE.SLOTS },
    ),
  }),
  { maxLength: 6 },
);

/** Events about the good rows of a batch. Rule 3 is the default. */
export function eventsOf(
  batch: TelemetryBatch,
  detector: Detector,
  seeds: typeof eventSeeds extends fc.Arbitrary<infer T> ? T : never,
): EventBatch {
  const events = new EventBatch();
  events.attach(batch, detector);
  const rows = Array.from({ length: batch.reports }, (_, row) => row).filter((row) => batch.code[row] === 0);
  if (rows.length === 0) return events;
  seeds.forEach(({ report, rule, detector: kind, metric, scope, words, evidence, life }, row) => {
    if (life !== null) events.setLife(row, life);
    events.report[row] = rows[report % rows.length]!;
    events.rule[row] = rule === 3 ? NO_RULE : rule;
    events.kind[row] = kind | (metric << 8) | (scope << 16);
    for (const [index, column] of (['hop', 'nodeId', 'value', 'previous', 'threshold'] as const).entries()) {
      events[column][row] = words[index]!;
    }
    for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
      const found = evidence[slot];
      const at = slot * EVIDENCE.COLUMNS * events.stride + row;
      events.evidence[at + EVIDENCE.WHAT * events.stride] =
        found === undefined
          ? EVIDENCE.NONE
          : found.metric | (found.aggregate << EVIDENCE.AGGREGATE_SHIFT) | (found.hop << EVIDENCE.HOP_SHIFT);
      events.evidence[at + EVIDENCE.NODE * events.stride] = found?.nodeId ?? 0;
      events.evidence[at + EVIDENCE.VALUE * events.stride] = found?.value ?? 0;
    }
  });
  events.count = seeds.length;
  events.evidenceSlots = EVIDENCE.SLOTS;
  return events;
}

/** Entries as a cache hands them on, with arbitrary words. */
export const entries: fc.Arbitrary<{ words: Int32Array; at: number; count: number; geometry: CacheGeometry }> = fc
  .record({
    layout: fc.constantFrom('exact' as const, 'compact' as const),
    hops: fc.integer({ min: 1, max: 6 }),
    metrics: fc.subarray<MetricName>(['hopLatency', 'queueOccupancy', 'nodeId', 'l1EgressInterface', 'reserved9'], {
      minLength: 1,
    }),
    count: fc.nat(3),
    at: fc.nat(2),
  })
  .chain(({ at, count, ...dimensions }) => {
    const geometry = geometryOf({ rows: 1, ...dimensions });
    const length = at + count * geometry.bucketStride;
    const fields = geometry.layout === 'exact' ? EXACT : COMPACT;
    const seen = fc.array(fc.nat(dimensions.hops), { minLength: count, maxLength: count });
    return fc.tuple(fc.array(word, { minLength: length, maxLength: length }), seen).map(([values, hops]) => {
      const words = Int32Array.from(values, (value) => value | 0);
      for (let record = 0; record < count; record++) {
        const meta = at + record * geometry.bucketStride + fields.META;
        // No more hops than there are, one of the five reasons; the compact layout has no IPv6.
        words[meta] = (words[meta]! & 0x00ff_01ff) | (hops[record]! << META.SEEN_SHIFT) | (record << META.REASON_SHIFT);
        if (geometry.layout === 'compact') words[meta]! &= ~META.IPV6;
      }
      return { words, at, count, geometry };
    });
  });
