import type { Command } from 'commander';
import type { Io } from '../io.js';

/** A command's module, loaded only for the command in the command line. */
interface CommandModule {
  /** Defines arguments, options and action of a command. @param done receives the exit code */
  define(command: Command, io: Io, done: (exitCode: number) => void): void;
}

interface SingleCommand {
  /** Its name, and the short form of its arguments and options, as the list shows them. */
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

interface CommandGroup {
  /** Its name. */
  readonly usage: string;
  readonly summary: string;
  readonly commands: readonly SingleCommand[];
}

const DART: readonly SingleCommand[] = [
  {
    usage: 'simulate [options]',
    summary: 'Write flows into a simulated store, ask for all of them, and hold what is found against theory',
    load: () => import('./dart/simulate.js'),
  },
  {
    usage: 'plan [options]',
    summary: 'How much memory, and how many copies, a number of flows needs',
    load: () => import('./dart/plan.js'),
  },
  {
    usage: 'write [options] <FILE...>',
    summary: 'Write the reports of captures, or keys and values as JSON lines, into a store',
    load: () => import('./dart/write.js'),
  },
  {
    usage: 'query [options]',
    summary: 'What a store knows of a flow, a flow at a switch, or any key',
    load: () => import('./dart/query.js'),
  },
  {
    usage: 'listen [options] <udp://HOST:PORT>',
    summary: 'A software RDMA NIC: takes RoCEv2 writes by UDP into a store; counters each second, totals on exit',
    load: () => import('./dart/listen.js'),
  },
  {
    usage: 'receive [options] <FILE...>',
    summary: 'Execute the RoCEv2 packets of captures on a store, as the network card would have',
    load: () => import('./dart/receive.js'),
  },
];

const P4: readonly SingleCommand[] = [
  {
    usage: 'check [options] <FILE.p4>',
    summary: 'Parse and type-check a program: what is wrong, and what is doubtful, with file, line and column',
    load: () => import('./p4/check.js'),
  },
  {
    usage: 'run [options] <FILE.p4>',
    summary: 'Run the packets of captures through a program, into captures',
    load: () => import('./p4/run.js'),
  },
  {
    usage: 'play [options] <FILE.p4> <SCRIPT>',
    summary: 'Send packets one at a time, with control commands between, and see what comes out of ports 0 to 9',
    load: () => import('./p4/play.js'),
  },
  {
    usage: 'stf [options] <FILE.p4> <FILE.stf>',
    summary: "Run a packet test in p4c's format: packets in, packets expected, table entries",
    load: () => import('./p4/stf.js'),
  },
  {
    usage: 'trace [options] <FILE.p4> <PORT> <HEX...>',
    summary: 'Send one packet and follow it: states, headers, tables, actions, what became of it',
    load: () => import('./p4/trace.js'),
  },
  {
    usage: 'info [options] <FILE.p4>',
    summary: 'What a program consists of: tables with keys and actions, counters, registers, headers',
    load: () => import('./p4/info.js'),
  },
  {
    usage: 'serve [options] [FILE.p4]',
    summary:
      'A software switch: runs a program between network interfaces (AF_XDP, AF_PACKET), UDP tunnels and captures',
    load: () => import('./p4/serve.js'),
  },
  {
    usage: 'fabric [options] <fabric.yaml>',
    summary: 'Several software switches in one process, with links, hosts in namespaces, and one P4Runtime server',
    load: () => import('./p4/fabric.js'),
  },
  {
    usage: 'control [options] [SCRIPT]',
    summary:
      'Commands for any switch that speaks P4Runtime, as those of simple_switch_CLI: at a terminal or as a script',
    load: () => import('./p4/control.js'),
  },
];

const TOPOLOGY: readonly SingleCommand[] = [
  {
    usage: 'learn [options] [FILE]',
    summary: 'Write topology.yaml from telemetry: switches, ports, and links from consecutive hops',
    load: () => import('./topology/learn.js'),
  },
];

/** All commands, in the order of the help. */
export const COMMANDS: readonly (SingleCommand | CommandGroup)[] = [
  {
    usage: 'decode [options] <FILE...>',
    summary: 'Decode telemetry reports and INT packets of captures (pcap, pcapng, also gzip)',
    load: () => import('./decode.js'),
  },
  {
    usage: 'encode [options] [FILE]',
    summary: 'Build a capture from the JSON lines of int decode',
    load: () => import('./encode.js'),
  },
  {
    usage: 'generate [options]',
    summary: 'Generate telemetry reports of a fabric with queues, bursts and congestion',
    load: () => import('./generate.js'),
  },
  {
    usage: 'doctor [options] [FILE]',
    summary: 'Which device profile (dialect, ports, DSCP, units) reads a capture, or what arrives by UDP, best',
    load: () => import('./doctor.js'),
  },
  {
    usage: 'replay [options] <FILE>',
    summary: 'Send what a capture holds, at a steady rate or at its own pace, and count what has left',
    load: () => import('./replay.js'),
  },
  {
    usage: 'collect [options]',
    summary: 'Collect telemetry: a live view of switches, queues, congested paths and events; totals on exit',
    load: () => import('./collect.js'),
  },
  {
    usage: 'bridge [options] <IN> <OUT>',
    summary:
      'A bump in the wire (AF_XDP, Linux): forward frames from IN to OUT without the INT in them, and follow what it told',
    load: () => import('./bridge.js'),
  },
  {
    usage: 'detect [options] <FILE>',
    summary: 'Find events in the telemetry of a capture (pcap, pcapng, also gzip), by rules',
    load: () => import('./detect.js'),
  },
  {
    usage: 'knowledge [options] <FILE...>',
    summary:
      'Attacks, scans, beacons, leaks and congestion in captures or flow logs, as incidents with their arithmetic',
    load: () => import('./knowledge.js'),
  },
  {
    usage: 'overhead [options] [FILE]',
    summary: "What telemetry costs on a link, by formula; or what to watch of a capture's flows under a budget",
    load: () => import('./overhead.js'),
  },
  {
    usage: 'control [options]',
    summary: 'Close the loop: switches get what people want and what telemetry asks for, rehearsed, measured, undone',
    load: () => import('./control.js'),
  },
  {
    usage: 'flows [options] <FILE>',
    summary: 'What a flow cache holds after a capture (pcap, pcapng, also gzip): flows, with statistics per hop',
    load: () => import('./flows.js'),
  },
  {
    usage: 'dart',
    summary: 'Direct telemetry access: a store of hashed slots that switches write into by RDMA, and its theory',
    commands: DART,
  },
  {
    usage: 'process [options]',
    summary: 'Process reports from Kafka: statistics by flow, switch and link, and immediate events',
    load: () => import('./process.js'),
  },
  {
    usage: 'plan [options] <TOPOLOGY>',
    summary: 'Paths for telemetry probes: together they visit every switch, of nearly equal length, hardly overlapping',
    load: () => import('./plan.js'),
  },
  {
    usage: 'topology',
    summary: 'Names of switches and ports, and links: topology.yaml, which --topology reads',
    commands: TOPOLOGY,
  },
  {
    usage: 'query [options] <SQL>',
    summary: 'Query the history that a collector keeps in Parquet files: views hops, reports, flows, events, paths',
    load: () => import('./query.js'),
  },
  {
    usage: 'p4',
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
    const { usage, summary } = entry;
    const [name] = usage.split(' ', 1) as [string];
    const isNamed = name === named;
    if ('commands' in entry) {
      const group = parent.command(name).description(summary).helpCommand('help [command]', 'print help');
      await addCommands(group, entry.commands, isNamed ? others : [], io, done);
    } else if (isNamed) {
      const { define } = await entry.load();
      define(parent.command(name).description(summary), io, done);
    } else {
      // Commander lists these arguments literally, including `[options]`.
      parent.command(usage).description(summary);
    }
  }
}
