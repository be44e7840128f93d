import { LinkPort, SoftSwitch } from '@int/p4switch';
import { type Command, Option } from 'commander';
import { given } from '../../given.js';
import { CliError, EXIT, type Io } from '../../io.js';
import { positiveNumber } from '../../options.js';
import { type MetricsAddress, metricsHostOption, metricsOption } from '../../output/metrics-endpoint.js';
import { counted } from '../../output/numbers.js';
import { printable } from '../../output/printable.js';
import { runCommands } from '../../p4/control-file.js';
import { type Fabric, type FabricEnd, type FabricSwitch, readFabric } from '../../p4/fabric/fabric.js';
import { HostNamespaces } from '../../p4/fabric/namespaces.js';
import { type LimitFlags, limitOption } from '../../p4/limits.js';
import { compiled } from '../../p4/program.js';
import {
  addControlOptions,
  type ControlFlags,
  type ControlledSwitch,
  ControlServer,
  checkControlOptions,
} from '../../p4/serve/control-server.js';
import { readDevice } from '../../p4/serve/device-files.js';
import type { PortMode } from '../../p4/serve/interface-port.js';
import { openPort } from '../../p4/serve/open-port.js';
import type { PortSpec } from '../../p4/serve/port-spec.js';
import { ServeRun } from '../../p4/serve/serve-run.js';

interface FabricFlags extends ControlFlags {
  readonly limit?: LimitFlags;
  readonly mode: PortMode;
  readonly speed: number;
  readonly spin?: number;
  readonly metrics?: MetricsAddress;
  readonly metricsAllowHost?: readonly string[];
  readonly json?: true;
}

const HELP = `
The file has switches with programs, links with rates and delays, and hosts:

  version: 1
  switches:
    s1: { program: source.p4, commands: s1.txt, cpuPort: 510 }
    s2: {}                                  # waits for a controller: --listen
  links:
    - { ends: ['s1:2', 's2:1'], rate: 1G, delay: 100us, queue: 64 }
  hosts:
    h1: { at: 's1:1', address: 10.0.1.1/16 }  # in a network namespace h1: ip netns exec h1 ping 10.0.2.1
    h2: { at: 's2:2', udp: '127.0.0.1:5001-127.0.0.1:6001' }
  ports:
    's2:3': pcap::out.pcap                # any port of int p4 serve: reports:127.0.0.1:32766 leads to int collect

Paths in it count from its folder. Hosts with an address need root, ip and ethtool; their namespaces go with the command.
examples/data/fabric.yaml is one that needs no rights.
`;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addControlOptions(command.argument('<fabric.yaml>', 'switches, links and hosts'))
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
    .addOption(limitOption())
    .addOption(metricsOption())
    .addOption(metricsHostOption())
    .option('--json', 'one JSON object per line: counters of each switch each second, totals at the end')
    .addHelpText('after', HELP)
    .action(async (path: string, flags: FabricFlags) => {
      checkControlOptions(flags, command);
      if (flags.metricsAllowHost !== undefined && flags.metrics === undefined) {
        command.error('error: --metrics-allow-host goes with --metrics HOST:PORT');
      }
      const fabric = await readFabric(path, io);
      const waiting = fabric.switches.find(({ program }) => program === null);
      if (waiting !== undefined && flags.listen === undefined) {
        command.error(`error: switch ${waiting.name} has no program: give --listen HOST:PORT for a controller`);
      }
      done(await new FabricCommand(path, fabric, flags, io).run());
    });
}

class FabricCommand {
  readonly #fabric: Fabric;
  readonly #flags: FabricFlags;
  readonly #io: Io;
  readonly #switches = new Map<string, ControlledSwitch & { readonly plan: FabricSwitch }>();
  readonly #title: string;

  constructor(path: string, fabric: Fabric, flags: FabricFlags, io: Io) {
    this.#fabric = fabric;
    this.#flags = flags;
    this.#io = io;
    const { switches, links, hosts } = fabric;
    const parts = [counted(switches.length, 'switch', 'switches'), counted(links.length, 'link')];
    if (hosts.length > 0) parts.push(counted(hosts.length, 'host'));
    this.#title = `int p4 fabric  ${path}  ${parts.join(', ')}`;
  }

  async run(): Promise<number> {
    const { metrics, metricsAllowHost, spin, json, listen, limit } = this.#flags;
    for (const plan of this.#fabric.switches) if (!this.#read(plan)) return EXIT.INPUT;
    let control: ControlServer | null = null;
    const all = [...this.#switches.values()];
    const run = new ServeRun(this.#io, {
      title: this.#title,
      switches: all.map(({ served }) => served),
      isJson: json === true,
      ...given({ spinMs: spin, metrics, metricsAllowHost }),
      ...(listen !== undefined && { control: () => control! }),
    });
    if (listen !== undefined) {
      control = await ControlServer.make(all, run.loop, limit, this.#flags, this.#io, run.tell);
    }
    for (const each of all) if (!(await this.#begin(each, listen === undefined))) return EXIT.INPUT;
    const namespaces = new HostNamespaces();
    try {
      await namespaces.make(this.#fabric.hosts, run.tell);
      try {
        await this.#connect(run);
      } catch (error) {
        await Promise.all(all.map(({ served }) => served.core.close()));
        throw error;
      }
      return await run.run();
    } finally {
      await namespaces.remove();
    }
  }

  /** Reads the program of a switch. @returns false if it has errors */
  #read(plan: FabricSwitch): boolean {
    const { name, program, include, define, deviceId, cpuPort, priorityQueues, rates, queues } = plan;
    const { limit } = this.#flags;
    const flags = { include: [...include], define, ...given({ limit }) };
    const device = program === null ? null : readDevice(program, flags, this.#io);
    if (device === undefined) return false;
    const core = new SoftSwitch({
      rateBps: rates,
      queuePackets: queues,
      ...given({ cpuPort, priorityQueues }),
      limits: limit,
      onLog: (message) => void this.#io.stderr.write(`${name}: ${printable(message)}\n`),
    });
    this.#switches.set(name, { plan, device, served: { name, deviceId, core, program } });
    return true;
  }

  /** Puts a program to work, unless the server has done so, and runs its commands. @returns false if that fails */
  async #begin(
    { plan, device, served: { core } }: ControlledSwitch & { readonly plan: FabricSwitch },
    loads: boolean,
  ): Promise<boolean> {
    if (device === null) return true;
    if (loads && compiled(plan.program!, this.#io, () => core.load(device.program)) === undefined) return false;
    return plan.commands === null || core.machine === null || runCommands(core.machine, plan.commands, this.#io);
  }

  #core({ switch: name }: FabricEnd): SoftSwitch {
    const found = this.#switches.get(name);
    if (found === undefined) throw new CliError(`there is no switch ${name}`, EXIT.USAGE);
    return found.served.core;
  }

  /** Opens links and ports. @throws CliError (rejects) */
  async #connect({ tell, fail }: ServeRun): Promise<void> {
    const { links, hosts, ports } = this.#fabric;
    const { mode, speed } = this.#flags;
    const text = (end: FabricEnd): string => `link:${end.switch}:${end.port}`;
    for (const { ends, delayMs } of links) {
      const [left, right] = ends;
      const pair = LinkPort.pair([text(right), text(left)], { delayMs });
      this.#core(left).addPort(left.port, pair[0]);
      this.#core(right).addPort(right.port, pair[1]);
    }
    const cables = hosts.map((host) => ({
      at: host.at,
      spec: { kind: host.port, interface: HostNamespaces.cableOf(host) } satisfies PortSpec,
    }));
    for (const { at, spec } of [...cables, ...ports]) {
      this.#core(at).addPort(at.port, await openPort(spec, { mode, speed, tell, onFault: fail }));
    }
  }
}
