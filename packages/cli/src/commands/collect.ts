import { CaptureSource, type UdpAddress } from '@int/collector';
import type { DetectorOptions, RuleSet } from '@int/detect';
import { type Command, Option } from 'commander';
import { CollectRun } from '../collect/collect-run.js';
import { LiveDetection } from '../collect/live-detection.js';
import { checkJson, checkLines } from '../config/describe.js';
import { needPackages } from '../config/packages.js';
import { type CollectSetup, ConfigSetup } from '../config/setup.js';
import type { Tell } from '../config/sink-parts.js';
import { DashboardEndpoint } from '../dashboard/endpoint.js';
import { type DashboardFlags, dashboardOptions, dashboardProblem, settingsOfFlags } from '../dashboard/settings.js';
import { DEMO_DEVICE } from '../demo/device.js';
import { given, ifGiven } from '../given.js';
import { FileWatch } from '../input/file-watch.js';
import { type InterfaceQueues, interfaceQueues } from '../input/interface-queues.js';
import { type OnDown, onDownOption } from '../input/link-words.js';
import { readRulesFile } from '../input/rules-file.js';
import { addSenderOptions, checkKeepUnknown, type SenderFlags } from '../input/senders.js';
import { anyAddress, CaptureInput, UdpInput } from '../input/telemetry-input.js';
import { udpAddress } from '../input/udp-address.js';
import { XdpChoice } from '../input/xdp-choice.js';
import type { RunningPrefilter, XdpMode } from '../input/xdp-input.js';
import { opening } from '../interruption.js';
import { EXIT, type Io, say } from '../io.js';
import { addNetworkOptions } from '../network/device-options.js';
import { type KnownNetwork, type NetworkFlags, readNetwork, rulesContextOf } from '../network/known-network.js';
import { knownSwitches } from '../network/known-switches.js';
import { readTopology } from '../network/topology-option.js';
import { addDetectOptions, type DetectFlags, detectOptions, duration, positiveNumber, RULES_HELP } from '../options.js';
import { type MetricsAddress, MetricsEndpoint, metricsHostOption, metricsOption } from '../output/metrics-endpoint.js';
import { DRAIN_MS } from '../stopping.js';

interface CollectFlags extends NetworkFlags, DetectFlags, SenderFlags, DashboardFlags {
  readonly listen?: UdpAddress;
  readonly afxdp?: InterfaceQueues;
  readonly afxdpMode?: 'auto' | XdpMode;
  readonly prefilter?: true;
  readonly onDown?: OnDown;
  readonly pcap?: string;
  readonly demo?: true;
  readonly speed?: number;
  readonly rules?: string;
  readonly metrics?: MetricsAddress;
  readonly metricsAllowHost?: readonly string[];
  readonly config?: string;
  readonly check?: true;
  /** In nanoseconds. */
  readonly drainTimeout?: number;
  readonly json?: true;
}

/** Options allowed with --config; the file defines all others. */
const WITH_CONFIG: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'config',
  'check',
  'drainTimeout',
  'json',
  'metrics',
  'metricsAllowHost',
  'dashboard',
  'dashboardTokenFile',
  'dashboardTlsCert',
  'dashboardTlsKey',
  'dashboardAllowHost',
  'dashboardReadOnly',
]);
const MAX_DRAIN_MS = 3_600_000;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  const sources = ['listen', 'afxdp', 'pcap', 'demo'];
  const others = (own: string): string[] => sources.filter((name) => name !== own);
  command
    .addOption(
      new Option('--listen <udp://HOST:PORT>', 'receive telemetry reports; without a port: 32766')
        .argParser(udpAddress)
        .conflicts(others('listen')),
    )
    .addOption(
      new Option(
        '--afxdp <IFACE[:QUEUE]>',
        'receive telemetry reports past the network stack; QUEUE is a number, 0-3 or all (all); UDP where that cannot be',
      )
        .argParser(interfaceQueues)
        .conflicts(others('afxdp')),
    )
    .addOption(
      new Option('--afxdp-mode <MODE>', 'with --afxdp: in the driver, or behind it (auto)').choices([
        'auto',
        'driver',
        'generic',
      ]),
    )
    .option('--prefilter', 'with --afxdp and --rules: find events in the kernel; only reports with events are received')
    .addOption(onDownOption('with --afxdp: '))
    .addOption(
      new Option('--pcap <FILE>', 'replay a capture (pcap, pcapng, also gzip); - is standard input').conflicts(
        others('pcap'),
      ),
    )
    .addOption(
      new Option('--speed <X>', 'with --pcap: 1 is the pace of the capture, 2 twice that (as fast as possible)')
        .argParser(positiveNumber('a factor'))
        .conflicts(others('pcap')),
    )
    .addOption(new Option('--demo', 'receive from a generated fabric, over loopback UDP').conflicts(others('demo')))
    .option('--rules <FILE>', 'find events by these rules (YAML or JSON); loaded anew when they change, and at SIGHUP')
    .addOption(metricsOption())
    .addOption(metricsHostOption())
    .option(
      '--config <FILE>',
      'sources, rules, flows and sinks from int.yaml, instead of the other options; read again when it changes, and at SIGHUP',
    )
    .option('--check', 'with --config: say what would run, or what is wrong with the file, and end')
    .option('--drain-timeout <DURATION>', 'time that stopping may take at most (10s)', duration('a time', MAX_DRAIN_MS))
    .option('--json', 'one JSON object per line: events, statistics each second, totals at the end');
  for (const option of dashboardOptions()) command.addOption(option);
  addDetectOptions(addSenderOptions(command));
  addNetworkOptions(command)
    .addHelpText('after', RULES_HELP)
    .action(async (flags: CollectFlags) => {
      if (flags.metricsAllowHost !== undefined && flags.metrics === undefined) {
        command.error('error: --metrics-allow-host goes with --metrics HOST:PORT');
      }
      const problem = dashboardProblem(flags);
      if (problem !== null) command.error(`error: ${problem}`);
      if (flags.config !== undefined) {
        done(await collectByConfig(flags.config, flags, command, io));
        return;
      }
      checkFlags(flags, command);
      const options = detectOptions(flags, command);
      const hasRules = flags.rules !== undefined || flags.demo === true;
      if (!hasRules && Object.keys(options).length > 0) {
        command.error('error: --state, --flow-cells, --switch-cells and --idle go with --rules FILE');
      }
      const network = await readNetwork(flags, io, flags.demo === true ? DEMO_DEVICE : undefined);
      checkPrefilter(flags, network, command);
      let tell = (message: string): void => say(io, message);
      const setup = await flagsSetup(flags, network, hasRules, options, io, (message) => tell(message));
      const collect = new CollectRun(flags, setup, io);
      tell = (message) => collect.tell(message);
      done(await collect.run());
    });
}

/** Makes the setup from the options of the command line. @throws CliError (rejects) */
async function flagsSetup(
  flags: CollectFlags,
  network: KnownNetwork,
  hasRules: boolean,
  options: DetectorOptions,
  io: Io,
  tell: Tell,
): Promise<CollectSetup> {
  const { pcap, speed, listen } = flags;
  const { device, topology } = network;
  const { decode } = device;
  const from = flags.from ?? device.sources ?? undefined;
  const known = knownSwitches(topology, flags.keepUnknownSwitches);
  const xdp = new XdpChoice({ ...flags, ...given({ from }), knownSwitches: known }, decode, io, tell);
  const attach = (rules: RuleSet): Promise<RunningPrefilter | null> => xdp.attach(rules, options);
  const detection = hasRules
    ? await LiveDetection.open(flags.rules ?? null, options, io, attach, rulesContextOf(network))
    : null;
  const dashboard = settingsOfFlags(flags);
  return {
    network,
    knownSwitches: known,
    detection,
    metrics: metricsOf(flags, network),
    dashboard: dashboard === null ? null : new DashboardEndpoint(dashboard),
    history: null,
    stages: [],
    sinks: [],
    isPatient: pcap !== undefined,
    isInputUsed: pcap === '-' || flags.rules === '-',
    // The requested source, or UDP instead of AF_XDP.
    async input() {
      const input = await xdp.input(detection?.prefilter ?? null);
      if (input !== null) return input;
      if (flags.afxdp !== undefined) return new UdpInput(anyAddress(decode), decode, given({ from }));
      if (pcap === undefined) {
        return new UdpInput([listen ?? { host: '127.0.0.1', port: 0 }], decode, given({ from }));
      }
      const source = new CaptureSource({ path: pcap, input: io.stdin, ...given({ speed, from }) });
      return new CaptureInput(source, decode);
    },
    giveUp: (error) => xdp.giveUp(error),
    drainMs: drainMsOf(flags) ?? DRAIN_MS,
    close: async () => {},
  };
}

function metricsOf(
  { metrics, metricsAllowHost: allowHosts }: CollectFlags,
  { device, topology: names }: KnownNetwork,
): MetricsEndpoint | null {
  return metrics === undefined ? null : new MetricsEndpoint(metrics, { device, names, ...given({ allowHosts }) });
}

const drainMsOf = ({ drainTimeout }: CollectFlags): number | null =>
  drainTimeout === undefined ? null : Math.ceil(drainTimeout / 1e6);

async function collectByConfig(file: string, flags: CollectFlags, command: Command, io: Io): Promise<number> {
  const other = command.options.find(
    (option) =>
      !WITH_CONFIG.has(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (other !== undefined) command.error(`error: ${other.long ?? other.flags} stands in the file that --config names`);
  // The modules for reading and checking are loaded only if there is a file.
  const { readConfig } = await import('../config/read-config.js');
  // Watch the file before reading it, so that no change is missed.
  const watch = await FileWatch.of(file);
  const read = await readConfig(file, io);
  const { config } = read;
  if (flags.metrics !== undefined && config.sinks?.some(({ prometheus }) => prometheus !== undefined) === true) {
    command.error('error: --metrics stands in the file that --config names, as a prometheus sink');
  }
  if (flags.dashboard !== undefined && config.dashboard !== undefined) {
    command.error('error: --dashboard stands in the file that --config names');
  }
  if (flags.check === true) {
    await needPackages(config);
    const topology = await readTopology(ifGiven(config.topology, read.path), io);
    if (config.detect !== undefined)
      await readRulesFile(read.path(config.detect.rules), io, rulesContextOf({ device: read.device, topology }));
    const lines = flags.json === true ? [JSON.stringify(checkJson(read))] : checkLines(read);
    for (const line of lines) io.stdout.write(`${line}\n`);
    return EXIT.OK;
  }
  let tell = (message: string): void => say(io, message);
  const made = ConfigSetup.make(read, {
    io,
    tell: (message) => tell(message),
    drainMs: drainMsOf(flags),
    prometheus: flags.metrics === undefined ? null : (network) => metricsOf(flags, network)!,
    dashboard: settingsOfFlags(flags),
  });
  // SIGHUP means to read the file again, which has just been done.
  const release = io.onHangup?.(() => {});
  try {
    const setup = await opening(io, 'what the file names', made);
    const collect = new CollectRun(flags, setup, io, { path: file, watch, setup });
    tell = (message) => collect.tell(message);
    return await collect.run();
  } finally {
    release?.();
  }
}

function checkFlags(flags: CollectFlags, command: Command): void {
  const { listen, afxdp, pcap, demo, rules } = flags;
  if (flags.check === true) command.error('error: --check goes with --config FILE');
  if (listen === undefined && afxdp === undefined && pcap === undefined && demo === undefined) {
    command.error(
      'error: nothing to collect from: give --listen udp://HOST:PORT, --afxdp IFACE, --pcap FILE or --config FILE, or try --demo',
    );
  }
  checkKeepUnknown(flags, command);
  if (flags.speed !== undefined && pcap === undefined) command.error('error: --speed goes with --pcap FILE');
  if (rules === '-' && pcap === '-') command.error('error: --pcap and --rules cannot both be standard input');
  if (flags.afxdpMode !== undefined && afxdp === undefined)
    command.error('error: --afxdp-mode goes with --afxdp IFACE');
  if (flags.onDown !== undefined && afxdp === undefined) command.error('error: --on-down goes with --afxdp IFACE');
  if (flags.prefilter === true && (afxdp === undefined || rules === undefined)) {
    command.error('error: --prefilter goes with --afxdp IFACE and --rules FILE');
  }
}

function checkPrefilter({ prefilter }: CollectFlags, { device }: KnownNetwork, command: Command): void {
  if (prefilter !== true) return;
  if ((device.decode.profile ?? 'spec') === 'spec') return;
  command.error('error: --prefilter reads reports as the specifications have them: leave out --profile');
}
