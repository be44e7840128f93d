/** Names beside ids in JSON. */
import type { Topology } from './topology.js';

/** Members that hold the id of a switch, and the member for its name. */
const SWITCHES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['nodeId', 'nodeName'],
  ['switchId', 'nodeName'],
  ['reportNodeId', 'reportNodeName'],
  ['seenBy', 'seenByName'],
]);
/** Members that hold the number of a port of `nodeId`. */
const PORTS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['l1IngressInterface', 'l1IngressName'],
  ['l1EgressInterface', 'l1EgressName'],
]);
/** Members that hold a list of switches; a `null` in it stands for a hop that did not tell. */
const PATHS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['path', 'pathNames'],
  ['previous', 'previousNames'],
  ['link', 'linkNames'],
]);

function nameOf(
  key: string,
  value: unknown,
  nodeId: number | null,
  topology: Topology,
): readonly [string, unknown] | null {
  if (typeof value === 'number') {
    const ofSwitch = SWITCHES.get(key);
    if (ofSwitch !== undefined) {
      const name = topology.switchName(value);
      return name === null ? null : [ofSwitch, name];
    }
    const ofPort = PORTS.get(key);
    const name = ofPort === undefined || nodeId === null ? null : topology.portName(nodeId, value);
    return name === null ? null : [ofPort!, name];
  }
  const ofPath = Array.isArray(value) ? PATHS.get(key) : undefined;
  if (ofPath === undefined) return null;
  const path = value as readonly unknown[];
  if (!path.some((id) => typeof id === 'number' && topology.switchName(id) !== null)) return null;
  return [ofPath, path.map((id) => (typeof id === 'number' ? (topology.switchName(id) ?? id) : id))];
}

function named(value: unknown, topology: Topology, around: number | null): unknown {
  if (Array.isArray(value)) return value.map((each) => named(each, topology, around));
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Readonly<Record<string, unknown>>;
  // A report's own values stand in an object below the one that has its id.
  const nodeId = typeof object.nodeId === 'number' ? object.nodeId : around;
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(object)) {
    result[key] = named(member, topology, key === 'metadata' ? nodeId : null);
    const name = nameOf(key, member, nodeId, topology);
    if (name !== null) result[name[0]] = name[1];
  }
  return result;
}

/**
 * Adds names beside the ids of a JSON value: `nodeName` beside `nodeId`, `l1IngressName` and `l1EgressName` beside the
 * interfaces of a hop, `pathNames` beside `path`. An id without a name has none beside it. Without a topology the value is
 * returned as it is.
 */
export function withNames<T>(value: T, topology: Topology): T {
  return topology.switches.size === 0 ? value : (named(value, topology, null) as T);
}
