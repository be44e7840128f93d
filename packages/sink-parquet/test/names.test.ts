import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { encodeFrame, telemetry } from '@int/codec';
import { Topology } from '@int/network';
import { History } from '@int/sink-parquet';
import { describe, expect, test } from 'vitest';
import { batchOf, HOUR_NS } from './batches.js';
import { folder, open } from './folder.js';

const topology = new Topology({
  switches: {
    1: { name: "leaf'1", ports: { 9: { to: '4000000000:3', speed: '10G' }, 10: { name: 'up "link"' } } },
    4000000000: { name: 'spine' },
    7: {},
  },
});

async function metadataOf(directory: string): Promise<unknown[]> {
  const files = (await readdir(directory, { recursive: true })).filter((name) =>
    /part-.*parquet$|pack-.*parquet$/.test(name),
  );
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  return Promise.all(
    files.map(async (file) => {
      const result = await connection.runAndReadAll(
        `SELECT decode(value) FROM parquet_kv_metadata('${join(directory, file)}') WHERE decode(key) = 'int_switch_names'`,
      );
      return result.getRows()[0]?.[0] ?? null;
    }),
  );
}

describe('names of switches', () => {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1, destinationPort: 2 };
  const hops = [
    { nodeId: 1, l1IngressInterface: 1, l1EgressInterface: 9 },
    { nodeId: 4000000000, l1IngressInterface: 3, l1EgressInterface: 4 },
    { nodeId: 8, l1IngressInterface: 3, l1EgressInterface: 4 },
  ];
  const batch = () =>
    batchOf([{ bytes: encodeFrame(telemetry({ flow, hops, report: { nodeId: 8 } })), timeNs: HOUR_NS, options: {} }]);

  test('are in the metadata of files', async () => {
    const directory = await folder();
    for (const names of [topology, topology]) {
      const sink = await open({ directory, names });
      await sink.write(batch());
      await sink.close();
    }
    const json = JSON.stringify({ 1: "leaf'1", 4000000000: 'spine' });
    expect(await metadataOf(directory)).toEqual([json, json]);
    const plain = await folder();
    const sink = await open({ directory: plain });
    await sink.write(batch());
    await sink.close();
    expect(await metadataOf(plain)).toEqual([null]);
  });

  test('are tables of a history that knows a topology, for old files as well', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    await sink.write(batch());
    await sink.close();
    const history = await History.open({ directory, names: topology });
    expect(
      await history.rows(
        'SELECT nodeId, nodeName, portName FROM hops LEFT JOIN switches USING (nodeId) LEFT JOIN ports ON ports.nodeId = hops.nodeId AND port = l1EgressInterface ORDER BY hop',
      ),
    ).toEqual([
      { nodeId: 1, nodeName: "leaf'1", portName: 'to spine' },
      { nodeId: 4000000000, nodeName: 'spine', portName: null },
      { nodeId: 8, nodeName: null, portName: null },
    ]);
    expect(await history.rows('FROM ports ORDER BY port')).toEqual([
      { nodeId: 1, port: 9, portName: 'to spine', peerId: 4000000000, peerPort: 3, speedBps: 1e10 },
      { nodeId: 1, port: 10, portName: 'up "link"', peerId: null, peerPort: null, speedBps: null },
    ]);
    await expect(history.rows('DROP TABLE switches')).rejects.toThrow();
    history.close();
    const many = new Topology({
      switches: Object.fromEntries(Array.from({ length: 2500 }, (_, id) => [String(id), { name: `s-${id}` }])),
    });
    const large = await History.open({ directory, names: many });
    expect(await large.rows('SELECT count(*) AS n FROM switches')).toEqual([{ n: 2500 }]);
    large.close();
  });
});
