import type { TelemetryBatch } from '@int/codec';
import { RecordIds, type RecordKind } from '@int/collector';
import { EventJson, FlowJson, RecordNames, ReportJson } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import { type CacheGeometry, COMPACT, EXACT } from '@int/flowcache';
import type { Topology } from '@int/network';
import type { ResolvedOptions } from '../options.js';
import { type LineBatch, MAX_LINE_BYTES } from './batch.js';
import { putDecimal } from './digits.js';
import { IndexNames } from './index-name.js';
import { Timestamps, timeMs } from './timestamp.js';

/** Hops of a report, its reporter, and the nodes of an event's evidence, at most. */
const MOST_NODES = 320;

const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const AFTER_ID = /* @__PURE__ */ Buffer.from('"}}\n{"@timestamp":"', 'latin1');

/** How the lines of one kind of record begin. */
class Head {
  readonly #names: IndexNames;
  readonly #instance: string;
  #name = '';
  #text: Buffer = Buffer.alloc(0);

  constructor(names: IndexNames, instance: string) {
    this.#names = names;
    this.#instance = instance;
  }

  /** The action up to the number in the record's id. */
  at(ms: number): Buffer {
    const name = this.#names.at(ms);
    if (name !== this.#name) {
      this.#name = name;
      this.#text = Buffer.from(`{"create":{"_index":"${name}","_id":"${this.#instance}-`, 'latin1');
    }
    return this.#text;
  }
}

/**
 * Writes records as the lines of a bulk request: an action, and the record as JSON with `@timestamp` in front.
 *
 * The action is `create` with the record's id: what is there already is not written again.
 */
export class LineEncoder {
  readonly #ids: RecordIds;
  readonly #heads: Readonly<Record<RecordKind, Head>>;
  readonly #timestamps = new Timestamps();
  readonly #names: RecordNames | null;
  readonly #reports: ReportJson;
  readonly #events: EventJson;
  #flows: FlowJson | null = null;

  /**
   * @param names of switches and ports, to put beside their ids
   * @throws TypeError if the instance is no 16 hexadecimal digits
   */
  constructor({ prefix, rotate, instance }: Pick<ResolvedOptions, 'prefix' | 'rotate' | 'instance'>, names?: Topology) {
    this.#names = names === undefined || names.switches.size === 0 ? null : new RecordNames(names);
    this.#reports = new ReportJson(this.#names);
    this.#events = new EventJson(this.#names);
    const ids = new RecordIds(instance);
    this.#ids = ids;
    const head = (kind: RecordKind): Head => new Head(new IndexNames(prefix + kind, rotate), ids.instance);
    this.#heads = { reports: head('reports'), events: head('events'), flows: head('flows') };
  }

  /** Bytes of the longest line, with its action. */
  get lineBytes(): number {
    return MAX_LINE_BYTES + (this.#names === null ? 0 : MOST_NODES * this.#names.hopBytes);
  }

  get instance(): string {
    return this.#ids.instance;
  }

  /** Appends report row `row`, whose `code` is 0. */
  report(lines: LineBatch, batch: TelemetryBatch, row: number): void {
    const frame = batch.frame[row]!;
    const number = this.#ids.next++;
    const at = this.#begin(lines, 'reports', number, batch.frameTimeHigh[frame]!, batch.frameTimeLow[frame]!);
    const end = this.#reports.write(lines.view, at, batch, row, this.#ids, number);
    this.#end(lines, 'reports', at, end);
  }

  event(lines: LineBatch, events: EventBatch, row: number): void {
    const { batch } = events;
    const frame = batch.frame[events.report[row]!]!;
    const number = this.#ids.next++;
    const at = this.#begin(lines, 'events', number, batch.frameTimeHigh[frame]!, batch.frameTimeLow[frame]!);
    const end = this.#events.write(lines.view, at, events, row, this.#ids, number);
    this.#end(lines, 'events', at, end);
  }

  flow(lines: LineBatch, words: Int32Array, word: number, geometry: CacheGeometry): void {
    const isExact = geometry.layout === 'exact';
    if (this.#flows === null || this.#flows.geometry !== geometry) this.#flows = new FlowJson(geometry, this.#names);
    const number = this.#ids.next++;
    const time = word + (isExact ? EXACT : COMPACT).LAST;
    const at = this.#begin(lines, 'flows', number, words[time + 1]! >>> 0, words[time]! >>> 0);
    const end = this.#flows.write(lines.view, at, words, word, this.#ids, number);
    this.#end(lines, 'flows', at, end);
  }

  /** Writes the action and `@timestamp`. Returns where the record's own JSON begins. */
  #begin({ bytes, used }: LineBatch, kind: RecordKind, number: number, high: number, low: number): number {
    const head = this.#heads[kind].at(timeMs(high, low));
    bytes.set(head, used);
    let at = putDecimal(bytes, used + head.length, number);
    bytes.set(AFTER_ID, at);
    at = this.#timestamps.put(bytes, at + AFTER_ID.length, high, low);
    bytes[at] = 0x22;
    return at + 1;
  }

  /** Joins the record's object, from `at` to `end`, to the beginning of the one that `#begin` wrote. */
  #end(lines: LineBatch, kind: RecordKind, at: number, end: number): void {
    lines.bytes[at] = COMMA;
    lines.bytes[end] = LINE_FEED;
    lines.push(kind, end + 1 - lines.used);
  }
}
