import { ControlError } from '../tables/control-error.js';
import { atLeast, type Command, type CommandContext, decimal, exactly, fail } from './command-context.js';
import { CommandFailure } from './command-errors.js';
import type { ReplicationTarget } from './target.js';

function replication(context: CommandContext): ReplicationTarget {
  try {
    return context.control.replication();
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return fail(error.code, 'Cannot execute this command without packet replication engine');
  }
}

const integer = (text: string | undefined, name: string): number =>
  decimal(text, `Bad format for ${name}, expected integer`);

function mirrorAdd(kind: 'port' | 'group'): Command {
  return (context, args) => {
    exactly(args, 2);
    const session = integer(args[0], 'mirror_id');
    const to = integer(args[1], kind === 'port' ? 'egress_port' : 'mgrp');
    context.attempt('mirroring', () =>
      context.control.setMirror(session, kind === 'port' ? { port: to } : { group: to }),
    );
  };
}

const mirrorDelete: Command = (context, args) => {
  exactly(args, 1);
  const session = integer(args[0], 'mirror_id');
  context.attempt('mirroring', () => context.control.deleteMirror(session));
};

const mirrorGet: Command = (context, args) => {
  exactly(args, 1);
  const session = integer(args[0], 'mirror_id');
  const mirror = replication(context).mirror(session);
  if (mirror === undefined) {
    throw new CommandFailure('ERR_CONTROL_BAD_SESSION', 'Invalid mirroring operation (SESSION_NOT_FOUND)');
  }
  const { port = 'None', group = 'None' } = mirror;
  context.print(`MirroringSessionConfig(port=${port}, mgid=${group})`);
};

const groupId = (text: string | undefined): number => decimal(text, 'Bad format for multicast group id');
const nodeHandle = (text: string | undefined): number => decimal(text, 'Bad format for node handle');

function check(succeeded: boolean, reason: string): void {
  if (!succeeded) throw new CommandFailure('ERR_CONTROL_BAD_MULTICAST', `Invalid PRE operation (${reason})`);
}

/** The reason why a node could not be associated or dissociated. */
function associationFault(target: ReplicationTarget, group: number, handle: number): string {
  if (target.hasNode?.(handle) === false) return 'INVALID_L1_HANDLE';
  return target.hasGroup?.(group) === false ? 'INVALID_MGRP_HANDLE' : 'ERROR';
}

const groupCreate: Command = (context, args) => {
  exactly(args, 1);
  const group = groupId(args[0]);
  context.print(`Creating multicast group ${group}`);
  check(replication(context).createGroup(group), 'ERROR');
};

const groupDestroy: Command = (context, args) => {
  exactly(args, 1);
  const group = groupId(args[0]);
  context.print(`Destroying multicast group ${group}`);
  // A group that does not exist is no error.
  replication(context).destroyGroup(group);
};

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

const nodeCreate: Command = (context, args) => {
  atLeast(args, 1);
  const id = decimal(args[0], 'Bad format for rid');
  const { ports, lags } = portsAndLags(args);
  context.print(`Creating node with rid ${id} , port map ${mapText(ports)} and lag map ${mapText(lags)}`);
  const handle = context.attempt('PRE', () => replication(context).createNode(id, ports, lags));
  context.print(`node was created with handle ${handle}`);
  context.outcome = { handle };
};

const nodeUpdate: Command = (context, args) => {
  atLeast(args, 2);
  const handle = nodeHandle(args[0]);
  const { ports, lags } = portsAndLags(args);
  context.print(`Updating node ${handle} with port map ${mapText(ports)} and lag map ${mapText(lags)}`);
  const isThere = context.attempt('PRE', () => replication(context).updateNode(handle, ports, lags));
  check(isThere, 'INVALID_L1_HANDLE');
};

const nodeDestroy: Command = (context, args) => {
  exactly(args, 1);
  const handle = nodeHandle(args[0]);
  context.print(`Destroying node ${handle}`);
  check(replication(context).destroyNode(handle), 'INVALID_L1_HANDLE');
};

const nodeAssociate: Command = (context, args) => {
  exactly(args, 2);
  const group = groupId(args[0]);
  const handle = nodeHandle(args[1]);
  context.print(`Associating node ${handle} to multicast group ${group}`);
  const target = replication(context);
  check(target.associateNode(group, handle), associationFault(target, group, handle));
};

const nodeDissociate: Command = (context, args) => {
  exactly(args, 2);
  const group = groupId(args[0]);
  const handle = nodeHandle(args[1]);
  context.print(`Dissociating node ${handle} from multicast group ${group}`);
  const target = replication(context);
  check(target.dissociateNode(group, handle), associationFault(target, group, handle));
};

const setLagMembership: Command = (context, args) => {
  atLeast(args, 2);
  const lag = decimal(args[0], 'Bad format for lag index');
  const ports = portsOf(args.slice(1), 'lag');
  context.print(`Setting lag membership: ${lag} <- ${mapText(ports)}`);
  const target = replication(context);
  if (target.setLagMembership === undefined)
    fail('ERR_CONTROL_NO_TARGET', 'Cannot execute this command with this type of PRE');
  target.setLagMembership(lag, ports);
};

const dump: Command = (context, args) => {
  exactly(args, 0);
  context.print('==========', 'MC ENTRIES');
  for (const { group, nodes } of replication(context).multicastGroups?.() ?? []) {
    context.print('**********', `mgrp(${group})`);
    for (const { handle, replicationId, ports, lags } of nodes) {
      const to = `(ports=[${ports.join(', ')}], lags=[${lags.join(', ')}])`;
      context.print(`  -> (L1h=${handle}, rid=${replicationId}) -> ${to}`);
    }
  }
  context.print('==========', 'LAGS', '==========');
};

function setQueue(kind: 'depth' | 'rate'): Command {
  return (context, args) => {
    atLeast(args, 1);
    const value = integer(args[0], kind === 'depth' ? 'nb_pkts' : 'rate_pps');
    const port = args.length > 1 ? integer(args[1], 'egress_port') : undefined;
    const priority = args.length > 2 ? integer(args[2], 'priority') : undefined;
    const target = replication(context);
    if (kind === 'depth') target.setQueueDepth(value, port, priority);
    else target.setQueueRate(value, port, priority);
  };
}

export const REPLICATION_COMMANDS: ReadonlyMap<string, Command> = /* @__PURE__ */ new Map([
  ['mirroring_add', mirrorAdd('port')],
  ['mirroring_add_mc', mirrorAdd('group')],
  ['mirroring_delete', mirrorDelete],
  ['mirroring_get', mirrorGet],
  ['mc_mgrp_create', groupCreate],
  ['mc_mgrp_destroy', groupDestroy],
  ['mc_node_create', nodeCreate],
  ['mc_node_update', nodeUpdate],
  ['mc_node_destroy', nodeDestroy],
  ['mc_node_associate', nodeAssociate],
  ['mc_node_dissociate', nodeDissociate],
  ['mc_set_lag_membership', setLagMembership],
  ['mc_dump', dump],
  ['set_queue_depth', setQueue('depth')],
  ['set_queue_rate', setQueue('rate')],
]);
