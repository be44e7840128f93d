import { FLAG } from '@int/codec';
import { type EventBatch, evidenceOf } from '@int/detect';
import type { Segment } from '../memory/segment.js';
import { SLAB_STRIDE, type Slab } from '../memory/slab.js';
import { EVENT_ROW } from '../table/events.js';
import { HourFinder } from './instants.js';
import type { RecordNumbers } from './numbers.js';
import { PathFinder } from './path.js';

const MISSING = 0xffffffff;

export class EventRows {
  readonly #paths = new PathFinder();

  /** Appends event `event`; the slab has room. */
  append(segment: Segment, slab: Slab, events: EventBatch, event: number, numbers: RecordNumbers): void {
    const { texts } = segment;
    const { batch } = events;
    const row = slab.rows;
    const report = events.report[event]!;
    const flags = batch.flags[report]!;
    const frame = batch.frame[report]!;
    const rule = events.ruleName(event);
    const hasFlow = (flags & FLAG.FLOW) !== 0;
    const isIpv6 = (flags & FLAG.IPV6) !== 0;
    const put = (column: number, value: number): void => {
      slab.words[column * SLAB_STRIDE + row] = value;
    };
    if (row === 0) slab.used.fill(1);
    numbers.next();
    put(EVENT_ROW.TIME, batch.frameTimeLow[frame]!);
    put(EVENT_ROW.TIME + 1, HourFinder.clampHigh(batch.frameTimeHigh[frame]!));
    put(EVENT_ROW.INSTANCE, numbers.instanceLow);
    put(EVENT_ROW.INSTANCE + 1, numbers.instanceHigh);
    put(EVENT_ROW.NUMBER, numbers.low);
    put(EVENT_ROW.NUMBER + 1, numbers.high);
    put(EVENT_ROW.KIND, events.kind[event]!);
    put(EVENT_ROW.RULE, rule === null ? MISSING : texts.rule.number(rule));
    put(EVENT_ROW.NODE, events.nodeId[event]!);
    put(EVENT_ROW.HOP, events.hop[event]!);
    put(EVENT_ROW.VALUE, events.value[event]!);
    put(EVENT_ROW.PREVIOUS, events.previous[event]!);
    put(EVENT_ROW.THRESHOLD, events.threshold[event]!);
    put(EVENT_ROW.PORTS, batch.ports[report]!);
    put(EVENT_ROW.PROTOCOL, hasFlow ? batch.protocol[report]! : MISSING);
    const { source0, source1, source2, source3 } = batch;
    const { destination0, destination1, destination2, destination3 } = batch;
    put(
      EVENT_ROW.SOURCE,
      isIpv6
        ? texts.source.ipv6(source0[report]!, source1[report]!, source2[report]!, source3[report]!)
        : hasFlow
          ? texts.source.ipv4(source0[report]!)
          : MISSING,
    );
    put(
      EVENT_ROW.DESTINATION,
      isIpv6
        ? texts.destination.ipv6(
            destination0[report]!,
            destination1[report]!,
            destination2[report]!,
            destination3[report]!,
          )
        : hasFlow
          ? texts.destination.ipv4(destination0[report]!)
          : MISSING,
    );
    slab.texts[0]![row] = JSON.stringify(evidenceOf(events, event));
    put(EVENT_ROW.PATH, this.#paths.find(batch, report, texts.path));
    slab.rows++;
    slab.records++;
    segment.rows++;
    segment.records++;
  }
}
