import { Network } from '@int/netsim';
import { P4Switch, type P4SwitchOptions } from '@int/netsim/p4';
import { P4Error } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { Recorder } from '../behaviours.js';
import { programOf } from './programs.js';

/** A frame of a length: `a`, `b`, then zeros. */
function frame(a: number, b = 0, length = 100): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([a, b]);
  return bytes;
}

/** A switch with hosts at ports 0 to 3. */
function star(source: string, options: P4SwitchOptions = {}) {
  const network = new Network({ seed: 1 });
  const machine = new P4Switch(source, options);
  const node = network.add('switch', machine);
  const hosts = [0, 1, 2, 3].map((port) => {
    const recorder = new Recorder();
    const host = network.add(`host ${port}`, recorder);
    network.connect(node, host, { aPort: port, bPort: 0, delayNs: 1000 });
    return { recorder, host };
  });
  const send = (port: number, bytes: Uint8Array) => hosts[port]!.host.send(0, bytes);
  const got = (port: number) => hosts[port]!.recorder;
  return { network, machine, node, send, got };
}

const TO_A = 's.egress_spec = (bit<9>) hdr.h.a;';
const words = (bytes: Uint8Array): [number, number] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return [view.getUint32(2), view.getUint32(6)];
};

describe('P4Switch', () => {
  it('sends frames on the links of the ports that its program chooses', () => {
    const { network, send, got, node } = star(programOf(`${TO_A} hdr.h.b = (bit<8>) s.ingress_port;`, ''));
    send(3, frame(1));
    send(0, frame(2));
    send(0, frame(9));
    network.run(1e6);
    expect(got(1).frames).toEqual([frame(1, 3)]);
    expect(got(2).frames).toEqual([frame(2, 0)]);
    // Without a rate a switch takes no time: two links of 1 us.
    expect(got(1).times).toEqual([2000]);
    expect(node.sentNowhere).toBe(1);
  });

  it('takes commands at the start, and refuses wrong ones', () => {
    const source = programOf(
      't.apply();',
      '',
      'action to(bit<9> p) { s.egress_spec = p; } table t { key = { hdr.h.a: exact; } actions = { to; } }',
    );
    const { network, send, got } = star(source, { commands: 'table_add I.t I.to 7 => 2\n# a comment\n' });
    send(0, frame(7));
    network.run(1e6);
    expect(got(2).frames).toHaveLength(1);
    expect(() => new P4Switch(source, { commands: 'table_add I.t I.to 7' })).toThrow(TypeError);
  });

  it('throws what is wrong with the program', () => {
    expect(() => new P4Switch('control C() { apply { nothing(); } }')).toThrow(P4Error);
  });

  it('shows the program queues that fill while the wire is busy, and how long packets waited', () => {
    // 100 bytes at 8 Mbit/s: 100 us on the wire.
    const { network, send, got, machine } = star(
      programOf(
        TO_A,
        'hdr.h.x = s.deq_timedelta; hdr.h.y = (bit<32>) s.enq_qdepth ++ 0; hdr.h.b = (bit<8>) s.deq_qdepth;'.replace(
          '(bit<32>) s.enq_qdepth ++ 0',
          '(bit<32>) s.enq_qdepth',
        ),
      ),
      { rateBps: 8e6 },
    );
    for (let i = 0; i < 4; i++) send(0, frame(1));
    network.run(1e9);
    const seen = got(1).frames.map((bytes) => [...words(bytes), bytes[1]]);
    expect(seen).toEqual([
      [0, 0, 3],
      [100, 1, 2],
      [200, 2, 1],
      [300, 3, 0],
    ]);
    expect(got(1).times).toEqual([2000, 102_000, 202_000, 302_000]);
    expect(machine.queue(1)).toMatchObject({ enqueued: 4, dropped: 0, depth: 0, maxDepth: 4 });
    expect(machine.queue(2)).toBeUndefined();
  });

  it('drops what a full queue cannot take', () => {
    const { network, send, got, machine } = star(programOf(TO_A, ''), { rateBps: 8e6, queuePackets: 2 });
    network.at(0, () => {
      for (let i = 0; i < 5; i++) send(0, frame(1, i));
    });
    network.run(1e9);
    expect(got(1).frames.map((bytes) => bytes[1])).toEqual([0, 1]);
    expect(machine.queue(1)?.dropped).toBe(3);
    expect(machine.machine.statistics.dropped.queueFull).toBe(3);
  });

  it('has a rate for each port, and rates and depths that the control plane sets', () => {
    const { network, send, got, machine } = star(programOf(TO_A, ''), { rateBps: { 1: 8e6 } });
    expect(machine.machine.command('set_queue_rate 1000 2').error).toBeUndefined();
    expect(machine.machine.command('set_queue_depth 1 3').error).toBeUndefined();
    for (const port of [1, 2, 3]) for (let i = 0; i < 2; i++) send(0, frame(port, i));
    network.run(1e9);
    expect(got(1).times).toEqual([2000, 102_000]);
    expect(got(2).times).toEqual([2000, 1_002_000]);
    expect(got(3).frames).toHaveLength(1);
  });

  it('serves the queue of the highest priority first', () => {
    const { network, send, got } = star(programOf('s.egress_spec = 1; s.priority = (bit<3>) hdr.h.a;', ''), {
      rateBps: 8e6,
      priorityQueues: 3,
    });
    for (const priority of [0, 0, 1, 2, 1]) send(0, frame(priority));
    network.run(1e9);
    // Nothing had left when the last came: all five arrive at one time.
    expect(got(1).frames.map((bytes) => bytes[0])).toEqual([2, 1, 1, 0, 0]);
  });

  it('holds recirculated frames up for as long as it is told', () => {
    const { network, send, got, machine } = star(
      programOf(
        's.egress_spec = 1;',
        'if (hdr.h.a > 0) { hdr.h.a = hdr.h.a - 1; recirculate_preserving_field_list(0); }',
      ),
      { recirculationNs: 5000 },
    );
    send(0, frame(3));
    network.run(1e9);
    expect(got(1).times).toEqual([2000 + 3 * 5000]);
    expect(machine.machine.statistics.recirculated).toBe(3);
  });

  it('maps ports, and gives frames of the control port to the control plane', () => {
    const controlled: number[] = [];
    const { network, send, got, machine } = star(programOf(`${TO_A} hdr.h.b = (bit<8>) s.ingress_port;`, ''), {
      ports: { 0: 100, 1: 101 },
      controlPort: 255,
      onControl: (bytes) => controlled.push(bytes[1]!),
    });
    send(0, frame(101));
    send(1, frame(255));
    network.run(1e6);
    expect(got(1).frames).toEqual([frame(101, 100)]);
    expect(controlled).toEqual([101]);
    machine.inject(frame(100));
    network.run(2e6);
    expect(got(0).frames).toEqual([frame(100, 255)]);
    expect(() => new P4Switch(programOf('', ''), { ports: { 0: 5, 1: 5 } })).toThrow('two ports');
    expect(() => new P4Switch(programOf('', '')).inject(frame(1))).toThrow(TypeError);
  });

  it('keeps the time of its node, which may go wrong', () => {
    const network = new Network({ seed: 1, startNs: 1_000_000 });
    const machine = new P4Switch(programOf('s.egress_spec = 0; hdr.h.x = (bit<32>) s.ingress_global_timestamp;', ''));
    const node = network.add('switch', machine, { clockOffsetNs: 7000 });
    const recorder = new Recorder();
    network.connect(node, network.add('host', recorder));
    node.accept(frame(0), 0);
    network.run(2_000_000);
    expect(words(recorder.frames[0]!)[0]).toBe(1007);
  });

  it('multicasts and clones into its queues', () => {
    const { network, send, got } = star(
      programOf('s.mcast_grp = 1; clone(CloneType.I2E, 5); hdr.h.b = 1;', 'hdr.h.x = (bit<32>) s.egress_rid;'),
      {
        rateBps: 8e6,
        commands: 'mc_mgrp_create 1\nmc_node_create 7 1 2\nmc_node_associate 1 0\nmirroring_add 5 3',
      },
    );
    send(0, frame(9));
    network.run(1e9);
    expect([1, 2, 3].map((port) => got(port).frames.map((bytes) => [bytes[0], bytes[1], words(bytes)[0]]))).toEqual([
      [[9, 1, 7]],
      [[9, 1, 7]],
      [[9, 0, 0]],
    ]);
  });

  it('loses what it keeps when it fails, and has its commands again when it is repaired', () => {
    const source = programOf(
      'seen.read(hdr.h.x, 0); seen.write(0, hdr.h.x + 1); t.apply();',
      '',
      'register<bit<32>>(1) seen; action to(bit<9> p) { s.egress_spec = p; } table t { key = { hdr.h.a: exact; } actions = { to; } }',
    );
    const { network, send, got, node } = star(source, { rateBps: 8e6, commands: 'table_add I.t I.to 7 => 2' });
    for (let i = 0; i < 3; i++) send(0, frame(7));
    // The first is on the wire, two wait.
    network.at(50_000, () => node.fail());
    network.at(60_000, () => node.repair());
    network.at(70_000, () => send(0, frame(7)));
    network.run(1e9);
    expect(got(2).frames.map((bytes) => words(bytes)[0])).toEqual([0, 0]);
  });

  it('forgets limits of its queues when it fails, unless they are among its commands', () => {
    for (const [commands, delivered] of [
      ['', 2],
      ['set_queue_depth 1 1', 1],
    ] as const) {
      const { network, send, got, machine, node } = star(programOf(TO_A, ''), { rateBps: 8e6, commands });
      expect(machine.machine.command('set_queue_depth 1').error).toBeUndefined();
      send(0, frame(1));
      network.run(500_000);
      node.fail();
      node.repair();
      for (let i = 0; i < 2; i++) send(0, frame(1));
      network.run(1e9);
      expect(got(1).frames).toHaveLength(1 + delivered);
    }
  });

  it('is a node once', () => {
    const { network, machine } = star(programOf('', ''));
    expect(() => network.add('again', machine)).toThrow(TypeError);
    expect(() => new P4Switch(programOf('', '')).node).toThrow(TypeError);
  });

  it('does the same in every run', () => {
    const run = (): string => {
      const { network, send, got } = star(
        programOf(
          'random(hdr.h.x, 0, 1000); s.egress_spec = 1; if (hdr.h.x > 500) s.egress_spec = 2;',
          'hdr.h.y = s.deq_timedelta; if (hdr.h.x < 100 && s.instance_type == 0) recirculate_preserving_field_list(0);',
        ),
        { rateBps: 8e6, recirculationNs: 700, queuePackets: 10 },
      );
      for (let i = 0; i < 200; i++) network.at(i * 30_000, () => send(i % 4, frame(i)));
      network.run(1e9);
      return [1, 2].map((port) => `${got(port).times} ${got(port).frames.map((bytes) => words(bytes))}`).join('\n');
    };
    expect(run()).toBe(run());
  });
});

describe('what a switch loses within it', () => {
  const RECIRCULATES = programOf(TO_A, 'if (hdr.h.b == 1) { hdr.h.b = 0; recirculate_preserving_field_list(0); }');

  it('is counted when another machine takes the place of the one before: in queues, and on the way back', () => {
    const { network, send, machine, got } = star(RECIRCULATES, { rateBps: 8_000_000, recirculationNs: 50_000 });
    // Four frames for one port: one on the wire for 100 us, three in its queue. One goes round by port 2.
    for (let i = 0; i < 4; i++) send(0, frame(1));
    send(3, frame(2, 1));
    network.run(20_000);
    machine.useMachine(machine.machine);
    expect(machine.discarded).toEqual({ replaced: 0, failed: 0 });
    machine.useMachine(machine.createMachine(RECIRCULATES));
    expect(machine.discarded).toEqual({ replaced: 4, failed: 0 });
    network.run(1e7);
    expect(got(1).frames.length).toBe(1);
    expect(got(2).frames.length).toBe(0);
    // Those that come later are whole.
    send(3, frame(2, 1));
    network.run(2e7);
    expect(got(2).frames.length).toBe(1);
    expect(machine.discarded).toEqual({ replaced: 4, failed: 0 });
  });

  it('is counted when the node fails', () => {
    const { network, send, machine, node, got } = star(RECIRCULATES, { rateBps: 8_000_000, recirculationNs: 50_000 });
    for (let i = 0; i < 3; i++) send(0, frame(1));
    send(3, frame(2, 1));
    network.run(20_000);
    node.fail();
    expect(machine.discarded).toEqual({ replaced: 0, failed: 3 });
    node.repair();
    send(0, frame(1));
    network.run(1e7);
    expect(got(1).frames.length).toBe(2);
    expect(machine.discarded).toEqual({ replaced: 0, failed: 3 });
  });
});

describe('the listener of ports', () => {
  it('is told of links that come, go down and come up, with the state as it is then', () => {
    const network = new Network({ seed: 1 });
    const machine = new P4Switch(programOf(TO_A, ''));
    const node = network.add('switch', machine);
    const seen: string[] = [];
    machine.setPortListener(() => seen.push(`${machine.hasPort(1)} ${machine.isPortUp(1)}`));
    const link = network.connect(node, network.add('host', new Recorder()), { aPort: 1 });
    link.fail();
    link.fail();
    link.repair();
    link.repair();
    machine.setPortListener(undefined);
    link.fail();
    expect(seen).toEqual(['true true', 'true false', 'true true']);
  });
});
