/** What a decoder with given settings makes of a sample. */
import { BatchDecoder, CODES, type DecodeOptions, FLAG, MODES, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import { CODE_STATUS } from '@int/codec/internals';
import type { FrameSample, SampleGroup } from './sample.js';

/**
 * What a frame counts. A report whose packet shows no INT may be one whose INT was not found, also if it has values of its node. A frame that its mark
 * calls telemetry, and which is not, speaks against the settings.
 */
const WORTH = { TELEMETRY: 1, HEADER: 0.75, REPORT: 0.5, NO_FLOW: 0.25, NOTHING: 0, WRONG: -0.5 } as const;

/** Ids up to here are what people give to switches. */
const SMALL_ID = 0xffff;

/** A sample under one set of settings. */
export interface Reading {
  /** Sum of the worths of all frames. */
  readonly score: number;
  /** Frames that are read without a problem, and hold telemetry. */
  readonly ok: number;
  /** Frames that say more than that they are reports: hops, values of a node, the header of INT-MX. */
  readonly telling: number;
  /** Worth of each frame. */
  readonly worth: Float32Array;
  /** Code of each frame. */
  readonly codes: Uint8Array;
  /** A checksum of the hops of each frame. Two readings with the same one found the same values. */
  readonly digests: Int32Array;
  /** Share of the node ids that look like ids: small, or in more than one frame. 1 without ids. */
  readonly plausible: number;
}

/** One hop row with what says something about units. All are -1 if not there. */
export interface TimedHop {
  readonly nodeId: number;
  /** When its frame was captured, in ns since the epoch; 0: not known. */
  readonly timeNs: bigint;
  readonly latency: number;
  /** 64 bits from v2.0 on, 32 before. */
  readonly ingress: bigint;
  readonly egress: bigint;
}

/** Reads a sample, again and again, with other settings. It keeps one batch. */
export class SampleReader {
  /** Frames in the sample. */
  readonly size: number;
  readonly groups: readonly SampleGroup[];
  readonly #batch: TelemetryBatch;

  constructor(sample: FrameSample) {
    this.groups = sample.groups();
    this.size = sample.size;
    const frames = Math.max(1, ...this.groups.map(({ frames: { count } }) => count));
    this.#batch = new TelemetryBatch({ frames, reports: 4 * frames, hops: Math.max(256, 16 * frames) });
  }

  read(options: Omit<DecodeOptions, 'linkType'>): Reading {
    const worth = new Float32Array(this.size);
    const codes = new Uint8Array(this.size);
    const digests = new Int32Array(this.size);
    const ids = new Map<number, number>();
    let rows = 0;
    this.#each(options, (batch, first) => {
      codes.set(batch.frameCode.subarray(0, batch.frames), first);
      for (let row = 0; row < batch.reports; row++) {
        const frame = first + batch.frame[row]!;
        const value = worthOf(batch, row);
        if (value > worth[frame]!) worth[frame] = value;
        const from = batch.hopStart[row]!;
        const to = from + batch.hopCount[row]!;
        for (let hop = from; hop < to; hop++) {
          const id = batch.hop.nodeId[hop]!;
          if (id !== NOT_AVAILABLE) {
            ids.set(id, (ids.get(id) ?? 0) + 1);
            rows++;
          }
          digests[frame] = digestOf(batch, hop, digests[frame]!);
        }
      }
    });
    let score = 0;
    let ok = 0;
    let telling = 0;
    for (let frame = 0; frame < this.size; frame++) {
      const status = CODE_STATUS[codes[frame]!]!;
      if (status === 'malformed' || status === 'unsupported') worth[frame] = WORTH.WRONG;
      else if (status !== 'ok') worth[frame] = WORTH.NOTHING;
      score += worth[frame]!;
      if (worth[frame]! > 0) ok++;
      if (worth[frame]! >= WORTH.HEADER) telling++;
    }
    let plausible = 0;
    for (const [id, count] of ids) if (count > 1 || id <= SMALL_ID) plausible += count;
    return { score, ok, telling, worth, codes, digests, plausible: rows === 0 ? 1 : plausible / rows };
  }

  /** The hops of sound frames, for units. @param most so many at most */
  timedHops(options: Omit<DecodeOptions, 'linkType'>, most: number): TimedHop[] {
    const hops: TimedHop[] = [];
    this.#each(options, (batch) => {
      for (let row = 0; row < batch.reports; row++) {
        if (batch.code[row] !== CODES.OK || hops.length >= most) continue;
        const timeNs = batch.timeNs(row);
        for (let k = 0; k < batch.hopCount[row]!; k++) hops.push(timedHop(batch, batch.hopStart[row]! + k, timeNs));
      }
    });
    return hops;
  }

  /** Decodes all frames. `take` gets each batch, and the number of its first frame. */
  #each(options: Omit<DecodeOptions, 'linkType'>, take: (batch: TelemetryBatch, first: number) => void): void {
    const batch = this.#batch;
    let first = 0;
    for (const { linkType, frames } of this.groups) {
      const decoder = new BatchDecoder({ ...options, linkType, fastPath: false });
      for (let next = 0; next < frames.count; ) {
        const from = next;
        batch.clear();
        next = decoder.decode(batch, frames, from, frames.count);
        if (next === from) break;
        take(batch, first + from);
      }
      first += frames.count;
    }
  }
}

function worthOf(batch: TelemetryBatch, row: number): number {
  const flags = batch.flags[row]!;
  const mode = MODES[(flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK];
  const version = (flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK;
  const hasHops = batch.hopCount[row]! > 0;
  const hasInt = mode === 'md' || mode === 'mx';
  // Before v2.0 nothing but the packet inside says that the report's header was read rightly.
  if (!hasInt && (version === 1 || version === 2) && (flags & FLAG.FLOW) === 0) return WORTH.NO_FLOW;
  if (mode === 'gpint' || mode === 'mx' || (mode === 'md' && hasHops)) return WORTH.TELEMETRY;
  if (mode === 'md' || hasHops || mode === 'xd' || (flags & FLAG.DROPPED) !== 0) return WORTH.HEADER;
  return (flags & FLAG.FLOW) === 0 ? WORTH.NO_FLOW : WORTH.REPORT;
}

/** Mixes the values of a hop into a checksum (the step of FNV-1a). */
function digestOf(batch: TelemetryBatch, hop: number, before: number): number {
  const { hopWords, hopStride } = batch;
  let digest = before;
  for (let at = hop; at < hopWords.length; at += hopStride) digest = Math.imul(digest ^ hopWords[at]!, 0x01000193);
  return digest;
}

function timedHop(batch: TelemetryBatch, hop: number, timeNs: bigint): TimedHop {
  const { nodeId, hopLatency, ingressTimestampHigh, ingressTimestampLow, egressTimestampHigh, egressTimestampLow } =
    batch.hop;
  return {
    nodeId: numberOf(nodeId[hop]!),
    timeNs,
    latency: numberOf(hopLatency[hop]!),
    ingress: timeOf(ingressTimestampHigh[hop]!, ingressTimestampLow[hop]!),
    egress: timeOf(egressTimestampHigh[hop]!, egressTimestampLow[hop]!),
  };
}

const numberOf = (word: number): number => (word === NOT_AVAILABLE ? -1 : word);

const timeOf = (high: number, low: number): bigint =>
  high === NOT_AVAILABLE && low === NOT_AVAILABLE ? -1n : (BigInt(high) << 32n) | BigInt(low);
