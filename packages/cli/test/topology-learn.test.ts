import { encodeFrame, encodeReport, type Hop, telemetry } from '@int/codec';
import { parseTopology } from '@int/traffic';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { pcap } from './captures.js';
import { send } from './datagrams.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const FABRIC = 'leaf-spine:4x2';
const FLOW = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 4000, destinationPort: 80 };

interface LearntFile {
  readonly switches: Readonly<Record<string, { ports: Record<string, { to?: string }>; links?: string[] } | null>>;
}

describe('int topology learn', () => {
  let fabric = '';

  beforeAll(async () => {
    fabric = files.path('fabric.pcap');
    const made = await run(['generate', '--topology', FABRIC, '--packets', '4000', '--flows', '2000', '-o', fabric]);
    expect(made.code).toBe(0);
  });

  test('writes the fabric that the telemetry is of, in a form that --topology reads', async () => {
    const path = files.path('learnt.yaml');
    const { code, stdout, stderr } = await run(['topology', 'learn', fabric, '-o', path]);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe('int: learnt from 4,000 reports: 6 switches, 48 ports, 8 links\n');
    const text = (await run(['topology', 'learn', fabric])).stdout;
    const learnt = parse(text) as LearntFile;
    const topology = parseTopology(FABRIC);
    for (const [index, { id, ports }] of topology.switches.entries()) {
      for (let port = 1; port <= ports; port++) {
        const peer = topology.peer(index, port);
        const expected = peer.kind === 'host' ? undefined : `${topology.switches[peer.switchIndex]!.id}:${peer.port}`;
        expect(learnt.switches[id]?.ports[port]?.to, `${id}:${port}`).toBe(expected);
        if (peer.kind === 'host') expect(text).toContain(`${port}: {} # hosts in ${topology.host(peer.host).address};`);
      }
    }
    const decoded = await run(['decode', fabric, '--json', '--topology', path]);
    expect(decoded.stderr).toBe('');
    expect(decoded.stdout).toContain('"l1EgressInterface":9,"l1EgressName":"to 5"');
  });

  test('never replaces a file without --force', async () => {
    const path = await files.write('kept.yaml', 'switches: { 1: { name: mine } }\n');
    const refused = await run(['topology', 'learn', fabric, '-o', path]);
    expect([refused.code, refused.stderr]).toEqual([3, `int: ${path} exists; --force replaces it\n`]);
    const [before] =
      (await run(['decode', fabric, '--json', '--topology', path])).stdout.match(/"nodeName":"mine"/) ?? [];
    expect(before).toBeDefined();
    expect((await run(['topology', 'learn', fabric, '-o', path, '--force'])).code).toBe(0);
    expect((await run(['decode', fabric, '--json', '--topology', path])).stdout).not.toContain('mine');
    expect((await run(['topology', 'learn', fabric, '-o', files.path('no/such/folder.yaml')])).code).toBe(3);
  });

  test('marks what contradicts, and says what did not fit', async () => {
    const hop = (nodeId: number, l1IngressInterface: number, l1EgressInterface: number): Hop => ({
      nodeId,
      l1IngressInterface,
      l1EgressInterface,
    });
    const path = (...hops: Hop[]): Uint8Array =>
      encodeFrame(telemetry({ flow: FLOW, hops, report: { nodeId: hops.at(-1)!.nodeId! } }));
    const capture = await files.write(
      'contradicting.pcap',
      pcap([path(hop(1, 1, 9), hop(2, 4, 1)), path(hop(1, 1, 9), hop(2, 4, 1)), path(hop(1, 1, 9), hop(3, 7, 1))]),
    );
    const { stdout, stderr, code } = await run(['topology', 'learn', capture]);
    expect(code).toBe(0);
    expect(stdout).toContain("      9: { to: '2:4' } # contradicts: also 3:7 in 1 of 3 packets; in 0, out 3\n");
    expect(stderr).toContain('1 port with several peers: see "contradicts" in the result');
    const small = await run(['topology', 'learn', capture, '--switches', '2', '--ports', '1', '--json']);
    expect(small.code).toBe(1);
    expect(small.stderr).toContain('no room for further sightings: 1 of a switch,');
    expect(small.stderr).toContain('raise --switches, --ports');
    expect(ndjson(small.stdout)).toEqual([
      expect.objectContaining({
        type: 'topology',
        reports: 3,
        untracked: { switches: 1, ports: expect.any(Number), links: 0 },
      }),
    ]);
  });

  test('learns from the network until there is enough, and says if nothing was learnt', async () => {
    const payload = encodeReport(
      telemetry({ flow: FLOW, hops: [{ nodeId: 7 }, { nodeId: 8 }], report: { nodeId: 8 } }),
    );
    const learning = new Running(['topology', 'learn', '--listen', 'udp://127.0.0.1:0', '--reports', '5']);
    const match = await learning.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
    await send(
      Number(match[1]),
      Array.from({ length: 8 }, () => payload),
    );
    const { code, stdout, stderr } = await learning.end();
    expect([code, stderr]).toEqual([0, expect.stringContaining('learnt from 5 reports: 2 switches, 0 ports, 1 link')]);
    expect(stdout).toContain("  7: # 5 hops\n    links: ['8']\n  8: # 5 hops\n");
    const empty = await files.write('empty.pcap', pcap([]));
    const nothing = await run(['topology', 'learn', empty, '-o', files.path('empty.yaml')]);
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('nothing was learnt: 0 reports')]);
    expect((await run(['topology', 'learn'])).code).toBe(2);
  });
});
