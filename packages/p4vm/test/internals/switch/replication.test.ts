import { describe, expect, it } from 'vitest';
import { Replication } from '../../../src/switch/replication.js';
import { ControlError } from '../../../src/tables/control-error.js';

describe('Replication', () => {
  it('gives nodes the lowest free handle', () => {
    const replication = new Replication();
    expect([1, 2, 3].map((id) => replication.createNode(id, []))).toEqual([0, 1, 2]);
    expect(replication.destroyNode(1)).toBe(true);
    expect(replication.createNode(4, [])).toBe(1);
  });

  it('makes copies node by node, by ascending port, of each port once', () => {
    const replication = new Replication();
    replication.createGroup(1);
    replication.associateNode(1, replication.createNode(7, [9, 1, 9]));
    replication.associateNode(1, replication.createNode(5, [1]));
    expect(replication.copies(1)).toEqual([
      { port: 1, replicationId: 7 },
      { port: 9, replicationId: 7 },
      { port: 1, replicationId: 5 },
    ]);
  });

  it('follows changes', () => {
    const replication = new Replication();
    replication.createGroup(1);
    const node = replication.createNode(0, [1]);
    expect(replication.associateNode(1, node)).toBe(true);
    expect(replication.copies(1)).toHaveLength(1);
    expect(replication.updateNode(node, [1, 2])).toBe(true);
    expect(replication.copies(1)).toHaveLength(2);
    expect(replication.dissociateNode(1, node)).toBe(true);
    expect(replication.copies(1)).toEqual([]);
    expect(replication.associateNode(1, node)).toBe(true);
    expect(replication.destroyNode(node)).toBe(true);
    expect(replication.copies(1)).toEqual([]);
  });

  it('has a node in one group only, even when that group is gone', () => {
    const replication = new Replication();
    replication.createGroup(1);
    replication.createGroup(2);
    const node = replication.createNode(0, [1]);
    expect(replication.associateNode(1, node)).toBe(true);
    expect(replication.associateNode(2, node)).toBe(false);
    expect(replication.destroyGroup(1)).toBe(true);
    expect(replication.associateNode(2, node)).toBe(false);
    expect(replication.copies(1)).toEqual([]);
  });

  it('refuses what does not exist', () => {
    const replication = new Replication();
    expect(replication.associateNode(1, 0)).toBe(false);
    expect(replication.updateNode(3, [1])).toBe(false);
    expect(replication.destroyNode(3)).toBe(false);
    expect(replication.dissociateNode(1, 0)).toBe(false);
    expect(replication.deleteMirror(1)).toBe(false);
    for (const session of [32_768, -1, 0.5]) {
      expect(() => replication.setMirror(session, { port: 1 })).toThrow(
        expect.objectContaining({ name: 'ControlError', code: 'ERR_CONTROL_BAD_SESSION' }),
      );
    }
  });

  it('sends a copy to one port of a LAG', () => {
    const replication = new Replication();
    replication.createGroup(1);
    replication.setLagMembership(0, [4, 5]);
    replication.associateNode(1, replication.createNode(3, [1], [0, 2]));
    expect(replication.copies(1)).toEqual([
      { port: 1, replicationId: 3 },
      { port: 5, replicationId: 3 },
    ]);
  });

  it('keeps a million ports of nodes and LAGs, and no more', () => {
    const replication = new Replication();
    const ports = Array.from({ length: 300_000 }, (_, port) => port);
    const nodes = [replication.createNode(0, ports), replication.createNode(1, ports)];
    replication.setLagMembership(3, ports);
    expect(() => replication.createNode(2, ports)).toThrow(ControlError);
    expect(() => replication.updateNode(nodes[0]!, [], [...ports, ...ports.map((each) => each + 300_000)])).toThrow(
      'more than 1000000 ports of nodes and LAGs',
    );
    expect(() => replication.setLagMembership(4, ports)).toThrow(ControlError);
    // What is given back is there again; what is said twice counts once.
    replication.destroyNode(nodes[1]!);
    replication.setLagMembership(4, [...ports, ...ports]);
    replication.setLagMembership(4, []);
    replication.resetMulticast();
    expect(replication.createNode(0, ports)).toBe(0);
    replication.reset();
    for (let node = 0; node < 3; node++) expect(replication.createNode(0, ports)).toBe(node);
  });

  it('has groups 0 to 65535 and as many nodes', () => {
    const replication = new Replication();
    expect(replication.createGroup(65_535)).toBe(true);
    for (const group of [65_536, -1, 0.5, Number.NaN]) expect(replication.createGroup(group)).toBe(false);
    for (let node = 0; node < 65_536; node++) expect(replication.createNode(0, [])).toBe(node);
    expect(() => replication.createNode(0, [])).toThrow('there are 65536 nodes already');
    replication.destroyNode(77);
    replication.destroyNode(3);
    expect([replication.createNode(0, []), replication.createNode(0, [])]).toEqual([3, 77]);
  });
});
