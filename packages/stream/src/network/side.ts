import { StreamError } from '../errors.js';
import type { ImmediateEvent } from '../model/event.js';
import type { NetworkSideOutput } from '../model/output.js';
import type { NetworkPartial } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import type { NetworkSideOptions } from '../options.js';
import type { ByteFields } from '../partial/fields.js';
import { passOptions, stateReader, stateWriter } from '../partial/state.js';
import { type ResolvedNetworkOptions, resolveNetworkOptions } from '../resolve.js';
import { LateCounts } from '../slice/late-counts.js';
import { microsecondsOfMs } from '../time.js';
import { Arrivals } from './arrivals.js';
import { congestionEvent, linkEvent, lossEvent } from './events.js';
import { type GivenQueue, GivenWindows, linkName, switchName } from './given.js';
import { LinkEntry } from './links.js';
import { QueueEntry } from './queues.js';
import { type Entry, Registry } from './registry.js';
import { SequenceGaps } from './sequence-gaps.js';
import { SwitchEntry } from './switches.js';

/** First byte of the keys. Those of partials and sides are in Arrivals. */
const KEY = { CLOCK: 0x63, SWITCH: 0x6e, LINK: 0x6c, QUEUE: 0x71, REPORTER: 0x72 } as const;
/** Silent slices that are closed one by one after a jump in time. */
const STEPS = 256;

/** Counts of a network side since it was made. */
export interface NetworkSideTotals {
  /** Partials taken for their slice, including the `pending` ones. */
  readonly partials: number;
  /** Repeated partials, by side and number. */
  readonly repeated: number;
  /** Partials whose slice was already closed. */
  readonly late: number;
  /** Hop records, and reports without a hop record, in late partials. Windows count them only as `late`. */
  readonly lateReports: number;
  /** Partials that wait for their slice to be complete. */
  readonly pending: number;
  /** Slices closed. `incompleteSlices` of them lack a side, or reports. */
  readonly slices: number;
  readonly incompleteSlices: number;
  readonly events: number;
  /** Windows emitted, counting each revision. */
  readonly networkWindows: number;
  /** Of these, windows that were not `complete`. */
  readonly incompleteWindows: number;
  /** Switches, links, queues and reporters that found no room, counted each time. */
  readonly refused: number;
}

/**
 * Combines the partials of all flow sides into windows per switch and link, and into the events that no single flow
 * shows.
 *
 * A slice of time is closed when every side has sent its part. If a side is missing for `waitMs`, the slice is closed
 * without it. Silence means nothing in such a slice: no link counts as silent, and no sequence number as missing. The
 * results depend only on the contents of the partials. Their order and the distribution of flows over sides do not
 * matter. Each side must send its partials in ascending order of their numbers.
 *
 * A late partial is added to its window if that is open or kept (`latenessMs`). A kept window is then emitted again.
 * Otherwise the partial counts as `late`, in the totals and in the next window of the switch or link, and a {@link
 * WindowCorrection} names the window that lacks it.
 */
export class NetworkSide {
  readonly #options: ResolvedNetworkOptions;
  readonly #output: NetworkSideOutput;
  readonly #arrivals: Arrivals;
  readonly #given: GivenWindows;
  /** Counts of what came too late for windows that can no longer be corrected. */
  readonly #lateCounts: LateCounts;
  readonly #switches: Registry<SwitchEntry>;
  readonly #links: Registry<LinkEntry>;
  readonly #queues: Registry<QueueEntry>;
  readonly #reporters: Registry<SequenceGaps>;
  readonly #registries: readonly Registry<Entry>[];
  #found: ImmediateEvent[] = [];
  /** The first open slice; -1 before the first partial. */
  #openSlice = -1;
  /** Whether a slice was closed. No earlier one can then be opened. */
  #hasClosed = false;
  /** The slice of the time given by `advance`; -1 before the first. */
  #horizon = -1;
  /** Whether nothing is missing in the open window. */
  #isWhole = true;
  #isClockDirty = false;
  #hasSeen = false;
  readonly #counts = {
    partials: 0,
    repeated: 0,
    late: 0,
    lateReports: 0,
    slices: 0,
    incompleteSlices: 0,
    events: 0,
    networkWindows: 0,
    incompleteWindows: 0,
  };

  /** @throws RangeError for an option out of range */
  constructor(options: NetworkSideOptions = {}, output: NetworkSideOutput = {}) {
    const resolved = resolveNetworkOptions(options);
    this.#options = resolved;
    this.#output = output;
    this.#arrivals = new Arrivals(resolved.pending);
    this.#given = new GivenWindows(resolved.windowUs, resolved.kept, (window) => {
      this.#counts.networkWindows++;
      if (!window.complete) this.#counts.incompleteWindows++;
      output.networkWindow?.(window);
    });
    this.#lateCounts = new LateCounts(resolved.windowUs, (correction) => output.correction?.(correction));
    this.#switches = new Registry(KEY.SWITCH, 1, resolved.switches, (words) => new SwitchEntry(words));
    this.#links = new Registry(KEY.LINK, 2, resolved.links, (words) => new LinkEntry(words));
    this.#queues = new Registry(KEY.QUEUE, 2, resolved.queues, (words) => new QueueEntry(words));
    this.#reporters = new Registry(KEY.REPORTER, 3, resolved.reporters, (words) => new SequenceGaps(words));
    this.#registries = [this.#switches, this.#links, this.#queues, this.#reporters];
  }

  /**
   * Takes a partial and keeps it until its slice is closed. Repeats, by side and number, are dropped.
   * @throws RangeError for a partial with another length of slice
   */
  merge(partial: NetworkPartial): void {
    const { sliceUs } = this.#options;
    if (partial.sliceUs !== sliceUs) throw new RangeError(`a partial of ${partial.sliceUs} us, not ${sliceUs}`);
    this.#hasSeen = true;
    if (this.#openSlice < 0 || (!this.#hasClosed && partial.slice < this.#openSlice)) {
      this.#openSlice = partial.slice;
      this.#isClockDirty = true;
    }
    const fate = this.#arrivals.offer(partial, this.#openSlice);
    if (fate === 'repeated') {
      this.#counts.repeated++;
      return;
    }
    this.#isClockDirty = true;
    if (partial.broken !== null) this.#break(...partial.broken);
    if (fate === 'late') this.#takeLate(partial);
    else this.#counts.partials++;
    this.#closeReady();
  }

  /** Declares that partials may have been lost. Slices closed by each side's next partial are then not complete. */
  missing(): void {
    this.#hasSeen = true;
    this.#arrivals.gap();
  }

  /** Notes that something is missing in slices, some of which may be closed. */
  #break(from: number, to: number): void {
    const { slicesPerWindow } = this.#options;
    const openWindow = Math.floor(this.#openSlice / slicesPerWindow);
    this.#given.break(Math.floor(from / slicesPerWindow), Math.ceil(to / slicesPerWindow));
    if (from < this.#openSlice && to > openWindow * slicesPerWindow) this.#isWhole = false;
  }

  /** Takes a partial of a closed slice. */
  #takeLate(partial: NetworkPartial): void {
    const { slicesPerWindow } = this.#options;
    const window = Math.floor(partial.slice / slicesPerWindow);
    this.#counts.late++;
    if (this.#given.has(window)) {
      this.#given.merge(window, partial);
      return;
    }
    const isOpen = window >= Math.floor(this.#openSlice / slicesPerWindow);
    for (const part of partial.switches) {
      const entry = this.#switches.take([part.nodeId]);
      if (isOpen) {
        entry?.merge(part, partial.slice);
        continue;
      }
      const { nodeId, reports } = part;
      this.#counts.lateReports += reports;
      if (entry !== null) entry.late += reports;
      this.#lateCounts.add(switchName(nodeId), window, reports, () => ({ of: 'switchWindow', nodeId }));
    }
    for (const part of partial.links) {
      const entry = this.#links.take([part.from, part.to]);
      if (isOpen) {
        entry?.counts.merge(part);
        continue;
      }
      const { from, to, packets } = part;
      if (entry !== null) entry.late += packets;
      this.#lateCounts.add(linkName(from, to), window, packets, () => ({ of: 'linkWindow', link: [from, to] }));
    }
    if (!isOpen) return;
    for (const part of partial.queues) this.#queues.take([part.nodeId, part.queueId])?.merge(part, partial.slice);
  }

  /**
   * Emits changed windows again, and corrections of windows that are no longer kept. Call it before {@link changes},
   * because the state contains none of this. After a restore, it also closes slices that need not wait with the present
   * options.
   */
  revise(): void {
    if (this.#openSlice >= 0) this.#closeReady();
    this.#given.revise();
    this.#lateCounts.tell();
  }

  /**
   * Advances the time, so that slices do not wait for ever for sides that are gone. An earlier time is ignored.
   * @param timeMs milliseconds since the epoch
   * @throws RangeError for an invalid time
   */
  advance(timeMs: number): void {
    const slice = Math.floor(microsecondsOfMs(timeMs) / this.#options.sliceUs);
    this.#hasSeen = true;
    if (slice <= this.#horizon) return;
    this.#horizon = slice;
    this.#isClockDirty = true;
    if (this.#openSlice >= 0) this.#closeReady();
  }

  /** Closes all slices that have partials, and emits the open window. */
  flush(): void {
    if (this.#openSlice < 0) return;
    const { slicesPerWindow } = this.#options;
    const { most, least, count } = this.#arrivals.sides();
    const last = Math.max(most, this.#arrivals.latest());
    while (this.#openSlice <= last) {
      this.#closeSlice(this.#openSlice <= least && count >= this.#options.sides);
    }
    // The rest of the window is empty.
    const rest = this.#openSlice % slicesPerWindow;
    if (rest !== 0) {
      this.#openSlice += slicesPerWindow - rest;
      this.#closeWindow(this.#openSlice - 1);
    }
    this.revise();
    this.#tell();
  }

  #closeReady(): void {
    const { waitSlices, forgetSlices, sides } = this.#options;
    for (;;) {
      const state = this.#arrivals.sides();
      const latest = Math.max(state.most, this.#horizon);
      if (this.#arrivals.leastHeard() < latest - forgetSlices) {
        this.#arrivals.forget(latest - forgetSlices);
        continue;
      }
      const isEnough = state.count >= sides;
      // Up to here, every side has sent everything.
      const complete = isEnough ? state.least : -1;
      // Up to here, slices no longer wait.
      const overdue = latest - waitSlices - 1;
      let end = Math.max(Number.isFinite(complete) ? complete : -1, overdue);
      if (this.#arrivals.isFull) end = Math.max(end, this.#arrivals.earliest());
      if (this.#openSlice > end) break;
      while (this.#openSlice <= end) {
        if (end - this.#openSlice >= 2 * STEPS) this.#leap(end);
        this.#closeSlice(this.#openSlice <= complete);
      }
    }
    this.#tell();
  }

  /** Skips most of a long time without partials. */
  #leap(end: number): void {
    const { slicesPerWindow } = this.#options;
    const first = Math.min(end, this.#arrivals.earliest() - 1);
    if (first - this.#openSlice < 2 * STEPS) return;
    for (let step = 0; step < slicesPerWindow; step++) this.#closeSlice(false);
    this.#openSlice = first - STEPS - ((first - STEPS) % slicesPerWindow);
  }

  /** @param isThere whether no side is missing */
  #closeSlice(isThere: boolean): void {
    const { slicesPerWindow, sliceUs } = this.#options;
    const slice = this.#openSlice;
    const isComplete = isThere && !this.#arrivals.missing.has(slice, slice + 1);
    this.#openSlice = slice + 1;
    this.#hasClosed = true;
    this.#isClockDirty = true;
    this.#counts.slices++;
    if (!isComplete) {
      this.#counts.incompleteSlices++;
      this.#isWhole = false;
    }
    const partials = this.#arrivals.take(slice);
    const endUs = (slice + 1) * sliceUs;
    for (const partial of partials) this.#mergeSwitches(partial, slice);
    this.#takeLinks(partials, slice, isComplete, endUs);
    this.#takeSequences(partials, slice, isComplete, endUs);
    if (this.#openSlice % slicesPerWindow === 0) this.#closeWindow(slice);
    // Sort, so that the order of events does not depend on the order of arrival.
    if (this.#found.length > 1) this.#found.sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#tell();
  }

  #mergeSwitches(partial: NetworkPartial, slice: number): void {
    for (const part of partial.switches) this.#switches.take([part.nodeId])?.merge(part, slice);
    for (const part of partial.queues) this.#queues.take([part.nodeId, part.queueId])?.merge(part, slice);
  }

  #takeLinks(partials: readonly NetworkPartial[], slice: number, isComplete: boolean, endUs: number): void {
    const { sliceUs, linkSilenceUs, linkFlows } = this.#options;
    for (const { links } of partials) {
      for (const part of links) this.#links.take([part.from, part.to])?.merge(part, slice);
    }
    // Packets that found no room may have crossed any link.
    const isWhole = isComplete && partials.every(({ refused }) => refused.links === 0 && refused.switches === 0);
    const startUs = slice * sliceUs;
    this.#links.visit((link) => {
      const [from, to] = link.words as [number, number];
      if (link.lastSlice === slice) {
        link.counts.flows = Math.max(link.counts.flows, link.flowsSince(startUs));
        if (link.failedUs >= 0) {
          this.#found.push(linkEvent(link, link.flowsSince(link.lastSeenUs - linkSilenceUs), link.lastSeenUs, true));
          link.failedUs = -1;
        }
        return true;
      }
      if (!isWhole || link.failedUs >= 0) return false;
      if (this.#switches.find([from])?.lastSlice !== slice || this.#switches.find([to])?.lastSlice !== slice)
        return false;
      link.silentSlices++;
      const flows = link.flowsSince(link.lastSeenUs - linkSilenceUs);
      if (link.silentSlices * sliceUs < linkSilenceUs || flows < linkFlows) return true;
      link.failedUs = link.lastSeenUs;
      this.#found.push(linkEvent(link, flows, endUs, false));
      return true;
    });
  }

  #takeSequences(partials: readonly NetworkPartial[], slice: number, isComplete: boolean, endUs: number): void {
    const { reorderSlices, sliceUs } = this.#options;
    const isWhole = isComplete && partials.every(({ refused }) => refused.sequences === 0);
    const seen = new Map<string, { readonly words: readonly number[]; readonly blocks: Map<number, number> }>();
    for (const { reporters } of partials) {
      for (const { nodeId, hwId, bits, blocks } of reporters) {
        const words = [nodeId, hwId, bits];
        const name = words.join();
        const one = seen.get(name) ?? { words, blocks: new Map<number, number>() };
        seen.set(name, one);
        for (let at = 0; at < blocks.length; at += 2) {
          const block = blocks[at]!;
          one.blocks.set(block, ((one.blocks.get(block) ?? 0) | blocks[at + 1]!) >>> 0);
        }
      }
    }
    for (const { words, blocks } of seen.values()) {
      // Sort, because the search for a reporter's first number begins at the lowest. The order of sides must not matter.
      const reporter = this.#reporters.take(words);
      const loss = reporter?.take(new Map([...blocks].sort(([a], [b]) => a - b)), slice, isWhole) ?? null;
      if (loss !== null) this.#found.push(lossEvent(words, loss, sliceUs, endUs));
    }
    this.#reporters.visit((reporter) => {
      if (!reporter.isWaiting) return false;
      const loss = reporter.expire(slice - reorderSlices);
      if (loss === null) return false;
      this.#found.push(lossEvent(reporter.words, loss, sliceUs, endUs));
      return true;
    });
  }

  /** @param slice the last slice of the window */
  #closeWindow(slice: number): void {
    const { slicesPerWindow, windowUs, queueThreshold, queueStatistic, congestedWindows, idleSlices } = this.#options;
    const window = Math.floor(slice / slicesPerWindow);
    const complete = this.#isWhole;
    this.#isWhole = true;
    const queuesOf = new Map<number, GivenQueue[]>();
    this.#queues.visit((queue) => {
      if (queue.isQuiet) return false;
      const [nodeId, queueId] = queue.words as [number, number];
      const threshold = queueThreshold(nodeId, queueId);
      const verdict = queue.close(window, threshold, queueStatistic, congestedWindows, complete);
      const queues = queuesOf.get(nodeId) ?? [];
      queues.push(verdict.queue);
      queuesOf.set(nodeId, queues);
      if (verdict.change !== null) this.#found.push(congestionEvent(queue, verdict, threshold, window, windowUs));
      return true;
    });
    this.#given.begin(window, complete);
    for (const { words, counts, late, isUsed } of this.#switches.ordered()) {
      const nodeId = words[0]!;
      if (isUsed) this.#given.addSwitch(window, nodeId, counts, late, queuesOf.get(nodeId) ?? []);
    }
    for (const { words, counts, late, isUsed } of this.#links.ordered()) {
      const [from, to] = words as [number, number];
      if (isUsed) this.#given.addLink(window, [from, to], counts, late);
    }
    const { latenessUs } = this.#options;
    this.#given.keepFrom(Math.floor(((window + 1) * windowUs - latenessUs) / windowUs));
    this.#arrivals.missing.forget(this.#openSlice);
    this.#switches.visit((one) => one.clear());
    this.#links.visit((one) => one.clear());
    for (const registry of this.#registries) registry.forget(slice - idleSlices);
  }

  #tell(): void {
    if (this.#found.length === 0) return;
    const found = this.#found;
    this.#found = [];
    this.#counts.events += found.length;
    for (const event of found) this.#output.event?.(event);
  }

  /** Changes of the state since the last call, or since the side was made. */
  changes(): StateChange[] {
    const changes: StateChange[] = [];
    this.#arrivals.changes(changes);
    for (const registry of this.#registries) registry.changes(changes);
    if (this.#isClockDirty) {
      this.#isClockDirty = false;
      const writer = stateWriter();
      this.#passClock(writer);
      changes.push({ key: Uint8Array.of(KEY.CLOCK), value: writer.take() });
    }
    return changes;
  }

  /**
   * Restores a piece of state, in a side with the same options that has seen nothing yet. Pieces may come in any order.
   * @throws StreamError for bytes that no side with these options has written; TypeError if the side has seen partials
   *   or a time
   */
  restore(key: Uint8Array, value: Uint8Array): void {
    if (this.#hasSeen) throw new TypeError('state is put back before the first partial and the first time');
    const registry = this.#registries.find(({ prefix }) => prefix === key[0]);
    if (registry !== undefined) {
      registry.restore(key, value);
      return;
    }
    if (this.#arrivals.restore(key, value)) return;
    if (key[0] !== KEY.CLOCK || key.length !== 1) {
      throw new StreamError('ERR_STREAM_MALFORMED', 0, `a key that begins with ${key[0]} is none of a network side`);
    }
    const reader = stateReader(value);
    this.#passClock(reader);
    reader.end();
  }

  #passClock(fields: ByteFields): void {
    const { sliceUs, windowUs } = this.#options;
    passOptions(fields, { sliceUs, windowUs });
    this.#openSlice = fields.signed(this.#openSlice);
    this.#horizon = fields.signed(this.#horizon);
    this.#lateCounts.total = fields.number(this.#lateCounts.total);
    this.#hasClosed = fields.flag('hasClosed', this.#hasClosed);
    this.#isWhole = fields.flag('isWhole', this.#isWhole);
    this.#arrivals.missing.pass(fields);
  }

  totals(): NetworkSideTotals {
    const refused = this.#registries.reduce((sum, registry) => sum + registry.refused, 0);
    return { ...this.#counts, pending: this.#arrivals.count, refused };
  }
}
