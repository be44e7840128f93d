import { FLAG } from '@int/codec';
import type { RecordIds } from '@int/collector';
import { type EventBatch, evidenceOf } from '@int/detect';
import type { Segment } from '../memory/segment.js';
import { SLAB_STRIDE, type Slab } from '../memory/slab.js';
import { EVENT_ROW, SEVERITIES } from '../table/events.js';
import { HourFinder } from './instants.js';
import { PathFinder } from './path.js';
import { addressOf, DESTINATION, SOURCE } from './report-rows.js';

const MISSING = 0xffffffff;

export class EventRows {
  readonly #paths = new PathFinder();

  /** Appends event `event`; the slab has room. */
  append(segment: Segment, slab: Slab, events: EventBatch, event: number, ids: RecordIds): void {
    const { texts } = segment;
    const { batch } = events;
    const row = slab.rows;
    const report = events.report[event]!;
    const flags = batch.flags[report]!;
    const frame = batch.frame[report]!;
    const rule = events.ruleName(event);
    const hasFlow = (flags & FLAG.FLOW) !== 0;
    const put = (column: number, value: number): void => {
      slab.words[column * SLAB_STRIDE + row] = value;
    };
    if (row === 0) slab.used.fill(1);
    const number = ids.next++;
    put(EVENT_ROW.TIME, batch.frameTimeLow[frame]!);
    put(EVENT_ROW.TIME + 1, HourFinder.clampHigh(batch.frameTimeHigh[frame]!));
    put(EVENT_ROW.INSTANCE, ids.instanceLow);
    put(EVENT_ROW.INSTANCE + 1, ids.instanceHigh);
    put(EVENT_ROW.NUMBER, number >>> 0);
    put(EVENT_ROW.NUMBER + 1, Math.floor(number / 2 ** 32));
    put(EVENT_ROW.KIND, events.kind[event]!);
    put(EVENT_ROW.RULE, rule === null ? MISSING : texts.rule.number(rule));
    put(EVENT_ROW.NODE, events.nodeId[event]!);
    put(EVENT_ROW.HOP, events.hop[event]!);
    put(EVENT_ROW.VALUE, events.value[event]!);
    put(EVENT_ROW.PREVIOUS, events.previous[event]!);
    put(EVENT_ROW.THRESHOLD, events.threshold[event]!);
    put(EVENT_ROW.PORTS, batch.ports[report]!);
    put(EVENT_ROW.PROTOCOL, hasFlow ? batch.protocol[report]! : MISSING);
    put(EVENT_ROW.SOURCE, addressOf(texts.source, batch, report, SOURCE));
    put(EVENT_ROW.DESTINATION, addressOf(texts.destination, batch, report, DESTINATION));
    const life = events.life(event);
    put(EVENT_ROW.EVENT_ID, life === null ? MISSING : texts.event.number(life.eventId));
    put(EVENT_ROW.SEVERITY, life === null ? MISSING : SEVERITIES.indexOf(life.severity));
    put(EVENT_ROW.KEY, life === null ? MISSING : texts.key.number(life.key));
    put(EVENT_ROW.IS_FIRST, life === null ? MISSING : Number(life.isFirst));
    put(EVENT_ROW.BEGIN, life === null ? MISSING : Number(life.beginNs & 0xffffffffn));
    const beginHigh = life === null ? MISSING : Number((life.beginNs >> 32n) & 0xffffffffn);
    put(EVENT_ROW.BEGIN + 1, life === null ? MISSING : HourFinder.clampHigh(beginHigh));
    put(EVENT_ROW.FINDINGS, life?.findings ?? MISSING);
    slab.texts[0]![row] = JSON.stringify(evidenceOf(events, event));
    put(EVENT_ROW.PATH, this.#paths.find(batch, report, texts.path));
    slab.rows++;
    slab.records++;
    segment.rows++;
    segment.records++;
  }
}
