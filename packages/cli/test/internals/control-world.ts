/** A controller over two switches in this process, with its dashboard. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Journal, type ObservedFlow, P4RuntimeConnection, Twin } from '@int/control';
import { Dashboard, type DashboardOptions } from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import type { Incident } from '@int/knowledge';
import { Host, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { type Entity, P4RuntimeClient, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { onTestFinished } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { entityText } from '../../src/control/entity-text.js';
import { type ControlProgram, controlNetwork } from '../../src/control/network.js';
import { policyOf } from '../../src/control/policy.js';
import { readControl } from '../../src/control/read-control.js';
import { ControlView } from '../../src/control/view/control-view.js';
import type { Io } from '../../src/io.js';
import type { temporaryFolder } from '../run.js';

/** A machine that is busy compiles the program slowly. */
export const MS = 180_000;
export const ATTACKER = '198.51.100.7';
const TOPOLOGY = `
switches:
  1: { name: leaf1, ports: { 1: { to: 'leaf2:1', speed: 10M }, 11: { to: host outside }, 60: { to: host collector } } }
  2: { name: leaf2, ports: { 11: { to: host web } } }
hosts:
  outside: { addresses: [198.51.100.0/24] }
  web: { addresses: [10.0.2.1], level: 3 }
  collector: { addresses: [10.9.0.1] }
`;
const CONFIG = `version: 1
sources: [{ udp: { listen: '127.0.0.1:0' } }]
topology: topology.yaml
program: ${new URL('../../../../p4/int.p4', import.meta.url).pathname}
switches: { leaf1: { target: '127.0.0.1:1', deviceId: 1 }, leaf2: { target: '127.0.0.1:1', deviceId: 2 } }
collector: { address: 10.9.0.1 }
autonomy: { block: propose }
limits: { within: 60s, all: 5, block: 3 }
settle: 50ms
intents:
  - { id: shop, kind: protect, destination: 10.0.2.9, level: 7 }
  - { id: no-telnet, kind: block, match: { protocol: tcp, destination: 10.0.2.1, destinationPort: 23 } }
`;

const io = { env: {}, signal: new AbortController().signal } as unknown as Io;
const word = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
/** Two switches with the program of the project, and a host that sends what it should not. */
class World {
  readonly server: P4RuntimeServer;
  received = 0;
  readonly #network = new Network({ seed: 1 });
  readonly #attacker = new Host({ address: word(ATTACKER) });
  readonly #frame = udpFrame(
    { source: word(ATTACKER), destination: word('10.0.2.1'), sourcePort: 1000, destinationPort: 80 },
    new Uint8Array(958),
  );

  constructor(program: ConstructorParameters<typeof P4Switch>[0]) {
    const machines = [1, 2].map(() => new P4Switch(program));
    const [one, two] = machines.map((machine, index) => this.#network.add(`leaf${index + 1}`, machine));
    const web = new Host({ address: word('10.0.2.1') });
    const host = this.#network.add('web', web);
    this.#network.connect(one!, two!, { aPort: 1, bPort: 1, delayNs: 1000 });
    this.#network.connect(one!, this.#network.add('attacker', this.#attacker), { aPort: 11, bPort: 0, delayNs: 1000 });
    const collector = this.#network.add('collector', new Host({ address: word('10.9.0.1') }));
    this.#network.connect(one!, collector, { aPort: 60, bPort: 0, delayNs: 1000 });
    const link = this.#network.connect(two!, host, { aPort: 11, bPort: 0, delayNs: 1000 });
    this.#network.tap(link, 'ab', () => void this.received++, { where: 'in' });
    const devices = machines.map((machine, k) => ({ deviceId: k + 1, target: new P4vmTarget({ host: machine }) }));
    this.server = new P4RuntimeServer({ devices });
  }

  /** Sends packets through the switches as they are now. @returns what arrives of them, as telemetry would tell it */
  traffic(): readonly ObservedFlow[] {
    const before = this.received;
    for (let k = 0; k < 10; k++) this.#attacker.sendFrame(this.#frame);
    this.#network.run(this.#network.nowNs + 1e8);
    const packets = this.received - before;
    if (packets === 0) return [];
    return [
      {
        ...{ source: ATTACKER, destination: '10.0.2.1', protocol: 17, sourcePort: 1000, destinationPort: 80 },
        ...{ packets, bytes: 1000 * packets, path: [1, 2] },
      },
    ];
  }

  /** Entries of leaf1 that tell of the attacker. */
  async entries(of = ATTACKER): Promise<readonly string[]> {
    const client = new P4RuntimeClient({ target: this.server.transport(), deviceId: 1 });
    const found: string[] = [];
    const anything = { kind: 'table-entry', table: '', match: {} } as unknown as Entity;
    for await (const entity of client.read(anything)) {
      const text = entityText(entity);
      if (text.includes(of)) found.push(text);
    }
    await client.close();
    return found;
  }
}

export const scan = (from: number): Incident => ({
  ...{ type: 'incident', id: `scan-vertical/host:${ATTACKER}/${from}`, kind: 'scan-vertical', state: 'open', from },
  ...{ to: null, entity: `host:${ATTACKER}`, detector: 'random-walk', formula: 'L >= eta' },
  ...{ operands: { L: 1e6, eta: 99_999 }, baseline: null, windowMs: 10_000, confidence: 1, phase: 'reconnaissance' },
  ...{ otherwise: ['a monitor'], confirm: 'ask who owns it', along: [] },
  suggest: { intent: 'block', match: { source: ATTACKER }, ttlMs: 60_000 },
});

/** The build of the dashboard: threads do not know of the tests' aliases. */
const BUILT = dirname(createRequire(import.meta.url).resolve('@int/dashboard'));

export const openDashboard = (options: DashboardOptions): Promise<Dashboard> =>
  Dashboard.open({
    ...{ port: 0, thread: join(BUILT, 'dashboard-thread.js'), page: join(BUILT, 'page') },
    ...{ retention: { seconds: 60, memoryBytes: 32 << 20, flows: 1024 }, ...options },
  });

/** All tests of a process have the same switches: their program is compiled once. */
let network: ReturnType<typeof controlNetwork> | null = null;

/** A controller of the two switches with its dashboard. @param files where its configuration lies */
export async function open(files: ReturnType<typeof temporaryFolder>) {
  await files.write('topology.yaml', TOPOLOGY);
  const read = await readControl(await files.write('control.yaml', CONFIG), io, () => Date.now());
  network ??= controlNetwork(read, io);
  const { programs, model, ways } = await network;
  const [{ program }] = programs as [ControlProgram];
  const world = new World(program);
  const view = new ControlView(() => read);
  const journal = new Journal();
  let hasMeasured = false;
  const connections = ways.map((way) => new P4RuntimeConnection({ ...way, target: world.server.transport() }));
  const controller = new Controller({
    policy: policyOf(read.config),
    network: model,
    connections,
    twin: new Twin({ int: program }),
    traffic: {
      measure: (timeMs) => {
        const flows = world.traffic();
        hasMeasured ||= flows.length > 0;
        return { timeMs, seconds: 0.05, flows, dropped: [], ageMs: 0, loss: 0 };
      },
      minute: () => ({ flows: world.traffic(), seconds: 1 }),
    },
    measureMs: 50,
    reconcile: { graceMs: 1, onWritten: (written) => view.written(journal.record(written)) },
    journal,
    onNote: (note) => view.note(note),
  });
  const incidents: Incident[] = [];
  view.look({
    controller,
    knowledge: {
      open: incidents,
      hosts: () => [
        {
          ...{ host: ATTACKER, score: 1, level: 1 },
          phases: incidents.map(({ id, from, otherwise }) => ({
            ...{ phase: 'reconnaissance', evidence: 1, incident: id, timeMs: from, otherwise },
          })),
        },
      ],
      totals: () => ({ untracked: { pairs: 3 } }) as never,
    },
  });
  const dashboard = await openDashboard({ control: view });
  onTestFinished(async () => {
    await controller.stop();
    await Promise.all(connections.map((each) => each.close()));
    await world.server.close();
    await dashboard.close();
  });
  controller.start(read.intents, 'start');
  await controller.settled();
  await until('traffic', () => hasMeasured);
  const see = (incident: Incident): void => {
    incidents.push(incident);
    view.incident(incident);
    controller.give({ kind: 'incident', incident });
  };
  return {
    world,
    controller,
    view,
    journal,
    read,
    dashboard,
    see,
    client: new DashboardClient({ url: dashboard.url }),
  };
}
