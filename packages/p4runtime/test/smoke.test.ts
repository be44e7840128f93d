import { readFileSync } from 'node:fs';
import { create, toBinary, fromBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { buildProgram } from '@int/p4vm';
import { P4RuntimeServer, P4vmTarget, p4config, p4v1 } from '@int/p4runtime';
import { it } from 'vitest';
// @ts-ignore
import { p4infoOf } from '/work/w/c/packages/p4runtime/src/p4info/p4info.js';

async function* forever(first: any) { yield first; await new Promise((r) => setTimeout(r, 1500)); }

it('x', async () => {
  const text = readFileSync('/work/w/d/packages/p4runtime/test/server/everything.p4', 'utf8');
  const file = { name: 'everything.p4', text };
  const { program } = buildProgram(file);
  const raw = p4infoOf(program!);
  const info = fromBinary(p4config.P4InfoSchema, toBinary(p4config.P4InfoSchema, raw as any));
  console.log(info.tables.map((t) => t.preamble?.name), info.digests.map((d) => d.preamble?.name), info.registers.map(r => JSON.stringify(r.typeSpec)));
  const target = new P4vmTarget({ cpuPort: 510 });
  const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
  const { port } = await server.listen({ port: 0 });
  for (const transport of [server.transport(), createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` })]) {
    const client = createClient(p4v1.P4Runtime, transport);
    console.log(await client.capabilities({}));
    const stream = client.streamChannel(forever({ update: { case: 'arbitration', value: { deviceId: 1n, electionId: { low: 1n } } } }));
    const it = stream[Symbol.asyncIterator]();
    console.log(JSON.stringify((await it.next()).value, (_, v) => typeof v === 'bigint' ? String(v) : v));
    await client.setForwardingPipelineConfig({ deviceId: 1n, electionId: { low: 1n }, action: 3, config: { p4info: info, p4DeviceConfig: new TextEncoder().encode(text) } });
    const table = info.tables.find((t) => t.preamble?.name === 'I.stations')!;
    const action = info.actions.find((t) => t.preamble?.name === 'I.forward')!;
    const update = { type: 1, entity: { entity: { case: 'tableEntry', value: { tableId: table.preamble!.id, match: [{ fieldId: 1, fieldMatchType: { case: 'exact', value: { value: Uint8Array.of(1, 2, 3, 4, 5, 6) } } }], action: { type: { case: 'action', value: { actionId: action.preamble!.id, params: [{ paramId: 1, value: Uint8Array.of(7) }] } } } } } } } as const;
    await client.write({ deviceId: 1n, electionId: { low: 1n }, updates: [update] });
    try { await client.write({ deviceId: 1n, electionId: { low: 1n }, updates: [update] }); } catch (e: any) { console.log(e.message, e.findDetails(p4v1.ErrorSchema)); }
    for await (const r of client.read({ deviceId: 1n, entities: [{ entity: { case: 'tableEntry', value: { counterData: {} } } }] })) for (const e of r.entities) console.log(JSON.stringify(e, (_, v) => typeof v === 'bigint' ? String(v) : v));
    // leave
    const config = await client.getForwardingPipelineConfig({ deviceId: 1n });
    console.log(config.config?.p4DeviceConfig.length, config.config?.p4info?.tables.length);
    await it.return?.();
    await new Promise((r) => setTimeout(r, 1600));
    console.log('streams', server.streams);
  }
  await server.close();
});
