import { CODE_MESSAGES, CODES, FrameDecoder, recordToJson, type TelemetryRecord } from '@int/codec';
import { linkLayerOf } from '@int/collector';
import type { CaptureFrame } from '@int/pcap';
import type { Command } from 'commander';
import { readFrames } from '../input/capture-frames.js';
import { CliError, EXIT, hasColour, type Io, say } from '../io.js';
import { addDecodeOptions, type DecodeFlags, decodeOptions } from '../options.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { counted, grouped } from '../output/numbers.js';
import { Progress } from '../output/progress.js';
import { recordText } from '../output/record-text.js';
import { Tally } from '../output/tally.js';

interface DecodeCommandFlags extends DecodeFlags {
  readonly json?: true;
  readonly count?: true;
  readonly raw?: true;
}

/** The record of a frame whose link type the codec does not read. */
const UNKNOWN_LINK: readonly TelemetryRecord[] = /* @__PURE__ */ Object.freeze([
  {
    index: 0,
    status: 'unsupported',
    error: {
      code: 'UNSUPPORTED_LINK_TYPE',
      layer: 'link',
      offset: 0,
      message: CODE_MESSAGES[CODES.UNSUPPORTED_LINK_TYPE]!,
    },
    report: null,
    int: null,
    flow: null,
    path: [],
    hops: [],
  },
]);

/** Adds `int decode`. */
export function addDecode(program: Command, io: Io, done: (exitCode: number) => void): void {
  addDecodeOptions(
    program
      .command('decode')
      .description('Decode telemetry reports and INT packets of captures (pcap, pcapng, also gzip)')
      .argument('<FILE...>', 'captures to read; - is standard input'),
  )
    .option('--json', 'one JSON object per line')
    .option('--count', 'only totals by status, report version and INT mode')
    .option('--raw', 'add frameHex and linkType to the JSON: what int encode needs to give the frames back exactly')
    .action(async (files: string[], flags: DecodeCommandFlags) => {
      done(await decode(files, flags, io));
    });
}

async function decode(files: readonly string[], flags: DecodeCommandFlags, io: Io): Promise<number> {
  const decoder = new FrameDecoder(decodeOptions(flags));
  const output = new DataOutput(io.stdout);
  const colour = colours(hasColour(io));
  const progress = new Progress(io, flags.count !== true);
  const tally = new Tally();
  let exitCode: number = EXIT.OK;
  let bytes = 0;

  for (const file of files) {
    if (output.closed || io.signal.aborted) break;
    let number = 0;
    const name = files.length > 1 ? { file } : undefined;
    const take = (frame: CaptureFrame): Promise<void> | boolean | undefined => {
      number++;
      tally.frames++;
      bytes += frame.length;
      const linkLayer = linkLayerOf(frame.linkType);
      const { data } = frame;
      const records = linkLayer === null ? UNKNOWN_LINK : decoder.decode(data, linkLayer);
      let busy: Promise<void> | undefined;
      for (const record of records) {
        tally.add(record);
        if (flags.count === true) continue;
        if (flags.json !== true && flags.raw !== true) {
          const text = recordText(number, frame.timeNs, record, colour);
          busy = output.line(name === undefined ? text : `${colour.dim(file)}  ${text}`) ?? busy;
          continue;
        }
        const line = { ...name, frame: number, timeNs: String(frame.timeNs), ...recordToJson(record) };
        const raw = { frameHex: Buffer.from(data).toString('hex'), linkType: linkLayer ?? frame.linkType };
        busy = output.line(JSON.stringify(flags.raw === true ? { ...line, ...raw } : line)) ?? busy;
      }
      if ((tally.frames & 0xff) === 0) {
        progress.update(() => `${counted(tally.frames, 'frame')}, ${grouped(bytes / 1e6)} MB`);
      }
      return output.closed ? false : busy;
    };
    try {
      const damage = await readFrames(file, io, take);
      if (damage !== null) {
        progress.done();
        await output.flush();
        say(io, `${file === '-' ? 'standard input' : file}: ${damage.message}, after ${counted(number, 'frame')}`);
        exitCode = Math.max(exitCode, EXIT.INPUT);
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      progress.done();
      say(io, error.message);
      exitCode = Math.max(exitCode, error.exitCode);
    }
  }
  progress.done();
  if (flags.count === true) {
    output.line(flags.json === true ? JSON.stringify(tally.toJson()) : tally.toText(colour));
  }
  await output.end();
  if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
  if (output.closed) return EXIT.OK;
  if (io.signal.aborted) say(io, `interrupted after ${counted(tally.frames, 'frame')}`);
  if (tally.wrong > 0) {
    const { truncated, malformed, unsupported } = tally.status;
    say(
      io,
      `of ${counted(tally.records, 'record')}, ${truncated} truncated, ${malformed} malformed, ${unsupported} unsupported`,
    );
    exitCode = Math.max(exitCode, EXIT.INPUT);
  }
  return exitCode;
}
