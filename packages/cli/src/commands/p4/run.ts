import type { SwitchClock, SwitchStatistics } from '@int/p4vm';
import { LinkType } from '@int/pcap';
import { type Command, InvalidArgumentError } from 'commander';
import { drained, EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { runCommands } from '../../p4/control-file.js';
import { DEFAULT_OUTPUT_BYTES } from '../../p4/limits.js';
import { mergeCaptures } from '../../p4/merge-captures.js';
import { addPoisonOption, type PoisonFlags, poisonOf, reportUndefinedReads } from '../../p4/poison.js';
import { PortCaptures } from '../../p4/port-captures.js';
import { addProgramOptions, openSwitch, type ProgramFlags } from '../../p4/program.js';
import { runJson, runText } from '../../p4/run-report.js';

interface RunFlags extends ProgramFlags, PoisonFlags {
  readonly commands?: string;
  readonly port: ReadonlyMap<number, string>;
  readonly out: string;
  readonly json?: true;
}

const HELP = `
Packets go in by the order of their timestamps, which are also the switch's time: 0 at the first. Each packet is
finished before the next goes in. DIR/outN.pcap holds what port N sent, at the time of the packet that caused it.

Example:
  int p4 run switch.p4 --commands setup.txt --port 0=in0.pcap --port 1=in1.pcap --out results
`;

function portFile(text: string, previous?: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const match = /^(\d{1,3})=(.+)$/s.exec(text);
  const port = Number(match?.[1] ?? Number.NaN);
  if (match === null || port > 511) throw new InvalidArgumentError('Give PORT=FILE with a port from 0 to 511.');
  if (previous?.has(port) === true) throw new InvalidArgumentError(`Port ${port} has a capture already.`);
  return new Map([...(previous ?? []), [port, match[2]!]]);
}

/** The switch's time: microseconds since the first packet. */
class CaptureClock implements SwitchClock {
  #startHigh = -1;
  #startLow = 0;
  #nowUs = 0;

  nowUs(): number {
    return this.#nowUs;
  }

  set(timestampHigh: number, timestampLow: number): void {
    if (this.#startHigh < 0) {
      this.#startHigh = timestampHigh;
      this.#startLow = timestampLow;
    }
    // Exact for captures of up to 104 days.
    const elapsedNs = (timestampHigh - this.#startHigh) * 2 ** 32 + (timestampLow - this.#startLow);
    this.#nowUs = Math.max(this.#nowUs, Math.floor(elapsedNs / 1000));
  }
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addPoisonOption(addProgramOptions(command.argument('<FILE.p4>', 'the program')))
    .option('--commands <CMDS>', 'commands of simple_switch_CLI to begin with, one a line')
    .requiredOption(
      '--port <N=FILE>',
      'the capture (pcap, pcapng, also gzip) that comes in by port N; repeat for more',
      portFile,
    )
    .requiredOption('--out <DIR>', 'the folder for out0.pcap, out1.pcap, ...')
    .option('--json', 'one JSON object with what was counted')
    .addHelpText('after', HELP)
    .action(async (path: string, flags: RunFlags) => done(await run(path, flags, io)));
}

async function run(path: string, flags: RunFlags, io: Io): Promise<number> {
  const clock = new CaptureClock();
  const target = openSwitch(path, flags, io, { clock, ...poisonOf(flags) });
  if (target === undefined) return EXIT.INPUT;
  let exitCode: number = EXIT.OK;
  if (flags.commands !== undefined && !(await runCommands(target, flags.commands, io))) exitCode = EXIT.INPUT;
  let linkType: number | undefined;
  const captures = new PortCaptures(
    flags.out,
    () => linkType ?? LinkType.ETHERNET,
    flags.limit?.output ?? DEFAULT_OUTPUT_BYTES,
  );
  let high = 0;
  let low = 0;
  target.onTransmit = (port, bytes, offset, length) => {
    captures.add(port, bytes.subarray(offset, offset + length), high, low);
  };
  const start = performance.now();
  let elapsedMs = 0;
  try {
    const damaged = await mergeCaptures(
      flags.port,
      io,
      (port, batch, row) => {
        linkType ??= batch.linkType;
        high = batch.timestampsHigh[row]!;
        low = batch.timestampsLow[row]!;
        clock.set(high, low);
        target.receive(port, batch.bytes, batch.offsets[row]!, batch.lengths[row]!);
      },
      () => drained(io.stderr),
    );
    elapsedMs = performance.now() - start;
    for (const { path: file, damage } of damaged) {
      say(io, `${file}: ${damage.message}`);
      exitCode = EXIT.INPUT;
    }
    // Every port given gets a capture, even if it stays empty.
    for (const port of flags.port.keys()) captures.open(port);
  } finally {
    captures.close();
  }
  await report(target.statistics, elapsedMs, flags, io);
  return reportUndefinedReads(target, flags, io, exitCode);
}

async function report(statistics: SwitchStatistics, elapsedMs: number, flags: RunFlags, io: Io): Promise<void> {
  if (flags.json !== true) {
    for (const line of runText(statistics, elapsedMs)) say(io, line);
    return;
  }
  const output = new DataOutput(io.stdout);
  await output.line(JSON.stringify(runJson(statistics, elapsedMs)));
  await output.end();
}
