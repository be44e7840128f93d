import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { P4RuntimeServer, P4vmTarget, p4config, p4v1 } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';

const PROGRAM = `
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
struct headers { ethernet_t ethernet; }
struct metadata { }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action forward(bit<9> port) { standard.egress_spec = port; }
    table stations {
        key = { hdr.ethernet.destination: exact; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply { stations.apply(); }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
const [TABLE, FORWARD, DROP] = [0x0200_0001, 0x0100_0001, 0x0100_0002];
const INFO = create(p4config.P4InfoSchema, {
  tables: [
    {
      preamble: { id: TABLE, name: 'I.stations' },
      matchFields: [{ id: 1, name: 'hdr.ethernet.destination', bitwidth: 48, match: { case: 'matchType', value: 2 } }],
      actionRefs: [{ id: FORWARD }, { id: DROP }],
      size: 1024n,
    },
  ],
  actions: [
    { preamble: { id: FORWARD, name: 'I.forward' }, params: [{ id: 1, name: 'port', bitwidth: 9 }] },
    { preamble: { id: DROP, name: 'I.drop' } },
  ],
});
const STATION = Uint8Array.of(2, 0, 0, 0, 0, 7);
const election = { deviceId: 1n, electionId: { low: 1n } };

async function drive(transport: Transport, target: P4vmTarget): Promise<void> {
  const client = createClient(p4v1.P4Runtime, transport);
  const stream = new AbortController();
  const answers = client.streamChannel(
    (async function* () {
      yield create(p4v1.StreamMessageRequestSchema, { update: { case: 'arbitration', value: election } });
      await new Promise((resolve) => stream.signal.addEventListener('abort', resolve));
    })(),
    { signal: stream.signal },
  );
  const { value } = await answers[Symbol.asyncIterator]().next();
  expect(value?.update.case === 'arbitration' && value.update.value.status?.code).toBe(0);
  await client.setForwardingPipelineConfig({
    ...election,
    action: p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY_AND_COMMIT,
    config: { p4info: INFO, p4DeviceConfig: new TextEncoder().encode(PROGRAM) },
  });
  const update = create(p4v1.UpdateSchema, {
    type: p4v1.Update_Type.INSERT,
    entity: {
      entity: {
        case: 'tableEntry',
        value: {
          tableId: TABLE,
          match: [{ fieldId: 1, fieldMatchType: { case: 'exact', value: { value: STATION } } }],
          action: {
            type: {
              case: 'action',
              value: { actionId: FORWARD, params: [{ paramId: 1, value: Uint8Array.of(7) }] },
            },
          },
        },
      },
    },
  });
  await client.write({ ...election, updates: [update] });
  const again = await client.write({ ...election, updates: [update] }).catch((error) => ConnectError.from(error));
  expect(again).toMatchObject({ code: Code.Unknown });
  expect((again as ConnectError).findDetails(p4v1.ErrorSchema)).toMatchObject([{ canonicalCode: Code.AlreadyExists }]);
  const entities: p4v1.Entity[] = [];
  const filter = { entity: { case: 'tableEntry', value: { tableId: TABLE } } } as const;
  for await (const response of client.read({ deviceId: 1n, entities: [filter] })) entities.push(...response.entities);
  expect(entities).toEqual([update.entity]);
  const frame = new Uint8Array(64);
  frame.set(STATION);
  expect(target.machine?.process(0, frame)).toEqual([{ port: 7, frame }]);
  stream.abort();
}

describe('a server with a machine behind it', () => {
  it('is driven in the same process', async () => {
    const target = new P4vmTarget();
    const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
    await drive(server.transport(), target);
    await server.close();
  });

  it('is driven over gRPC', async () => {
    const target = new P4vmTarget();
    const server = new P4RuntimeServer({ devices: [{ deviceId: 1, target }] });
    const { host, port } = await server.listen({ port: 0 });
    await drive(createGrpcTransport({ baseUrl: `http://${host}:${port}` }), target);
    await server.close();
  });
});
