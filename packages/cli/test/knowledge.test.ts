import { gzipSync } from 'node:zlib';
import { type Incident, KnowledgePlane } from '@int/knowledge';
import { type AttackKind, type LabelledPacket, labelledFrame, labelledTraffic } from '@int/netsim';
import { LinkType, PcapWriter } from '@int/pcap';
import { describe, expect, test } from 'vitest';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** Two minutes of an office, in whole microseconds, as captures have them. */
function packets(kind: AttackKind): LabelledPacket[] {
  const all = labelledTraffic({ kind, seed: 11, seconds: 120, attackFrom: 70, attackSeconds: 10 }).packets;
  return Array.from(all, (packet) => ({ ...packet, timeMs: Math.round(packet.timeMs * 1000) / 1000 }));
}

function capture(all: readonly LabelledPacket[]): Buffer {
  const writer = new PcapWriter({ linkType: LinkType.ETHERNET });
  const chunks = [writer.header()];
  for (const packet of all) {
    const timeNs = BigInt(Math.round(packet.timeMs * 1000)) * 1000n;
    chunks.push(writer.record({ data: labelledFrame(packet), timeNs, linkType: LinkType.ETHERNET }));
  }
  return Buffer.concat(chunks);
}

function incidentsOf(all: readonly LabelledPacket[]): Incident[] {
  const told: Incident[] = [];
  const plane = new KnowledgePlane({}, { incident: (incident) => told.push(incident) });
  for (const packet of all) plane.packet(packet);
  plane.finish();
  return told;
}

describe('int knowledge', () => {
  test('says of a capture what the plane says of its packets, then a summary', async () => {
    const all = packets('syn-flood');
    const path = await files.write('flood.pcap', capture(all));
    const { code, stdout, stderr } = await run(['knowledge', path, '--json']);
    const lines = ndjson(stdout);
    const expected = incidentsOf(all);
    expect([code, stderr]).toEqual([0, '']);
    expect(expected.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['syn-flood open', 'syn-flood close']);
    expect(lines.slice(0, -1)).toEqual(expected);
    expect(lines.at(-1)).toMatchObject({
      type: 'summary',
      frames: all.length,
      packets: all.length,
      incidents: 1,
      badLines: 0,
    });
  });

  test('says for people what was found, why, and what else it may be', async () => {
    const path = await files.write('scan.pcap', capture(packets('scan-vertical')));
    const { code, stdout } = await run(['knowledge', path]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      / {2}scan-vertical 198\.51\.100\.66, confidence 1\.00, phase reconnaissance\n {2}because ln L = /,
    );
    expect(stdout).toMatch(/ {2}where {3}failures 9, successes 0, theta0 0\.8, theta1 0\.2, ln L 12\.477,/);
    expect(stdout).toContain('  unless  it is a client whose servers are down, or ');
    expect(stdout).toContain('  suggest block source 198.51.100.66 for 600 s\n');
    expect(stdout).toMatch(/scan-vertical 198\.51\.100\.66 is over after \d+\.\d s\n/);
    expect(stdout).toMatch(/^host 198\.51\.100\.66: score 1\.00 at level 1: reconnaissance 1\.00$/m);
  });

  test('finds nothing in a calm office', async () => {
    const path = await files.write('calm.pcap', capture(packets('calm')));
    const { stdout } = await run(['knowledge', path]);
    expect(stdout).toMatch(
      /^0 incidents in [\d,]+ packets, 0 of them by telemetry\nnot judged: exfiltration and unusual edges, in 0\.0 h of the 24\.0 h of --learn-edges\n$/,
    );
  });

  test('reads flow logs, whose lines are in the order in which connections ended, and tells of bad lines', async () => {
    const line = (port: number, ts: number): string =>
      JSON.stringify({
        ts,
        'id.orig_h': '10.0.0.9',
        'id.orig_p': 40_000,
        'id.resp_h': '10.1.0.1',
        'id.resp_p': port,
        proto: 'tcp',
        conn_state: 'S0',
        orig_pkts: 1,
      });
    const lines = Array.from({ length: 12 }, (_, k) => line(k + 1, 1_700_000_000 + ((k * 5) % 12)));
    const path = await files.write('conn.log', [...lines.slice(0, 6), 'not a line', ...lines.slice(6)].join('\n'));
    const { code, stdout, stderr } = await run(['knowledge', path, '--json']);
    expect(code).toBe(1);
    expect(stderr).toContain(`${path}: line 7: there is no #fields line before it`);
    const [opened, closed, summary] = ndjson(stdout);
    expect([opened, closed]).toMatchObject([
      { type: 'incident', kind: 'scan-vertical', entity: 'host:10.0.0.9', state: 'open', operands: { failures: 9 } },
      { type: 'incident', state: 'close' },
    ]);
    expect(summary).toMatchObject({ connections: 12, badLines: 1, untracked: { late: 0 } });
  });

  test('takes rotated logs together, and of a damaged one what came before', async () => {
    const lines = Array.from({ length: 12 }, (_, k) =>
      JSON.stringify({
        ...{ ts: 1_700_000_000 + k, 'id.orig_h': '10.0.0.9', 'id.orig_p': 40_000, 'id.resp_h': '10.1.0.1' },
        ...{ 'id.resp_p': k + 1, proto: k === 11 ? 'sctp' : 'tcp', conn_state: 'REJ' },
      }),
    );
    // What began first ended last, and is in the second file.
    const later = await files.write('1.log', `${lines.slice(6).join('\n')}\n`);
    const whole = gzipSync(`${lines.slice(0, 6).join('\n')}\n`);
    const earlier = await files.write('2.log.gz', whole.subarray(0, whole.length - 4));
    const { code, stdout, stderr } = await run(['knowledge', later, earlier, '--json', '--learn-edges', '0']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${earlier}: gzip: unexpected end of file`)]);
    expect(ndjson(stdout)[0]).toMatchObject({ kind: 'scan-vertical', from: 1_700_000_000_000, windowMs: 8000 });
    expect(ndjson(stdout).at(-1)).toMatchObject({ connections: 11, passedOver: 1, untracked: { late: 0 } });
  });

  test('says that it cannot read frames of a link type', async () => {
    const writer = new PcapWriter({ linkType: 105 });
    const record = writer.record({ data: new Uint8Array(60), timeNs: 1n, linkType: 105 });
    const path = await files.write('wireless.pcap', Buffer.concat([writer.header(), record]));
    const { code, stderr } = await run(['knowledge', path]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('1 frame of a link type other than')]);
  });

  test('finds in a history what it finds in the reports that it was made of', async () => {
    const calm = await run(['generate', '--packets', '3000', '--rate', '30', '--flows', '8', '-o', '-']);
    const text = await run(['decode', '-', '--json'], { input: calm.bytes });
    const records = ndjson(text.stdout) as { timeNs: string; hops: { nodeId: number; hopLatency: number }[] }[];
    const from = BigInt(records[0]!.timeNs) + 80_000_000_000n;
    for (const { timeNs, hops } of records) {
      for (const hop of hops) hop.hopLatency = 1000 + (hop.hopLatency % 50) + (BigInt(timeNs) > from ? 90_000 : 0);
    }
    const lines = records.map((record) => JSON.stringify(record)).join('\n');
    const slow = await files.write('slow.pcap', '');
    await run(['encode', '-', '-o', slow], { input: lines });
    const store = files.path('history');
    const config = await files.write(
      'int.yaml',
      `version: 1\nsources: [{ pcap: { file: ${slow} } }]\nsinks: [{ parquet: { directory: ${store} } }]\n`,
    );
    expect((await run(['collect', '--config', config])).code).toBe(0);
    const [ofCapture, ofHistory] = [
      ndjson((await run(['knowledge', slow, '--json'])).stdout),
      await run(['knowledge', store, '--json']),
    ];
    expect(ofHistory.code).toBe(0);
    expect(ofCapture.filter(({ kind }) => kind === 'congestion').length).toBeGreaterThan(0);
    const told = (lines: ReturnType<typeof ndjson>): unknown[] =>
      lines.slice(0, -1).map(({ id, state, to }) => [id, state, to]);
    expect(told(ndjson(ofHistory.stdout))).toEqual(told(ofCapture));
    expect(ndjson(ofHistory.stdout).at(-1)).toMatchObject({ packets: records.length, frames: records.length });
  });

  test.each([
    [['knowledge'], "missing required argument 'FILE'"],
    [['knowledge', '-', '-'], 'standard input can be read once'],
    [['knowledge', 'x.pcap', '--inside', '10.0.0.0/99'], "'10.0.0.0/99' is no prefix"],
  ])('%j is a usage error', async (args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('a damaged capture is said, and what came before it counts', async () => {
    const whole = capture(packets('scan-vertical'));
    const path = await files.write('cut.pcap', whole.subarray(0, whole.length - 10));
    const { code, stdout, stderr } = await run(['knowledge', path]);
    expect(code).toBe(1);
    expect(stderr).toContain(path);
    expect(stdout).toContain('scan-vertical 198.51.100.66');
  });
});
