import { NOT_AVAILABLE, ReportCopier, TelemetryBatch } from '@int/codec';
import { OuterSource } from '@int/codec/internals';
import { KnownSwitches } from '@int/network/internals';
import type { SenderList } from './sender-list.js';

/** Why a frame is refused, in {@link Admission.reasons}. */
export const REFUSED = { NO: 0, UNKNOWN_SOURCE: 1, UNKNOWN_SWITCH: 2 } as const;

/**
 * Decides which frames of a batch become rows: those of senders that may send, in which every switch is one that there
 * is. A frame is admitted or refused as a whole.
 *
 * Where nothing is refused, the batch goes on as it is. Otherwise a copy of what stays takes its place, in columns that
 * are made when they are first needed; the bytes of the frames are not copied.
 */
export class Admission {
  #known: KnownSwitches | null = null;
  readonly #outer = new OuterSource();
  readonly #copier = new ReportCopier({ refer: true });
  #kept: TelemetryBatch | null = null;
  #rows = new Uint32Array(0);
  /** By frame of the last batch of which {@link refuses} something: one of {@link REFUSED}. */
  reasons: Uint8Array = new Uint8Array(0);
  /** The unknown switch that was named last; `null` if there was none. */
  lastUnknown: number | null = null;

  /** @param ids the switches that there are; `null`: any id may be one. @throws RangeError for a bad id */
  setKnown(ids: Iterable<number> | null): void {
    this.#known = ids === null ? null : new KnownSwitches(ids);
  }

  /** Looks at all frames of a batch. @returns whether any is refused; then {@link reasons} says which, and why */
  refuses(batch: TelemetryBatch, senders: SenderList | null): boolean {
    const checksSenders = senders !== null && batch.linkType !== null && batch.linkType !== 'report';
    const isAnyUnknown = this.#known !== null && namesUnknown(batch, this.#known);
    if (!checksSenders && !isAnyUnknown) return false;
    if (this.reasons.length < batch.frames) this.reasons = new Uint8Array(batch.capacity.frames);
    this.reasons.fill(REFUSED.NO, 0, batch.frames);
    const isAnySender = checksSenders && this.#markSenders(batch, senders);
    return (isAnyUnknown && this.#markSwitches(batch, this.#known!)) || isAnySender;
  }

  /**
   * What stays of a batch of which {@link refuses} something; `null` if nothing does. Frames without reports are not in
   * it. Valid as long as the batch is, until the next call.
   */
  keep(batch: TelemetryBatch): TelemetryBatch | null {
    const { reports, frame, capacity } = batch;
    if (this.#rows.length < reports) this.#rows = new Uint32Array(capacity.reports);
    let count = 0;
    for (let row = 0; row < reports; row++) {
      if (this.reasons[frame[row]!] === REFUSED.NO) this.#rows[count++] = row;
    }
    if (count === 0) return null;
    const kept = this.#targetFor(batch);
    kept.clear();
    this.#copier.append(batch, kept, this.#rows, 0, count);
    return kept;
  }

  #targetFor({ capacity }: TelemetryBatch): TelemetryBatch {
    const { frames, reports, hops } = capacity;
    const before = this.#kept?.capacity;
    if (before === undefined || before.frames < frames || before.reports < reports || before.hops < hops) {
      this.#kept = new TelemetryBatch({ frames, reports, hops });
    }
    return this.#kept!;
  }

  #markSenders(batch: TelemetryBatch, senders: SenderList): boolean {
    const { bytes, frameOffset, frameLength, frames, linkType } = batch;
    const outer = this.#outer;
    let isAny = false;
    for (let frame = 0; frame < frames; frame++) {
      const start = frameOffset[frame]!;
      const isKnown =
        outer.find(bytes, start, start + frameLength[frame]!, linkType!) &&
        senders.has(bytes, outer.offset, outer.size);
      if (isKnown) continue;
      this.reasons[frame] = REFUSED.UNKNOWN_SOURCE;
      isAny = true;
    }
    return isAny;
  }

  /** Rows with a problem hold no telemetry, and nobody reads them. */
  #markSwitches(batch: TelemetryBatch, known: KnownSwitches): boolean {
    const { frame, code, reports } = batch;
    let isAny = false;
    for (let row = 0; row < reports; row++) {
      if (code[row] !== 0 || this.reasons[frame[row]!] !== REFUSED.NO) continue;
      const unknown = known.unknownOf(batch, row);
      if (unknown === NOT_AVAILABLE) continue;
      this.reasons[frame[row]!] = REFUSED.UNKNOWN_SWITCH;
      this.lastUnknown = unknown;
      isAny = true;
    }
    return isAny;
  }
}

/** Whether any row may name an unknown switch: a pass over whole columns. */
function namesUnknown({ nodeId, reports, hop, hops }: TelemetryBatch, known: KnownSwitches): boolean {
  for (let row = 0; row < reports; row++) if (!known.has(nodeId[row]!)) return true;
  const ids = hop.nodeId;
  for (let at = 0; at < hops; at++) if (!known.has(ids[at]!)) return true;
  return false;
}
