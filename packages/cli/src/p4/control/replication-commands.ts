import type { CloneSession, MulticastGroup, Replica } from '@int/p4runtime';
import { count, fail, whole } from './command-failure.js';
import type { ControlSession, MulticastNode } from './control-session.js';
import type { Command } from './table-commands.js';

const ANY = Number.POSITIVE_INFINITY;

async function groupOf(session: ControlSession, id: number): Promise<MulticastGroup> {
  for await (const found of session.client.read({ kind: 'multicast-group', id, replicas: [] })) {
    if (found.kind === 'multicast-group') return found;
  }
  return fail(`there is no multicast group ${id}`);
}

/** The copies that the nodes of a group make. */
function replicasOf(session: ControlSession, group: number): Replica[] {
  const nodes = [...session.nodes.values()].filter(({ groups }) => groups.has(group));
  return nodes.flatMap(({ rid, ports }) => ports.map((port) => ({ port, instance: rid })));
}

async function writeGroup(session: ControlSession, id: number): Promise<void> {
  await session.client.modify({ kind: 'multicast-group', id, replicas: replicasOf(session, id) });
}

function nodeOf(session: ControlSession, text: string | undefined): MulticastNode {
  const handle = whole(text, 'the handle of the node');
  return session.nodes.get(handle) ?? fail(`this session has made no node ${handle}`);
}

function portsOf(words: readonly string[]): number[] {
  if (words.includes('|')) fail('P4Runtime has no LAGs: ports only');
  return words.map((word) => whole(word, 'a port'));
}

/** Sets a session, whether it is there or not, as the command line does. */
async function setSession(session: ControlSession, entity: CloneSession): Promise<void> {
  if (await session.isThere(session.client.insert(entity))) await session.client.modify(entity);
}

async function changeGroup(session: ControlSession, words: readonly string[], isIn: boolean): Promise<void> {
  count(words, 2);
  const group = whole(words[0], 'the multicast group');
  const node = nodeOf(session, words[1]);
  // Copies that others made would be lost.
  const before = await groupOf(session, group);
  if (before.replicas.length !== replicasOf(session, group).length) {
    fail(`the multicast group ${group} has copies that this session has not made`);
  }
  if (isIn) node.groups.add(group);
  else node.groups.delete(group);
  try {
    await writeGroup(session, group);
  } catch (error) {
    if (isIn) node.groups.delete(group);
    else node.groups.add(group);
    throw error;
  }
}

export const REPLICATION_COMMANDS: Readonly<Record<string, Command>> = {
  mirroring_add: async (session, words) => {
    count(words, 2);
    const replicas = [{ port: whole(words[1], 'the port'), instance: 0 }];
    await setSession(session, { kind: 'clone-session', id: whole(words[0], 'the session'), replicas });
  },
  mirroring_add_mc: async (session, words) => {
    count(words, 2);
    // P4Runtime has copies by session: those of the group as it is now.
    const { replicas } = await groupOf(session, whole(words[1], 'the multicast group'));
    await setSession(session, { kind: 'clone-session', id: whole(words[0], 'the session'), replicas });
  },
  mirroring_delete: async (session, words) => {
    count(words, 1);
    await session.client.delete({ kind: 'clone-session', id: whole(words[0], 'the session'), replicas: [] });
  },
  mirroring_get: async (session, words) => {
    count(words, 1);
    const id = whole(words[0], 'the session');
    for await (const found of session.client.read({ kind: 'clone-session', id, replicas: [] })) {
      if (found.kind !== 'clone-session') continue;
      const copies = found.replicas.map(({ port, instance }) => `${port} (instance ${instance})`);
      return session.lines(`MirroringSessionConfig(ports=[${copies.join(', ')}], length=${found.packetLengthBytes})`);
    }
    fail(`there is no mirroring session ${id}`);
  },
  mc_mgrp_create: async (session, words) => {
    count(words, 1);
    const id = whole(words[0], 'the multicast group');
    await session.client.insert({ kind: 'multicast-group', id, replicas: [] });
    await session.print(`Creating multicast group ${id}`);
  },
  mc_mgrp_destroy: async (session, words) => {
    count(words, 1);
    const id = whole(words[0], 'the multicast group');
    await session.client.delete({ kind: 'multicast-group', id, replicas: [] });
    for (const { groups } of session.nodes.values()) groups.delete(id);
    await session.print(`Destroying multicast group ${id}`);
  },
  mc_node_create: async (session, words) => {
    count(words, 1, ANY);
    const rid = whole(words[0], 'the instance');
    const ports = portsOf(words.slice(1));
    const handle = session.nextNode++;
    session.nodes.set(handle, { rid, ports, groups: new Set() });
    await session.print(`node was created with handle ${handle}`);
  },
  mc_node_update: async (session, words) => {
    count(words, 1, ANY);
    const node = nodeOf(session, words[0]);
    const before = node.ports;
    node.ports = portsOf(words.slice(1));
    try {
      for (const group of node.groups) await writeGroup(session, group);
    } catch (error) {
      node.ports = before;
      throw error;
    }
  },
  mc_node_destroy: async (session, words) => {
    count(words, 1);
    const node = nodeOf(session, words[0]);
    const groups = [...node.groups];
    node.groups.clear();
    for (const group of groups) await writeGroup(session, group);
    session.nodes.delete(whole(words[0], 'the handle of the node'));
  },
  mc_node_associate: (session, words) => changeGroup(session, words, true),
  mc_node_dissociate: (session, words) => changeGroup(session, words, false),
  mc_dump: async (session, words) => {
    count(words, 0);
    await session.lines('==========', 'MC ENTRIES');
    for await (const found of session.client.read({ kind: 'multicast-group', id: 0, replicas: [] })) {
      if (found.kind !== 'multicast-group') continue;
      await session.lines('**********', `mgrp(${found.id})`);
      for (const { port, instance } of found.replicas) await session.print(`  -> (rid=${instance}) -> port ${port}`);
    }
    await session.print('==========');
  },
};
