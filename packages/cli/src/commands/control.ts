import type { Command } from 'commander';
import { type DashboardFlags, dashboardOptions, dashboardProblem, settingsOfFlags } from '../dashboard/settings.js';
import { FileWatch } from '../input/file-watch.js';
import type { Io } from '../io.js';

interface ControlFlags extends DashboardFlags {
  readonly config: string;
  readonly json?: true;
  readonly dryRun?: true;
}

const HELP = `
control.yaml names the switches (P4Runtime), the topology, where telemetry comes from, what people want (intents), and what the
loop may do by itself: observe, propose or act, by kind of intent. SIGHUP, or a change of the file, loads intents and policies anew.

  version: 1
  sources: [{ udp: { listen: 0.0.0.0:32766 } }]
  topology: topology.yaml
  program: p4/int.p4
  switches: { leaf1: { target: 10.9.0.1:9559 }, spine1: { target: 10.9.0.2:9559, tls: { ca: ca.pem } } }
  collector: { address: 10.9.0.9 }
  autonomy: { avoid: act, path: act, block: propose }
  limits: { within: 60s, all: 10, block: 4 }
  rehearse: required
  intents:
    - { id: all, kind: watch, match: {} }
    - { id: no-telnet, kind: block, match: { protocol: tcp, destinationPort: 23, destination: 10.0.0.0/8 } }
`;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  command
    .requiredOption('--config <FILE>', 'switches, topology, sources, intents and policies (YAML)')
    .option('--json', 'one JSON object per line: incidents, what the loop does, what is written to switches')
    .option(
      '--dry-run',
      'show the entries of each switch and how they differ from what it has; write nothing, and end',
    );
  for (const option of dashboardOptions()) command.addOption(option);
  command.addHelpText('after', HELP).action(async (flags: ControlFlags) => {
    const { config, json, dryRun: isDry } = flags;
    const problem = dashboardProblem(flags);
    if (problem !== null) command.error(`error: ${problem}`);
    if (isDry === true && flags.dashboard !== undefined) command.error('error: --dashboard does not go with --dry-run');
    // Watch the file before reading it, so that no change is missed.
    const watch = await FileWatch.of(config);
    const { readControl } = await import('../control/read-control.js');
    const nowMs = Date.now();
    const read = await readControl(config, io, () => nowMs);
    if (flags.dashboard !== undefined && read.config.dashboard !== undefined) {
      command.error('error: --dashboard stands in the file that --config names');
    }
    const { controlNetwork } = await import('../control/network.js');
    const network = await controlNetwork(read, io);
    if (isDry === true) {
      const { dryRun } = await import('../control/dry-run.js');
      done(await dryRun(read, network, json === true, nowMs, io));
      return;
    }
    // SIGHUP means to read the file again, which has just been done.
    const release = io.onHangup?.(() => {});
    try {
      const { ControlRun } = await import('../control/control-run.js');
      const dashboard = settingsOfFlags(flags);
      done(await new ControlRun({ read, network, file: config, watch, dashboard, isJson: json === true }, io).run());
    } finally {
      release?.();
    }
  });
}
