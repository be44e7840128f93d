import { encodeFrame, type LinkLayer, type RecordJson, recordFromJson, type TelemetryRecord } from '@int/codec';
import { LINK_TYPES } from '@int/codec/internals';
import { linkTypeOf } from '@int/collector/internals';
import { type FrameInput, LinkType } from '@int/pcap';
import type { Command } from 'commander';
import { openInput } from '../input/capture-frames.js';
import { readLines } from '../input/lines.js';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';
import { BadLines, bytesOfHex } from '../output/bad-lines.js';
import { CaptureOutput } from '../output/capture-output.js';
import { counted } from '../output/numbers.js';
import { Progress } from '../output/progress.js';

/** A line in the form of `int decode --json`. It is untrusted: every member may be missing or of another type. */
interface LineJson extends Partial<RecordJson> {
  readonly type?: unknown;
  readonly file?: unknown;
  readonly frame?: unknown;
  readonly timeNs?: unknown;
  readonly frameHex?: unknown;
  readonly linkType?: unknown;
}

/** The lines of one frame: several if the frame is a report datagram with several individual reports. */
interface Group {
  readonly first: LineJson;
  readonly lineNumber: number;
  readonly records: TelemetryRecord[];
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .argument('[FILE]', 'NDJSON to read; - is standard input', '-')
    .option('-o, --output <FILE>', 'capture to write (pcap, or pcapng by its name); - is standard output')
    .action(async (file: string, flags: { readonly output?: string }) => {
      done(await new Encoder(file, io).run(flags.output));
    });
}

class Encoder {
  readonly #file: string;
  readonly #io: Io;
  #output: CaptureOutput | null = null;
  #group: Group | null = null;
  #lineNumber = 0;
  #frames = 0;
  readonly #bad: BadLines;

  constructor(file: string, io: Io) {
    this.#file = file;
    this.#io = io;
    this.#bad = new BadLines(io);
  }

  async run(path: string | undefined): Promise<number> {
    const input = await openInput(this.#file, this.#io);
    const output = await CaptureOutput.open(path, this.#io);
    this.#output = output;
    const progress = new Progress(this.#io, false);
    try {
      for await (const lines of readLines(input)) {
        for (const line of lines) await this.#line(line);
        if (output.closed) break;
        await output.flush();
        progress.update(() => counted(this.#frames, 'frame'));
      }
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (!this.#io.signal.aborted) {
        throw new CliError(`cannot read ${this.#file}: ${openFailure(error)}`, EXIT.OPEN, error);
      }
    }
    await this.#finishGroup();
    progress.done();
    await output.end();
    if (output.closed) return EXIT.OK;
    if (this.#io.signal.aborted) say(this.#io, `interrupted after ${counted(this.#frames, 'frame')}`);
    if (this.#bad.count === 0) return EXIT.OK;
    say(this.#io, `${counted(this.#frames, 'frame')} written, ${counted(this.#bad.count, 'bad line')}`);
    return EXIT.INPUT;
  }

  async #line(text: string): Promise<void> {
    this.#lineNumber++;
    if (text.trim() === '') return;
    let json: LineJson;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not a JSON object');
      json = value;
    } catch (error) {
      await this.#finishGroup();
      this.#bad.reject(this.#file, this.#lineNumber, error);
      return;
    }
    // The units of the numbers, which are written as they are.
    if (json.type === 'units') return;
    const open = this.#group;
    const continues =
      open !== null &&
      json.frame !== undefined &&
      json.frame === open.first.frame &&
      json.file === open.first.file &&
      typeof json.index === 'number' &&
      json.index > 0;
    if (!continues) {
      await this.#finishGroup();
      this.#group = { first: json, lineNumber: this.#lineNumber, records: [] };
    }
    if (typeof this.#group!.first.frameHex === 'string') return;
    try {
      this.#group!.records.push(recordOf(json));
    } catch (error) {
      this.#bad.reject(this.#file, this.#lineNumber, error);
    }
  }

  async #finishGroup(): Promise<void> {
    const group = this.#group;
    this.#group = null;
    if (group === null) return;
    try {
      for (const frame of framesOf(group)) {
        await this.#output!.write(frame);
        this.#frames++;
      }
    } catch (error) {
      if (error instanceof CliError) throw error;
      this.#bad.reject(this.#file, group.lineNumber, error);
    }
  }
}

/** @throws TypeError if no frame can be built from the line */
function recordOf(json: LineJson): TelemetryRecord {
  const record = recordFromJson(json as RecordJson);
  if (record.status !== 'ok' && record.status !== 'not-int') {
    throw new TypeError(
      `a record with status "${record.status}" has no fields to build a frame from; it needs frameHex (int decode --raw)`,
    );
  }
  return record;
}

function framesOf(group: Group): FrameInput[] {
  const { first, records } = group;
  const timeNs = timeOf(first.timeNs);
  if (first.frameHex !== undefined) {
    return [{ data: bytesOfHex(first.frameHex, 'frameHex'), timeNs, linkType: linkTypeNumber(first.linkType) }];
  }
  const frame = (data: Uint8Array): FrameInput => ({ data, timeNs, linkType: LinkType.ETHERNET });
  if (records.length === 0) return [];
  const isCoalesced = records.length > 1 && records.every((record) => record.report?.version === '2.0');
  if (isCoalesced) return [frame(encodeFrame(records))];
  return records.map((record) => frame(encodeFrame(record)));
}

function timeOf(value: unknown): bigint {
  if (value === undefined) return 0n;
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new TypeError(`timeNs: ${JSON.stringify(value)} is not a decimal string of nanoseconds`);
}

function linkTypeNumber(value: unknown): number {
  if (value === undefined) return LinkType.ETHERNET;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff) return value;
  const known = (LINK_TYPES as readonly unknown[]).includes(value) ? linkTypeOf(value as LinkLayer) : null;
  if (known === null)
    throw new TypeError(`linkType: ${JSON.stringify(value)} is neither a name nor a number of a link type`);
  return known;
}
