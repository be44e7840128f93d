/** int control is killed in the middle of its work, and goes on. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { encodeFrame, type TelemetryParts, telemetry } from '@int/codec';
import { questionsOf } from '@int/control/internals';
import { type Entity, P4RuntimeClient, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { payload, send } from './datagrams.js';
import { Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const PROGRAM = fileURLToPath(new URL('../../../p4/int.p4', import.meta.url));
const MS = 240_000;
/** Two times to live, on a machine that is busy. */
const PATIENCE_MS = 90_000;
const TOPOLOGY = `
switches:
  1: { name: leaf1, ports: { 1: { to: 'leaf2:1', speed: 10M }, 11: { to: host a }, 60: { to: host collector } } }
  2: { name: leaf2, ports: { 11: { to: host b } } }
hosts: { a: { addresses: [0.0.0.0/0] }, b: { addresses: [10.0.2.1] }, collector: { addresses: [10.9.0.1] } }
`;
const SCANNER = '198.51.100.66';

const server = new P4RuntimeServer({ devices: [1, 2].map((deviceId) => ({ deviceId, target: new P4vmTarget() })) });
let config: string;
beforeAll(async () => {
  const { port } = await server.listen({ port: 0 });
  await files.write('topology.yaml', TOPOLOGY);
  config = await files.write(
    'control.yaml',
    `version: 1
sources: [{ udp: { listen: '127.0.0.1:0' } }]
topology: topology.yaml
program: ${PROGRAM}
switches:
  leaf1: { target: '127.0.0.1:${port}', deviceId: 1 }
  leaf2: { target: '127.0.0.1:${port}', deviceId: 2 }
collector: { address: 10.9.0.1 }
autonomy: { block: act }
settle: 1s
ttl: { block: 8s }
reportOneIn: 10
journal: journal
intents:
  - { id: no-telnet, kind: block, match: { source: 10.7.0.0/16, protocol: tcp, destination: 10.0.2.1, destinationPort: 23 } }
`,
  );
  // What the switches have is asked for beside the controller, by a client that has no session.
  client = new P4RuntimeClient({ target: `127.0.0.1:${port}`, deviceId: 1 });
});
let client: P4RuntimeClient;
afterAll(async () => {
  await client.close();
  await server.close();
});

/** Entries of the first switch that have to do with an intent or a source. */
async function blocks(of: string): Promise<readonly string[]> {
  const found: string[] = [];
  const pipeline = await client.getPipeline();
  if (pipeline === undefined) return [];
  for await (const entity of client.read(...questionsOf(pipeline.p4info, []))) {
    if (entity.kind === 'table-entry' && nameOf(entity).startsWith(of)) found.push(text(entity));
  }
  return found.sort();
}

const nameOf = (entity: Entity & { kind: 'table-entry' }): string =>
  Buffer.from(entity.metadata ?? [])
    .toString()
    .slice('intc'.length);

function text({ table, match, action }: Entity & { kind: 'table-entry' }): string {
  return JSON.stringify({ table, match, action }, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
}

/** Telemetry of a network: always something, and a scan or what is left of it. */
class Telemetry {
  scans = false;
  drops: boolean;
  /** Reports that get lost, each time. */
  lost = 0;
  #sequence = 0;
  #port = 1;
  readonly #timer: NodeJS.Timeout;

  constructor(port: number, drops: boolean) {
    this.drops = drops;
    this.#timer = setInterval(() => {
      const usual = { source: '10.0.1.5', destination: '10.0.2.1', protocol: 6, sourcePort: 4000, destinationPort: 80 };
      const reports = [this.#report({ flow: usual }, 0x10)];
      const probe = { source: SCANNER, destination: '10.0.2.1', protocol: 6, sourcePort: 4001 };
      if (this.scans) {
        const flow = { ...probe, destinationPort: this.#port++ };
        const back = {
          source: flow.destination,
          destination: flow.source,
          protocol: 6,
          sourcePort: flow.destinationPort,
        };
        reports.push(this.#report({ flow }, 0x02), this.#report({ flow: { ...back, destinationPort: 4001 } }, 0x14));
      }
      if (this.drops) {
        const report = { dropped: true, dropReason: 3 };
        reports.push(this.#report({ flow: { ...probe, destinationPort: this.#port++ }, report, hops: [] }, 0x02));
      }
      // Numbers of reports that are not sent.
      this.#sequence += this.lost;
      void send(port, reports);
    }, 50);
    onTestFinished(() => this.stop());
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #report({ report, hops, flow }: TelemetryParts, tcpFlags: number): Uint8Array {
    const path = flow!.source === '10.0.2.1' ? [2, 1] : [1, 2];
    const frame = encodeFrame(
      telemetry({
        flow: flow!,
        hops: hops ?? path.map((nodeId) => ({ nodeId, hopLatency: 100 })),
        report: { ...report, nodeId: path[1]!, sequence: this.#sequence++ },
      }),
    );
    const bytes = payload(frame);
    const source = Buffer.from(flow!.source!.split('.').map(Number));
    // Behind the address: that of the destination, then TCP.
    bytes[Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(source) + 8 + 13] = tcpFlags;
    return bytes;
  }
}

type Line = Record<string, unknown> & { readonly what?: string; readonly proposal?: string | null };

/** The command, its notes, and telemetry for it. */
async function started(
  drops: boolean,
): Promise<{ command: Running; telemetry: Telemetry; lines: () => Line[]; note: Note }> {
  const command = new Running(['control', '--config', config, '--json'], { open: true });
  const [, port] = await command.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
  const traffic = new Telemetry(Number(port), drops);
  await command.saying(/controlling 2 switches/);
  const lines = (): Line[] =>
    command.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const note: Note = async (what, proposal) => {
    const find = (): Line | undefined =>
      lines().find((line) => line.what === what && (proposal === undefined || line.proposal === proposal));
    const shown = (): string => command.stderr + command.stdout.slice(-3000);
    await until(`the note ${what}`, () => find() !== undefined, { withinMs: PATIENCE_MS, found: shown });
    return find()!;
  };
  return { command, telemetry: traffic, lines, note };
}
type Note = (what: string, proposal?: string) => Promise<Line>;

const settled = async (what: string, of: string, holds: (found: readonly string[]) => boolean): Promise<void> => {
  let found: readonly string[] = [];
  await until(
    what,
    async () => {
      found = await blocks(of);
      return holds(found);
    },
    { found: () => found },
  );
};

it(
  'keeps, renews and ends what it has made as if it had not been killed; single entries are undone and stay so',
  async () => {
    const first = await started(false);
    await settled('the block of people', 'no-telnet', (found) => found.length > 0);
    const telnet = await blocks('no-telnet');

    // Entries of an intent come and go together.
    const written = (): { entry: number; change: { intents: string[] } }[] =>
      first.lines().flatMap((line) => (line.type === 'written' ? (line.results as never[]) : []));
    const ofTelnet = (): number[] =>
      written()
        .filter(({ change }) => change.intents.includes('no-telnet'))
        .map(({ entry }) => entry);
    await first.command.until(() => ofTelnet().length > telnet.length);
    const [one, ...rest] = ofTelnet();
    first.command.child.stdin!.write(`undo ${one}\n`);
    const ranges = await first.command.saying(/entries [\d -]+ of no-telnet depend on it: undo ([\d -]+)/);
    expect(rest.length).toBeGreaterThan(0);
    first.command.child.stdin!.write('undo 99999\n');
    await first.command.saying(/entry 99999 is not remembered/);
    first.command.child.stdin!.write(`undo ${ranges[1]}\n`);
    await settled('the block to be gone', 'no-telnet', (found) => found.length === 0);

    first.telemetry.scans = true;
    const { proposal } = await first.note('proposed');
    const id = proposal!;
    first.telemetry.scans = false;
    await first.note('verified', id);
    const scanner = await blocks(id);
    expect(scanner.length).toBeGreaterThan(0);
    const entry = written().find(({ change }) => change.intents.some((each) => each.startsWith(id)))!;
    first.command.child.stdin!.write(`undo ${entry.entry}\n`);
    await first.command.saying(new RegExp(`whose entries come and go together: undo ${id}`));

    first.telemetry.stop();
    first.command.child.kill('SIGKILL');
    await first.command.end();
    expect(await blocks(id)).toEqual(scanner);

    // Nothing is different, though the file alone would ask for other entries.
    const dry = await run(['control', '--config', config, '--dry-run', '--json']);
    expect(dry.stdout.match(/"changes":\[\]/g)).toHaveLength(2);

    const second = await started(true);
    await second.note('restored');
    // The folder of the one that was killed is taken over; that of one that runs is not.
    const third = await run(['control', '--config', config]);
    expect(third).toMatchObject({ code: 3, stdout: '' });
    expect(third.stderr).toContain(`journal: process ${second.command.child.pid} uses it; a second controller needs`);
    await second.note('renewed', id);
    expect(await blocks(id)).toEqual(scanner);
    expect(await blocks('no-telnet')).toEqual([]);
    expect(second.lines().filter(({ type }) => type === 'written')).toEqual([]);
    second.telemetry.drops = false;
    await second.note('expired', id);
    await settled('the block to be gone', id, (found) => found.length === 0);
    // One of what was undone together brings all back.
    second.command.child.stdin!.write(`redo ${one}\n`);
    await settled('the block of people', 'no-telnet', (found) => found.length === telnet.length);
    expect(await blocks('no-telnet')).toEqual(telnet);

    // Gaps in the numbers of reports: nothing is done by itself, and the journal says so.
    const sight = (): unknown => second.lines().findLast(({ what }) => what === 'blind' || what === 'sighted')?.what;
    await second.command.until(() => sight() !== 'blind');
    const seen = second.lines().length;
    const since = (what: string): Line | undefined =>
      second
        .lines()
        .slice(seen)
        .find((line) => line.what === what);
    second.telemetry.lost = 3;
    await second.command.until(() => since('blind') !== undefined);
    expect(since('blind')!.reason).toMatch(/^nothing is done by itself: \d+\.\d % of the reports are lost$/);
    second.telemetry.lost = 0;
    await second.command.until(() => since('sighted') !== undefined);
    second.telemetry.stop();
    second.command.child.kill('SIGTERM');
    expect((await second.command.end()).code).toBe(0);

    // What is damaged is told, and never taken as empty.
    const memory = files.path('journal/memory.json');
    const whole = await readFile(memory, 'utf8');
    await writeFile(memory, whole.slice(0, -20));
    const changes = files.path('journal/changes.jsonl');
    const kept = await readFile(changes, 'utf8');
    const damaged = await run(['control', '--config', config]);
    expect(damaged).toMatchObject({ code: 3, stdout: '' });
    expect(damaged.stderr).toContain('memory.json: damaged, its checksum does not agree; without it all that the loop');
    expect(await readFile(changes, 'utf8')).toBe(kept);
  },
  MS,
);
