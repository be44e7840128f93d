import type { Command } from 'commander';
import type { Io } from '../io.js';

/** A command's module, loaded only for the command in the command line. */
interface CommandModule {
  /** Defines arguments, options and action of a command. @param done receives the exit code */
  define(command: Command, io: Io, done: (exitCode: number) => void): void;
}

interface SingleCommand {
  readonly name: string;
  /** Short form of its arguments and options, shown after its name in the list. */
  readonly takes: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly SingleCommand[];
}

const DART: readonly SingleCommand[] = [
  {
    name: 'simulate',
    takes: '[options]',
    summary: 'Write flows into a simulated store, ask for all of them, and hold what is found against theory',
    load: () => import('./dart/simulate.js'),
  },
  {
    name: 'plan',
    takes: '[options]',
    summary: 'How much memory, and how many copies, a number of flows needs',
    load: () => import('./dart/plan.js'),
  },
  {
    name: 'write',
    takes: '[options] <FILE...>',
    summary: 'Write the reports of captures, or keys and values as JSON lines, into a store',
    load: () => import('./dart/write.js'),
  },
  {
    name: 'query',
    takes: '[options]',
    summary: 'What a store knows of a flow, a flow at a switch, or any key',
    load: () => import('./dart/query.js'),
  },
  {
    name: 'listen',
    takes: '[options] <udp://HOST:PORT>',
    summary: 'A software RDMA NIC: takes RoCEv2 writes by UDP into a store; counters each second, totals on exit',
    load: () => import('./dart/listen.js'),
  },
];

const P4: readonly SingleCommand[] = [
  {
    name: 'check',
    takes: '[options] <FILE.p4>',
    summary: 'Parse and type-check a program: what is wrong, and what is doubtful, with file, line and column',
    load: () => import('./p4/check.js'),
  },
  {
    name: 'run',
    takes: '[options] <FILE.p4>',
    summary: 'Run the packets of captures through a program, into captures',
    load: () => import('./p4/run.js'),
  },
  {
    name: 'play',
    takes: '[options] <FILE.p4> <SCRIPT>',
    summary: 'Send packets one at a time, with control commands between, and see what comes out of ports 0 to 9',
    load: () => import('./p4/play.js'),
  },
  {
    name: 'stf',
    takes: '[options] <FILE.p4> <FILE.stf>',
    summary: "Run a packet test in p4c's format: packets in, packets expected, table entries",
    load: () => import('./p4/stf.js'),
  },
  {
    name: 'trace',
    takes: '[options] <FILE.p4> <PORT> <HEX...>',
    summary: 'Send one packet and follow it: states, headers, tables, actions, what became of it',
    load: () => import('./p4/trace.js'),
  },
  {
    name: 'info',
    takes: '[options] <FILE.p4>',
    summary: 'What a program consists of: tables with keys and actions, counters, registers, headers',
    load: () => import('./p4/info.js'),
  },
];

/** All commands, in the order of the help. */
export const COMMANDS: readonly (SingleCommand | CommandGroup)[] = [
  {
    name: 'decode',
    takes: '[options] <FILE...>',
    summary: 'Decode telemetry reports and INT packets of captures (pcap, pcapng, also gzip)',
    load: () => import('./decode.js'),
  },
  {
    name: 'encode',
    takes: '[options] [FILE]',
    summary: 'Build a capture from the JSON lines of int decode',
    load: () => import('./encode.js'),
  },
  {
    name: 'generate',
    takes: '[options]',
    summary: 'Generate telemetry reports of a fabric with queues, bursts and congestion',
    load: () => import('./generate.js'),
  },
  {
    name: 'replay',
    takes: '[options] <FILE>',
    summary: 'Send what a capture holds, at a steady rate or at its own pace, and count what has left',
    load: () => import('./replay.js'),
  },
  {
    name: 'collect',
    takes: '[options]',
    summary: 'Collect telemetry: a live view of switches, queues, congested paths and events; totals on exit',
    load: () => import('./collect.js'),
  },
  {
    name: 'bridge',
    takes: '[options] <IN> <OUT>',
    summary:
      'A bump in the wire (AF_XDP, Linux): forward frames from IN to OUT without the INT in them, and follow what it told',
    load: () => import('./bridge.js'),
  },
  {
    name: 'detect',
    takes: '[options] <FILE>',
    summary: 'Find events in the telemetry of a capture (pcap, pcapng, also gzip), by rules',
    load: () => import('./detect.js'),
  },
  {
    name: 'flows',
    takes: '[options] <FILE>',
    summary: 'What a flow cache holds after a capture (pcap, pcapng, also gzip): flows, with statistics per hop',
    load: () => import('./flows.js'),
  },
  {
    name: 'dart',
    summary: 'Direct telemetry access: a store of hashed slots that switches write into by RDMA, and its theory',
    commands: DART,
  },
  {
    name: 'process',
    takes: '[options]',
    summary: 'Process reports from Kafka: statistics by flow, switch and link, and immediate events',
    load: () => import('./process.js'),
  },
  {
    name: 'plan',
    takes: '[options] <TOPOLOGY>',
    summary: 'Paths for telemetry probes: together they visit every switch, of nearly equal length, hardly overlapping',
    load: () => import('./plan.js'),
  },
  {
    name: 'query',
    takes: '[options] <SQL>',
    summary: 'Query the history that a collector keeps in Parquet files: views hops, reports, flows, events, paths',
    load: () => import('./query.js'),
  },
  {
    name: 'p4',
    summary: 'P4_16 programs for v1model switches: check them, run packets through them, test them',
    commands: P4,
  },
];

/**
 * Adds commands. Only commands named on the command line are loaded; the others appear in lists and messages.
 *
 * @param words words of the command line that may name a command, without options
 */
export async function addCommands(
  parent: Command,
  commands: typeof COMMANDS,
  words: readonly string[],
  io: Io,
  done: (exitCode: number) => void,
): Promise<void> {
  const [named, ...others] = words;
  for (const entry of commands) {
    const { name, summary } = entry;
    const isNamed = name === named;
    if ('commands' in entry) {
      const group = parent.command(name).description(summary).helpCommand('help [command]', 'print help');
      await addCommands(group, entry.commands, isNamed ? others : [], io, done);
    } else if (isNamed) {
      const { define } = await entry.load();
      define(parent.command(name).description(summary), io, done);
    } else {
      // Commander lists these arguments literally, including `[options]`.
      parent.command(`${name} ${entry.takes}`).description(summary);
    }
  }
}
