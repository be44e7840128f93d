import type { Replication } from '../switch/replication.js';
import { atLeast, type Command, type Commands, decimal, exactly, fail } from './command-context.js';
import { CommandFailure } from './command-errors.js';

const integer = (text: string | undefined, name: string): number =>
  decimal(text, `Bad format for ${name}, expected integer`);
const groupId = (text: string | undefined): number => decimal(text, 'Bad format for multicast group id');
const nodeHandle = (text: string | undefined): number => decimal(text, 'Bad format for node handle');

function mirrorAdd(kind: 'port' | 'group'): Command {
  return exactly(2, (context, [sessionText, toText]) => {
    const session = integer(sessionText, 'mirror_id');
    const to = integer(toText, kind === 'port' ? 'egress_port' : 'mgrp');
    context.attempt('mirroring', () => context.control.setMirror(session, { [kind]: to }));
  });
}

function check(succeeded: boolean, reason: string): void {
  if (!succeeded) throw new CommandFailure('ERR_CONTROL_BAD_MULTICAST', `Invalid PRE operation (${reason})`);
}

/** The reason why a node could not be associated or dissociated. */
function associationFault(replication: Replication, group: number, handle: number): string {
  if (!replication.hasNode(handle)) return 'INVALID_L1_HANDLE';
  return replication.hasGroup(group) ? 'ERROR' : 'INVALID_MGRP_HANDLE';
}

/** Makes a node part of a group, or ends that. */
function changeGroup(method: 'associateNode' | 'dissociateNode'): Command {
  return exactly(2, (context, [groupText, nodeText]) => {
    const { replication } = context.control;
    const group = groupId(groupText);
    const handle = nodeHandle(nodeText);
    const what = method === 'associateNode' ? ['Associating', 'to'] : ['Dissociating', 'from'];
    context.print(`${what[0]} node ${handle} ${what[1]} multicast group ${group}`);
    check(replication[method](group, handle), associationFault(replication, group, handle));
  });
}

function portsOf(texts: readonly string[], kind: 'port' | 'lag'): number[] {
  const ports = texts.map((text) => {
    const port = /^\+?\d+$/.test(text) ? Number(text) : -1;
    return port >= 0 && port <= 0xffff
      ? port
      : fail('ERR_CONTROL_BAD_VALUE', `'${text}' is not a valid ${kind} number`);
  });
  ports.sort((left, right) => left - right);
  const twice = ports.find((port, i) => port === ports[i - 1]);
  if (twice !== undefined) fail('ERR_CONTROL_BAD_VALUE', `Found duplicate ${kind} number '${twice}'`);
  return ports;
}

/** A digit per port from the highest down to 0. */
function mapText(ports: readonly number[]): string {
  const given = new Set(ports);
  let text = '';
  for (let port = ports.at(-1) ?? -1; port >= 0; port--) text += given.has(port) ? '1' : '0';
  return text;
}

function portsAndLags(args: readonly string[]): { readonly ports: number[]; readonly lags: number[] } {
  const bar = args.indexOf('|', 1);
  const ports = portsOf(args.slice(1, bar < 0 ? undefined : bar), 'port');
  return { ports, lags: bar < 0 ? [] : portsOf(args.slice(bar + 1), 'lag') };
}

function setQueue(kind: 'depth' | 'rate'): Command {
  return atLeast(1, ({ control: { replication } }, [valueText, portText, priorityText]) => {
    const value = integer(valueText, kind === 'depth' ? 'nb_pkts' : 'rate_pps');
    const port = portText === undefined ? undefined : integer(portText, 'egress_port');
    const priority = priorityText === undefined ? undefined : integer(priorityText, 'priority');
    if (kind === 'depth') replication.setQueueDepth(value, port, priority);
    else replication.setQueueRate(value, port, priority);
  });
}

export const REPLICATION_COMMANDS: Commands = {
  mirroring_add: mirrorAdd('port'),
  mirroring_add_mc: mirrorAdd('group'),
  mirroring_delete: exactly(1, (context, [sessionText]) => {
    const session = integer(sessionText, 'mirror_id');
    context.attempt('mirroring', () => context.control.deleteMirror(session));
  }),
  mirroring_get: exactly(1, (context, [sessionText]) => {
    const mirror = context.control.replication.mirror(integer(sessionText, 'mirror_id'));
    if (mirror === undefined) {
      throw new CommandFailure('ERR_CONTROL_BAD_SESSION', 'Invalid mirroring operation (SESSION_NOT_FOUND)');
    }
    const { port = 'None', group = 'None' } = mirror;
    context.print(`MirroringSessionConfig(port=${port}, mgid=${group})`);
  }),
  mc_mgrp_create: exactly(1, (context, [groupText]) => {
    const group = groupId(groupText);
    context.print(`Creating multicast group ${group}`);
    check(context.control.replication.createGroup(group), 'ERROR');
  }),
  mc_mgrp_destroy: exactly(1, (context, [groupText]) => {
    const group = groupId(groupText);
    context.print(`Destroying multicast group ${group}`);
    // A group that does not exist is no error.
    context.control.replication.destroyGroup(group);
  }),
  mc_node_create: atLeast(1, (context, args) => {
    const id = decimal(args[0], 'Bad format for rid');
    const { ports, lags } = portsAndLags(args);
    context.print(`Creating node with rid ${id} , port map ${mapText(ports)} and lag map ${mapText(lags)}`);
    const handle = context.attempt('PRE', () => context.control.replication.createNode(id, ports, lags));
    context.print(`node was created with handle ${handle}`);
    context.outcome = { handle };
  }),
  mc_node_update: atLeast(2, (context, args) => {
    const handle = nodeHandle(args[0]);
    const { ports, lags } = portsAndLags(args);
    context.print(`Updating node ${handle} with port map ${mapText(ports)} and lag map ${mapText(lags)}`);
    const isThere = context.attempt('PRE', () => context.control.replication.updateNode(handle, ports, lags));
    check(isThere, 'INVALID_L1_HANDLE');
  }),
  mc_node_destroy: exactly(1, (context, [nodeText]) => {
    const handle = nodeHandle(nodeText);
    context.print(`Destroying node ${handle}`);
    check(context.control.replication.destroyNode(handle), 'INVALID_L1_HANDLE');
  }),
  mc_node_associate: changeGroup('associateNode'),
  mc_node_dissociate: changeGroup('dissociateNode'),
  mc_set_lag_membership: atLeast(2, (context, [lagText, ...texts]) => {
    const lag = decimal(lagText, 'Bad format for lag index');
    const ports = portsOf(texts, 'lag');
    context.print(`Setting lag membership: ${lag} <- ${mapText(ports)}`);
    context.attempt('PRE', () => context.control.replication.setLagMembership(lag, ports));
  }),
  mc_dump: exactly(0, (context) => {
    context.print('==========', 'MC ENTRIES');
    for (const { group, nodes } of context.control.replication.multicastGroups()) {
      context.print('**********', `mgrp(${group})`);
      for (const { handle, replicationId, ports, lags } of nodes) {
        const to = `(ports=[${ports.join(', ')}], lags=[${lags.join(', ')}])`;
        context.print(`  -> (L1h=${handle}, rid=${replicationId}) -> ${to}`);
      }
    }
    context.print('==========', 'LAGS', '==========');
  }),
  set_queue_depth: setQueue('depth'),
  set_queue_rate: setQueue('rate'),
};
