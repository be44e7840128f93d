/** `int p4 serve` as controllers see it: over P4Runtime. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import type { SecureClientSessionOptions } from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { type p4config, p4infoOf, p4v1 } from '@int/p4runtime';
import { buildProgram } from '@int/p4vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freeUdpPort } from '../../../.ci/test/ports.mjs';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { ndjson, Running, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();
const LOCAL = '127.0.0.1';
const CPU = 510;

/** Sends by a table; what misses goes to the controller. `mark` tells programs apart. */
function program(mark: number): string {
  return `#include <core.p4>
#include <v1model.p4>
@controller_header("packet_in") header in_t { bit<9> ingress_port; bit<7> padding; }
@controller_header("packet_out") header out_t { bit<9> egress_port; bit<7> padding; }
header h_t { bit<8> a; bit<8> b; }
struct headers { in_t to_controller; out_t of_controller; h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { transition select(s.ingress_port) { ${CPU}: controller; default: usual; } }
  state controller { p.extract(hdr.of_controller); transition usual; }
  state usual { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  action to(bit<9> port) { s.egress_spec = port; }
  action punt() {
    s.egress_spec = ${CPU};
    hdr.to_controller.setValid();
    hdr.to_controller.ingress_port = s.ingress_port;
    hdr.to_controller.padding = 0;
  }
  table t { key = { hdr.h.a: exact; } actions = { to; punt; } default_action = punt(); size = 16; }
  apply {
    if (hdr.of_controller.isValid()) {
      s.egress_spec = hdr.of_controller.egress_port;
      hdr.of_controller.setInvalid();
    } else { t.apply(); }
    hdr.h.b = ${mark};
  }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.to_controller); p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
}

function configOf(text: string): { p4info: p4config.P4Info; p4DeviceConfig: Uint8Array } {
  const { program: built } = buildProgram({ name: 'test.p4', text });
  return { p4info: p4infoOf(built!), p4DeviceConfig: new TextEncoder().encode(text) };
}

/** The other end of a port's tunnel. */
async function tunnel(): Promise<{ spec: string; arrived: number[][]; send(...bytes: number[]): void }> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => socket.bind(0, LOCAL, resolve));
  const port = await freeUdpPort();
  const arrived: number[][] = [];
  socket.on('message', (frame) => arrived.push([...frame]));
  return {
    spec: `udp:${LOCAL}:${port}-${LOCAL}:${socket.address().port}`,
    arrived,
    send: (...bytes) => socket.send(Uint8Array.from(bytes), port, LOCAL),
  };
}

/** A controller that is primary, with the packets that have come to it. */
class Controller {
  readonly packets: number[][] = [];
  readonly client: Client<typeof p4v1.P4Runtime>;
  readonly #waiting: p4v1.StreamMessageRequest[] = [];
  #wake: () => void = () => {};
  isPrimary = false;

  constructor(
    url: string,
    readonly deviceId: bigint,
  ) {
    this.client = createClient(p4v1.P4Runtime, createGrpcTransport({ baseUrl: url }));
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    void this.#read(ending.signal).catch(() => {});
  }

  get election() {
    return { deviceId: this.deviceId, electionId: { low: 1n } };
  }

  send(update: p4v1.StreamMessageRequest['update']): void {
    this.#waiting.push(create(p4v1.StreamMessageRequestSchema, { update }));
    this.#wake();
  }

  setPipeline(text: string) {
    return this.client.setForwardingPipelineConfig({
      ...this.election,
      action: p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY_AND_COMMIT,
      config: configOf(text),
    });
  }

  /** Sends frames that begin with a byte by a port. */
  async insert(info: p4config.P4Info, byte: number, port: number): Promise<void> {
    const id = (name: string): number => info.actions.find(({ preamble }) => preamble?.name === name)!.preamble!.id;
    const match = [{ fieldId: 1, fieldMatchType: { case: 'exact' as const, value: { value: Uint8Array.of(byte) } } }];
    const call = { actionId: id('I.to'), params: [{ paramId: 1, value: Uint8Array.of(port) }] };
    const tableId = info.tables[0]!.preamble!.id;
    const value = { tableId, match, action: { type: { case: 'action' as const, value: call } } };
    const update = { type: p4v1.Update_Type.INSERT, entity: { entity: { case: 'tableEntry' as const, value } } };
    await this.client.write({ ...this.election, updates: [update] });
  }

  async *#requests(): AsyncGenerator<p4v1.StreamMessageRequest> {
    yield create(p4v1.StreamMessageRequestSchema, {
      update: { case: 'arbitration', value: create(p4v1.MasterArbitrationUpdateSchema, this.election) },
    });
    for (;;) {
      for (const request of this.#waiting.splice(0)) yield request;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    for await (const { update } of this.client.streamChannel(this.#requests(), { signal })) {
      if (update.case === 'arbitration') this.isPrimary = update.value.status?.code === 0;
      if (update.case === 'packet') {
        const port = update.value.metadata[0]!.value;
        this.packets.push([port.reduce((value, byte) => value * 256 + byte, 0), ...update.value.payload]);
      }
    }
  }
}

async function serving(...args: string[]): Promise<{ running: Running; controller: Controller }> {
  const running = new Running(['p4', 'serve', ...args, '--listen', `${LOCAL}:0`, '--device-id', '7', '--json']);
  const [, port] = await running.saying(/P4Runtime at 127\.0\.0\.1:(\d+)/);
  const controller = new Controller(`http://${LOCAL}:${port}`, 7n);
  await until('the role', () => controller.isPrimary);
  return { running, controller };
}

type Total = Record<string, number> & { readonly dropped: Record<string, number> };

/** A certificate for 127.0.0.1 that signs itself, and its key. */
function certificate(name: string): { readonly cert: string; readonly key: string } {
  const openssl = requires('openssl', 'npm run setup:system');
  const [cert, key] = [files.path(`${name}.pem`), files.path(`${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync(openssl, [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}

describe('int p4 serve --listen', () => {
  test('takes controllers with a certificate alone, if it is told to', async () => {
    const [server, client] = [certificate('server'), certificate('client')];
    const tls = ['--tls-cert', server.cert, '--tls-key', server.key, '--tls-ca', client.cert];
    const port = ['--port', '1=udp:127.0.0.1:0-127.0.0.1:9'];
    const running = new Running(['p4', 'serve', '--listen', `${LOCAL}:0`, ...tls, ...port, '--metrics', '0']);
    const [, metrics] = await running.saying(/metrics at port (\d+)/);
    const [, listening] = await running.saying(/P4Runtime at 127\.0\.0\.1:(\d+) with mutual TLS/);
    const ask = (nodeOptions: SecureClientSessionOptions): Promise<p4v1.CapabilitiesResponse> => {
      const baseUrl = `https://${LOCAL}:${listening}`;
      const transport = createGrpcTransport({ baseUrl, nodeOptions, defaultTimeoutMs: 20_000 });
      return createClient(p4v1.P4Runtime, transport).capabilities({ deviceId: 1n });
    };
    const ca = readFileSync(server.cert);
    const own = { cert: readFileSync(client.cert), key: readFileSync(client.key) };
    expect((await ask({ ca, ...own })).p4runtimeApiVersion).toBe('1.5.0');
    await expect(ask({ ca })).rejects.toThrow();
    const stranger = { cert: ca, key: readFileSync(server.key) };
    await expect(ask({ ca, ...stranger })).rejects.toThrow();
    const page = await until('both in the metrics', async () => {
      const text = await (await fetch(`http://${LOCAL}:${metrics}/metrics`)).text();
      return text.includes('\nint_p4_control_refused_clients_total{reason="handshakes"} 2\n') ? text : null;
    });
    expect(page).toContain('\nint_p4_control_refused_clients_total{reason="connections"} 0\n');
    running.child.kill('SIGINT');
    const { code, stdout } = await running.end();
    expect([code, stdout.match(/^controllers: .*$/m)?.[0]]).toEqual([
      0,
      'controllers: clients turned away: handshakes 2',
    ]);
    for (const [wrong, code, text] of [
      [['--tls-cert', server.cert, '--listen', `${LOCAL}:0`], 2, /both --tls-cert and --tls-key/],
      [['--tls-cert', server.cert, '--tls-key', server.key], 2, /go with --listen/],
      [['--tls-cert', server.key, '--tls-key', server.key, '--listen', `${LOCAL}:0`], 1, /is no certificate/],
      [['--tls-cert', server.cert, '--tls-key', server.cert, '--listen', `${LOCAL}:0`], 1, /is no key/],
      [['--tls-cert', server.cert, '--tls-key', client.key, '--listen', `${LOCAL}:0`], 1, /is not the key of/],
      [['--tls-cert', files.path('none'), '--tls-key', server.key, '--listen', `${LOCAL}:0`], 3, /cannot open/],
    ] as const) {
      const outcome = await runBin(['p4', 'serve', ...port, ...wrong]);
      expect(outcome.code).toBe(code);
      expect(outcome.stderr).toMatch(text);
    }
  });

  test('waits for a pipeline, and is programmed while it runs', async () => {
    const [one, two] = [await tunnel(), await tunnel()];
    const { running, controller } = await serving(
      '--cpu-port',
      `${CPU}`,
      '--port',
      `1=${one.spec}`,
      '--port',
      `2=${two.spec}`,
    );
    one.send(5, 0, 1);
    await until('a frame without a pipeline', () => running.stdout.includes('"noPipeline":1'));
    await controller.setPipeline(program(77));

    // Packet-in for what no entry matches, packet-out.
    one.send(5, 0, 2);
    await until('the packet', () => controller.packets.length === 1);
    expect(controller.packets).toEqual([[1, 5, 77, 2]]);
    const metadata = [
      { metadataId: 1, value: Uint8Array.of(2) },
      { metadataId: 2, value: Uint8Array.of(0) },
    ];
    const packet = create(p4v1.PacketOutSchema, { payload: Uint8Array.of(9, 0, 3), metadata });
    controller.send({ case: 'packet', value: packet });
    await until('the packet of the controller', () => two.arrived.length === 1);
    expect(two.arrived).toEqual([[9, 77, 3]]);

    await controller.insert(configOf(program(77)).p4info, 5, 2);
    one.send(5, 0, 4);
    await until('the forwarded frame', () => two.arrived.length === 2);
    expect(two.arrived[1]).toEqual([5, 77, 4]);

    running.child.kill('SIGINT');
    const { code, stdout } = await running.end();
    expect(code).toBe(0);
    expect(ndjson(stdout).find(({ type }) => type === 'control')).toEqual({
      ...{ type: 'control', streams: 0, faults: 0, refused: { connections: 0, handshakes: 0, streams: 0 } },
    });
    const total = ndjson(stdout).at(-1) as unknown as Total;
    expect(total).toMatchObject({ received: 4, transmitted: 3, packetsIn: 1, packetsOut: 1, pipelines: 1 });
    expect(total.dropped).toMatchObject({ noPipeline: 1, fault: 0, noPort: 0 });
  });

  test('replaces its program between two packets, and no packet is lost', async () => {
    const [one, two] = [await tunnel(), await tunnel()];
    const path = await files.write('first.p4', program(1));
    const commands = await files.write('first.txt', 'table_add I.t I.to 5 => 2\n');
    const args = [
      path,
      '--commands',
      commands,
      '--cpu-port',
      `${CPU}`,
      '--port',
      `1=${one.spec}`,
      '--port',
      `2=${two.spec}`,
    ];
    const { running, controller } = await serving(...args);
    const there = await controller.client.getForwardingPipelineConfig({ deviceId: 7n });
    expect(new TextDecoder().decode(there.config!.p4DeviceConfig)).toBe(program(1));
    expect(there.config!.p4info!.tables.map(({ preamble }) => preamble?.name)).toEqual(['I.t']);
    const entities: p4v1.Entity[] = [];
    const filter = { entity: { case: 'tableEntry' as const, value: {} } };
    for await (const each of controller.client.read({ deviceId: 7n, entities: [filter] }))
      entities.push(...each.entities);
    expect(entities).toHaveLength(1);

    // Frames all the time: each is marked by one program or the other, and comes back to the controller or leaves.
    let sent = 0;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        one.send(5, 0, 0, sent >> 8, sent++ & 255);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await until('frames', () => two.arrived.length > 10);
    for (let mark = 2; mark < 6; mark++) {
      await controller.setPipeline(program(mark));
      await controller.insert(configOf(program(mark)).p4info, 5, 2);
      const before = two.arrived.length;
      await until('frames of the new program', () => two.arrived.length > before + 5);
    }
    isOver = true;
    await sending;
    await until('the last frame', () => two.arrived.length + controller.packets.length === sent);
    const marks = two.arrived.map(([, mark]) => mark!);
    expect(marks).toEqual([...marks].sort((a, b) => a - b));
    expect(new Set(marks)).toEqual(new Set([1, 2, 3, 4, 5]));
    running.child.kill('SIGTERM');
    const { stdout } = await running.end();
    const total = ndjson(stdout).at(-1) as unknown as Total;
    expect(total).toMatchObject({ received: sent, transmitted: sent, pipelines: 5 });
    expect(Object.values(total.dropped).every((count) => count === 0)).toBe(true);
  });
});
