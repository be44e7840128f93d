import type { CaptureBatch } from '@int/pcap';
import type { Command } from 'commander';
import { CliError, EXIT, hasColour, type Io, say, sayHint } from '../io.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork } from '../network/known-network.js';
import { unitsLine } from '../network/units-line.js';
import { colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import type { FramePrinter } from '../output/frame-printer.js';
import { counted, grouped } from '../output/numbers.js';
import { Progress } from '../output/progress.js';
import { Tally } from '../output/tally.js';

interface DecodeCommandFlags extends NetworkFlags {
  readonly json?: true;
  readonly count?: true;
  readonly raw?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addNetworkOptions(command.argument('<FILE...>', 'captures to read; - is standard input'))
    .option('--json', 'one JSON object per line')
    .option('--count', 'only totals by status, report version and INT mode')
    .option('--raw', 'add frameHex and linkType to the JSON: what int encode needs to give the frames back exactly')
    .action(async (files: string[], flags: DecodeCommandFlags) => {
      done(await decode(files, flags, await readNetwork(flags, io), io));
    });
}

async function decode(
  files: readonly string[],
  flags: DecodeCommandFlags,
  network: KnownNetwork,
  io: Io,
): Promise<number> {
  // Loaded here, because help does not need these modules.
  const [{ readFrames }, { FrameCounter }, { framePrinter }, { DialectHint }] = await Promise.all([
    import('../input/capture-frames.js'),
    import('../output/frame-counter.js'),
    import('../output/frame-printer.js'),
    import('../output/dialect-hint.js'),
  ]);
  const options = network.device.decode;
  const output = new DataOutput(io.stdout);
  const units = flags.json === true && flags.count !== true ? unitsLine(network.device) : null;
  if (units !== null) output.line(units);
  const colour = colours(hasColour(io));
  const progress = new Progress(io, flags.count !== true);
  const tally = new Tally();
  const hint = new DialectHint(options);
  const counter = flags.count === true ? new FrameCounter(options, tally, hint) : null;
  let exitCode: number = EXIT.OK;
  let bytes = 0;

  for (const file of files) {
    if (output.closed || io.signal.aborted) break;
    const before = tally.frames;
    const printer: FramePrinter | null =
      counter !== null
        ? null
        : framePrinter(options, tally, output, {
            form: flags.raw === true ? 'raw' : flags.json === true ? 'json' : 'text',
            file: files.length > 1 ? file : null,
            colour,
            network,
            hint,
          });
    const take = (batch: CaptureBatch): Promise<boolean> | boolean => {
      for (let row = 0; row < batch.count; row++) bytes += batch.lengths[row]!;
      const busy = printer === null ? counter!.count(batch) : printer.print(batch);
      progress.update(() => `${counted(tally.frames, 'frame')}, ${grouped(bytes / 1e6)} MB`);
      return busy === undefined ? !output.closed : busy.then(() => !output.closed);
    };
    try {
      const damage = await readFrames(file, io, take, () => output.flush());
      if (damage !== null && !output.closed) {
        progress.done();
        await output.flush();
        const name = file === '-' ? 'standard input' : file;
        say(io, `${name}: ${damage.message}, after ${counted(tally.frames - before, 'frame')}`);
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
  if (counter !== null) {
    output.line(flags.json === true ? JSON.stringify(tally.toJson()) : tally.toText(colour));
  }
  await output.finish();
  if (output.closed) return EXIT.OK;
  if (io.signal.aborted) say(io, `interrupted after ${counted(tally.frames, 'frame')}`);
  if (tally.wrong > 0) {
    const { truncated, malformed, unsupported } = tally.status;
    const wrong = `${truncated} truncated, ${malformed} malformed, ${unsupported} unsupported`;
    say(io, `of ${counted(tally.records, 'record')}, ${wrong}`);
    exitCode = Math.max(exitCode, EXIT.INPUT);
  }
  sayHint(io, hint);
  return exitCode;
}
