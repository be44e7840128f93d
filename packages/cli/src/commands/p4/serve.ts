import { type Port, PortError, SoftSwitch } from '@int/p4switch';
import { type Command, Option } from 'commander';
import { given } from '../../given.js';
import { CliError, EXIT, type Io } from '../../io.js';
import { positiveNumber, wholeNumber } from '../../options.js';
import { type MetricsAddress, metricsHostOption, metricsOption } from '../../output/metrics-endpoint.js';
import { printable } from '../../output/printable.js';
import { runCommands } from '../../p4/control-file.js';
import { addProgramOptions, compiled, type ProgramFlags } from '../../p4/program.js';
import {
  addControlOptions,
  type ControlFlags,
  ControlServer,
  checkControlOptions,
} from '../../p4/serve/control-server.js';
import { readDevice } from '../../p4/serve/device-files.js';
import type { PortMode } from '../../p4/serve/interface-port.js';
import { openPort } from '../../p4/serve/open-port.js';
import { MOST_PORT, type PortSpec, portOption, SPEC_HELP } from '../../p4/serve/port-spec.js';
import { ServeRun } from '../../p4/serve/serve-run.js';
import type { ServedSwitch } from '../../p4/serve/served-switch.js';

interface ServeFlags extends ProgramFlags, ControlFlags {
  readonly port: ReadonlyMap<number, PortSpec>;
  readonly cpuPort?: number;
  readonly deviceId: number;
  readonly commands?: string;
  readonly rate?: number;
  readonly queue?: number;
  readonly priorityQueues?: number;
  readonly mode: PortMode;
  readonly speed: number;
  readonly spin?: number;
  readonly metrics?: MetricsAddress;
  readonly metricsAllowHost?: readonly string[];
  readonly json?: true;
}

const HELP = `
Ports: --port N=SPEC, with SPEC one of
  xdp:IFACE[:QUEUE]            AF_XDP on all queues of an interface, or on one: fast. The machine itself sees no frame of it.
                               Flows spread over the queues; each flow keeps its order
  packet:IFACE                 AF_PACKET on any interface; the machine's own stack sees the frames too
  udp:HOST:PORT-HOST:PORT      a tunnel: each datagram is a frame. Binds the first address, and talks to the second alone,
                               such as int replay FILE --tunnel with the addresses the other way round
  reports:HOST:PORT            the UDP payloads of frames, such as telemetry reports, go to a collector there; nothing comes in
  pcap:IN[:OUT]                frames come from a capture, at its own pace, and leave into another; pcap::OUT has no input
xdp and packet need Linux, npm run build:native, and rights (CAP_NET_RAW; xdp also CAP_NET_ADMIN and CAP_BPF).
Senders on this machine leave checksums to a card. packet ports complete them; at the other end of a veth with an xdp port,
switch that off: ethtool -K IFACE tx off.

Controllers: --listen serves P4Runtime. Without --tls-cert everyone who reaches the port controls the switch.

Examples:
  sudo int p4 serve p4/int.p4 --commands p4/int/commands/transit.txt --port 1=xdp:eth1 --port 2=xdp:eth2
  int p4 serve p4/int.p4 --commands p4/int/commands/transit.txt --port 1=pcap:in.pcap --port 2=pcap::out.pcap
  int p4 serve --listen 127.0.0.1:9559 --cpu-port 510 --port 1=udp:127.0.0.1:5001-127.0.0.1:6001
`;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addControlOptions(
    addProgramOptions(command.argument('[FILE.p4]', 'the program; without one, the switch waits for a controller')),
  )
    .requiredOption('--port <N=SPEC>', `a port: ${SPEC_HELP}; repeat for more`, portOption)
    .option('--cpu-port <N>', "the port of the control plane's packets", wholeNumber('a port', 0, MOST_PORT))
    .option('--device-id <N>', 'number of the switch for controllers', wholeNumber('a number', 0, 2 ** 32), 1)
    .option('--commands <CMDS>', 'commands of simple_switch_CLI to begin with, one a line')
    .option(
      '--rate <BPS>',
      'rate of each port in bits per second (as fast as it takes frames)',
      positiveNumber('a rate'),
    )
    .option('--queue <N>', 'packets that may wait for a port (64)', wholeNumber('a number', 1, 1 << 20))
    .option('--priority-queues <N>', 'queues per port (1)', wholeNumber('a number', 1, 8))
    .addOption(
      new Option('--mode <MODE>', 'where the programs of xdp ports run: in the drivers, or in the kernel behind them')
        .choices(['auto', 'driver', 'generic'])
        .default('auto'),
    )
    .option('--speed <X>', 'pace of captures: 2 is twice as fast', positiveNumber('a factor'), 1)
    .option(
      '--spin <MS>',
      'how long to poll after a packet before waiting for the next: less delay, more processor (0.2)',
      positiveNumber('a time in milliseconds'),
    )
    .addOption(metricsOption())
    .addOption(metricsHostOption())
    .option('--json', 'one JSON object per line: counters each second, totals at the end')
    .addHelpText('after', HELP)
    .action(async (path: string | undefined, flags: ServeFlags) => {
      checkControlOptions(flags, command);
      if (path === undefined && flags.listen === undefined)
        command.error('error: give a program, or --listen HOST:PORT');
      if (path === undefined && flags.commands !== undefined) command.error('error: --commands goes with a program');
      if (flags.metricsAllowHost !== undefined && flags.metrics === undefined) {
        command.error('error: --metrics-allow-host goes with --metrics HOST:PORT');
      }
      if (flags.cpuPort !== undefined && flags.port.has(flags.cpuPort)) {
        command.error(`error: port ${flags.cpuPort} cannot be both --cpu-port and --port`);
      }
      done(await serve(path, flags, io));
    });
}

async function serve(path: string | undefined, flags: ServeFlags, io: Io): Promise<number> {
  const device = path === undefined ? null : readDevice(path, flags, io);
  if (device === undefined) return EXIT.INPUT;
  const { cpuPort, rate, queue, priorityQueues, limit, listen } = flags;
  const core = new SoftSwitch({
    ...given({ cpuPort, rateBps: rate, queuePackets: queue, priorityQueues }),
    limits: limit,
    onLog: (message) => void io.stderr.write(`${printable(message)}\n`),
  });
  const served: ServedSwitch = { name: 'switch', deviceId: BigInt(flags.deviceId), core, program: path ?? null };
  let control: ControlServer | null = null;
  const run = new ServeRun(io, {
    title: `int p4 serve  ${path ?? 'without a program'}`,
    switches: [served],
    isJson: flags.json === true,
    ...given({ spinMs: flags.spin, metrics: flags.metrics, metricsAllowHost: flags.metricsAllowHost }),
    ...(listen !== undefined && { control: () => control! }),
  });
  if (listen !== undefined) {
    control = await ControlServer.make([{ served, device }], run.loop, limit, flags, io, run.tell);
  } else if (device !== null && compiled(path!, io, () => core.load(device.program)) === undefined) return EXIT.INPUT;
  const { machine } = core;
  if (flags.commands !== undefined && machine !== null && !(await runCommands(machine, flags.commands, io))) {
    return EXIT.INPUT;
  }
  try {
    await addPorts(core, flags.port, flags, run);
  } catch (error) {
    await core.close();
    throw error;
  }
  return run.run();
}

/** Opens ports and adds them to a switch. @throws CliError (rejects); the ports so far are the switch's */
async function addPorts(
  core: SoftSwitch,
  ports: ReadonlyMap<number, PortSpec>,
  { mode, speed }: Pick<ServeFlags, 'mode' | 'speed'>,
  { tell, fail }: ServeRun,
): Promise<void> {
  for (const [number, spec] of ports) {
    const port: Port = await openPort(spec, { mode, speed, tell, onFault: fail });
    try {
      core.addPort(number, port);
    } catch (error) {
      await port.close();
      if (PortError.is(error)) throw new CliError(error.message, EXIT.USAGE, error);
      throw error;
    }
  }
}
