import { CODES, FLAG, type LinkLayer, MODES, type TelemetryBatch } from '@int/codec';
import type { DeviceProfile } from '@int/network';
import { type DialectTrial, FrameSample, tryDialects } from '@int/network';
import { counted, grouped } from './numbers.js';

type Decode = DeviceProfile['decode'];

/** Frames kept for a trial, and their bytes. */
const SAMPLE = { frames: 256, bytes: 1 << 20 } as const;
/** Reports without a problem that are looked at, at most: a network may send none but postcards. */
const MOST_LOOKED = 65_536;
/** Longest time for a trial, in milliseconds: while frames arrive, it holds up the pipeline. */
const LIVE_TRIAL_MS = 500;
const LAST_TRIAL_MS = 3000;
/** Time between two trials while frames arrive: it doubles up to the longest. */
const FIRST_WAIT_MS = 5000;
const LONGEST_WAIT_MS = 60_000;
/** Problems that no other setting solves. */
const OTHER_PROBLEMS: ReadonlySet<number> = /* @__PURE__ */ new Set([
  CODES.UNSUPPORTED_LINK_TYPE,
  CODES.BAD_RANGE,
  CODES.BAD_CHECKSUM,
  CODES.BATCH_TOO_SMALL,
]);

/**
 * Notices frames that were not read, and reports in which no INT was found, and says if they look like another port, DSCP or
 * dialect. It keeps a few of them and tries them when asked. A batch in which all is well costs one comparison of memory.
 */
export class DialectHint {
  /** As a stage of a collector. */
  readonly name = 'dialect hint';
  readonly #decode: Decode;
  readonly #sample = new FrameSample(SAMPLE);
  #zeros: Uint8Array = new Uint8Array(0);
  /** Frames noticed at the last trial. */
  #tried = 0;
  #looked = 0;
  /** Whether frames are UDP payloads, so reports. */
  #isPayloads = false;
  #waitMs = FIRST_WAIT_MS;
  #nextAt = 0;
  #text: string | null = null;

  /** @param decode the settings in force */
  constructor(decode: Decode) {
    this.#decode = decode;
  }

  /** Looks at a batch, whose frames must still be in memory. */
  process(batch: TelemetryBatch): void {
    const { frames } = batch;
    if (this.#text !== null || frames === 0) return;
    if (!this.#allRead(batch)) {
      for (let frame = 0; frame < frames; frame++) {
        const code = batch.frameCode[frame]!;
        if (code !== CODES.OK && !OTHER_PROBLEMS.has(code)) this.#offerOf(batch, frame);
      }
    }
    // Reports with INT have a hop at least, most have more. Where there are fewer, INT may not have been found.
    if (batch.hops > batch.reports || this.#looked >= MOST_LOOKED) return;
    this.#looked += batch.reports;
    for (let row = 0; row < batch.reports; row++) {
      const mode = MODES[(batch.flags[row]! >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK];
      if ((mode === null || mode === 'xd') && batch.code[row] === CODES.OK) this.#offerOf(batch, batch.frame[row]!);
    }
  }

  /** Notices a frame that was not read. */
  offer(frame: Uint8Array, linkType: LinkLayer): void {
    if (this.#text === null) this.#sample.offer(frame, 0, frame.length, linkType);
    if (linkType === 'report') this.#isPayloads = true;
  }

  /**
   * Tries what has been noticed, if it is time to. Call it about once a second.
   * @param nowMs a clock that does not go back
   * @returns a hint, once; else `null`
   */
  look(nowMs: number): string | null {
    if (this.#text !== null || this.#sample.seen === this.#tried) return null;
    // The first frames may be few, so wait for more of them.
    if (this.#nextAt === 0) this.#nextAt = nowMs + FIRST_WAIT_MS;
    if (nowMs < this.#nextAt) return null;
    this.#nextAt = nowMs + this.#waitMs;
    this.#waitMs = Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
    return this.#try(LIVE_TRIAL_MS);
  }

  /** Tries what has been noticed since the last trial. @returns a hint, once; else `null` */
  conclude(): string | null {
    return this.#try(LAST_TRIAL_MS);
  }

  #try(withinMs: number): string | null {
    if (this.#text !== null || this.#sample.seen === this.#tried) return null;
    this.#tried = this.#sample.seen;
    const trial = tryDialects(this.#sample, { base: this.#decode, withinMs, units: false });
    const noun = this.#isPayloads || trial.reportPorts.length > 0 ? 'report' : 'packet';
    this.#text = hintText(trial, this.#sample.seen, noun);
    return this.#text;
  }

  #allRead(batch: TelemetryBatch): boolean {
    const { frames, frameCode } = batch;
    if (this.#zeros.length < frames) this.#zeros = new Uint8Array(frames);
    return Buffer.compare(frameCode.subarray(0, frames), this.#zeros.subarray(0, frames)) === 0;
  }

  #offerOf(batch: TelemetryBatch, frame: number): void {
    const { linkType } = batch;
    if (linkType === null) return;
    if (linkType === 'report') this.#isPayloads = true;
    this.#sample.offer(batch.bytes, batch.frameOffset[frame]!, batch.frameLength[frame]!, linkType);
  }
}

/** `44 reports look like --int-dscp 0x20`; `null` if no other settings read more. @param noticed frames, of which the trial is a sample */
function hintText(trial: DialectTrial, noticed: number, noun: string): string | null {
  const { settings, deviations, gained, frames, device } = trial;
  if (settings === null || device === null || deviations.length === 0 || gained === 0) return null;
  const options = deviations.flatMap((name): string[] => {
    switch (name) {
      case 'profile':
        return [`--profile ${settings.profile ?? 'spec'}`];
      case 'intPorts':
        return settings.intPorts!.map((port) => `--int-port ${port}`);
      case 'intDscp':
        return [`--int-dscp ${device.intDscp}`];
      case 'greProtocol':
        return [`--gre-protocol ${settings.greProtocol}`];
      case 'probeMarker':
        return [`--probe-marker ${device.probeMarker}`];
      default:
        return settings.reportPorts!.map((port) => `--report-port ${port}`);
    }
  });
  const looks = gained === 1 && noticed === frames ? 'looks' : 'look';
  // Of more frames than fit into the sample, the count is an estimate.
  const count =
    noticed === frames
      ? counted(gained, noun)
      : `about ${grouped((gained / frames) * noticed)} ${noun}s (${gained} of ${frames} tried)`;
  return `${count} ${looks} like ${options.join(' ')}`;
}
